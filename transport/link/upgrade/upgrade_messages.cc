// SPDX-License-Identifier: Apache-2.0

#include "transport/link/upgrade/upgrade_messages.h"

#include <algorithm>
#include <array>
#include <optional>

#include "absl/strings/str_cat.h"
#include "transport/link/hello/link.pb.h"
#include "transport/link/upgrade/reason.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

constexpr size_t kMaxDevice = 64;  // IBV_SYSFS_NAME_MAX

template <typename Message>
absl::Status Parse(absl::string_view payload, absl::string_view name, Message& message) {
  if (!message.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
    return absl::InvalidArgumentError(absl::StrCat("malformed ", name));
  }
  if (message.generation() != 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, " without a generation"));
}

void Describe(const Address& address, link::OfferedAddress& offered) {
  const bool v4 = address.family() == AddressFamily::kIpv4;
  offered.set_family(v4 ? link::OfferedAddress::IPV4 : link::OfferedAddress::IPV6);
  offered.set_ip(address.ip().data(), v4 ? 4 : 16);
  offered.set_port(address.port());
}

template <size_t kBytes>
std::array<uint8_t, kBytes> Bytes(const std::string& from) {
  std::array<uint8_t, kBytes> bytes{};
  std::copy_n(from.begin(), std::min(kBytes, from.size()), bytes.begin());
  return bytes;
}

std::optional<Address> ToAddress(const link::OfferedAddress& offered) {
  if (offered.port() == 0 || offered.port() > UINT16_MAX) return std::nullopt;
  const auto port = static_cast<uint16_t>(offered.port());
  if (offered.family() == link::OfferedAddress::IPV4 && offered.ip().size() == 4) {
    return Address::Ipv4(Bytes<4>(offered.ip()), port);
  }
  if (offered.family() == link::OfferedAddress::IPV6 && offered.ip().size() == 16) {
    return Address::Ipv6(Bytes<16>(offered.ip()), port);
  }
  return std::nullopt;
}

LinkLayer ToLinkLayer(uint32_t number) {
  return number <= static_cast<uint32_t>(LinkLayer::kIwarp) ? static_cast<LinkLayer>(number)
                                                            : LinkLayer::kUnknown;
}

void Describe(const FabricPort& port, link::OfferedAddress& offered) {
  offered.set_family(link::OfferedAddress::PORT);
  link::FabricPort& fabric = *offered.mutable_fabric();
  fabric.set_gid(port.gid.data(), port.gid.size());
  fabric.set_type(static_cast<uint32_t>(port.type));
  fabric.set_lid(port.lid);
  fabric.set_mtu(port.mtu);
}

std::optional<FabricPort> ToPort(const link::FabricPort& fabric) {
  FabricPort port;
  if (fabric.gid().size() != port.gid.size() || fabric.lid() > UINT16_MAX ||
      fabric.type() > static_cast<uint32_t>(GidType::kRoceV2) || fabric.mtu() < 256 ||
      fabric.mtu() > 4096) {
    return std::nullopt;
  }
  port.gid = Bytes<16>(fabric.gid());
  port.type = static_cast<GidType>(fabric.type());
  port.lid = static_cast<uint16_t>(fabric.lid());
  port.mtu = fabric.mtu();
  return port;
}

// Nothing: of a kind that this version does not know, or malformed.
std::optional<UpgradeAddress> ToUpgradeAddress(const link::OfferedAddress& offered) {
  UpgradeAddress result;
  result.device = offered.device().substr(0, kMaxDevice);
  result.link_layer = ToLinkLayer(offered.link_layer());
  result.rate = offered.rate();
  if (offered.has_connections()) result.connections = offered.connections();
  if (offered.partition() <= UINT16_MAX) {
    result.partition = static_cast<uint16_t>(offered.partition());
  }
  if (offered.family() == link::OfferedAddress::PORT) {
    result.port = ToPort(offered.fabric());
    if (!result.port) return std::nullopt;
    result.address = Address::Ipv6(result.port->gid, 0);
    return result;
  }
  const auto address = ToAddress(offered);
  if (!address) return std::nullopt;
  result.address = *address;
  return result;
}

}  // namespace

std::string EncodeAsk(uint32_t generation, const absl::Status& why, absl::string_view credential) {
  link::UpgradeAsk ask;
  ask.set_generation(generation);
  ask.set_why(static_cast<uint32_t>(ReasonOf(why)));
  ask.set_text(DetailOf(why).substr(0, kMaxReasonText));
  if (credential.size() <= kMaxCredential) {
    ask.set_credential(credential.data(), credential.size());
  }
  return ask.SerializeAsString();
}

std::string EncodeOffer(const UpgradePass& pass, const std::vector<UpgradeAddress>& addresses) {
  link::UpgradeOffer offer;
  offer.set_generation(pass.generation);
  offer.set_token(pass.token.data(), pass.token.size());
  if (pass.answer != UpgradeToken{}) offer.set_answer(pass.answer.data(), pass.answer.size());
  for (size_t i = 0; i < std::min(addresses.size(), kMaxOffered); ++i) {
    link::OfferedAddress& offered = *offer.add_addresses();
    if (addresses[i].port) {
      Describe(*addresses[i].port, offered);
    } else {
      Describe(addresses[i].address, offered);
    }
    offered.set_device(addresses[i].device.substr(0, kMaxDevice));
    offered.set_link_layer(static_cast<uint32_t>(addresses[i].link_layer));
    offered.set_rate(addresses[i].rate);
    if (addresses[i].connections) offered.set_connections(*addresses[i].connections);
    offered.set_partition(addresses[i].partition);
  }
  return offer.SerializeAsString();
}

std::string EncodeDecline(uint32_t generation, const absl::Status& why) {
  link::UpgradeDecline decline;
  decline.set_generation(generation);
  decline.set_why(static_cast<uint32_t>(ReasonOf(why)));
  decline.set_text(DetailOf(why).substr(0, kMaxReasonText));
  return decline.SerializeAsString();
}

std::string EncodeAgain(uint32_t generation) {
  link::UpgradeDecline decline;
  decline.set_generation(generation);
  decline.set_why(static_cast<uint32_t>(WhyNotRdma::kPending));
  decline.set_again(true);
  return decline.SerializeAsString();
}

absl::StatusOr<AskMessage> ParseAsk(absl::string_view payload) {
  link::UpgradeAsk ask;
  if (absl::Status parsed = Parse(payload, "UPGRADE_ASK", ask); !parsed.ok()) return parsed;
  return AskMessage{ask.generation(), ReasonOfPeer(ask.why(), ask.text()),
                    std::move(*ask.mutable_credential())};
}

absl::StatusOr<OfferMessage> ParseOffer(absl::string_view payload) {
  link::UpgradeOffer offer;
  if (absl::Status parsed = Parse(payload, "UPGRADE_OFFER", offer); !parsed.ok()) return parsed;
  OfferMessage message;
  if (offer.token().size() != message.pass.token.size()) {
    return absl::InvalidArgumentError("UPGRADE_OFFER without a token of 16 bytes");
  }
  message.pass.generation = offer.generation();
  message.pass.token = Bytes<16>(offer.token());
  if (!offer.answer().empty() && offer.answer().size() != message.pass.answer.size()) {
    return absl::InvalidArgumentError("UPGRADE_OFFER with an answer that has not 16 bytes");
  }
  message.pass.answer = Bytes<16>(offer.answer());
  for (const link::OfferedAddress& offered : offer.addresses()) {
    if (message.addresses.size() == kMaxOffered) break;
    auto address = ToUpgradeAddress(offered);
    if (address) message.addresses.push_back(*std::move(address));
  }
  return message;
}

absl::StatusOr<DeclineMessage> ParseDecline(absl::string_view payload) {
  link::UpgradeDecline decline;
  if (absl::Status parsed = Parse(payload, "UPGRADE_DECLINE", decline); !parsed.ok()) return parsed;
  return DeclineMessage{decline.generation(), ReasonOfPeer(decline.why(), decline.text()),
                        decline.again()};
}

std::string EncodeSetUp(const SetUpMessage& message) {
  link::UpgradeSetUp set_up;
  set_up.set_generation(message.generation);
  set_up.set_message(message.message);
  return set_up.SerializeAsString();
}

absl::StatusOr<SetUpMessage> ParseSetUp(absl::string_view payload) {
  link::UpgradeSetUp set_up;
  if (absl::Status parsed = Parse(payload, "UPGRADE_SETUP", set_up); !parsed.ok()) return parsed;
  if (set_up.message().size() > kMaxSetUpBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("UPGRADE_SETUP with a message of ", set_up.message().size(),
                     " bytes, where at most ", kMaxSetUpBytes, " are"));
  }
  return SetUpMessage{set_up.generation(), std::move(*set_up.mutable_message())};
}

}  // namespace farcall
