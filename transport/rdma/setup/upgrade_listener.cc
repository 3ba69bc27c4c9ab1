// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/setup/upgrade_listener.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/rdma/cm/port_endpoint.h"
#include "transport/rdma/cm/port_set_up.h"
#include "transport/rdma/setup/accept_attempt.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

Address WithPort(const Address& address, uint16_t port) {
  if (address.family() == AddressFamily::kIpv6) {
    return Address::Ipv6(address.ip(), port, address.scope_id());
  }
  return Address::Ipv4({address.ip()[0], address.ip()[1], address.ip()[2], address.ip()[3]}, port);
}

// Whether `text`, an IP address without port, is this one.
bool Names(const std::string& text, const Address& address) {
  const auto named = Address::ParseIp(text);
  return named.ok() && *named == WithPort(address, 0);
}

// Whether the options say `only` at some addresses, and not at this one.
bool Allowed(const std::vector<std::string>& only, const Address& address) {
  return only.empty() || std::any_of(only.begin(), only.end(),
                                     [&](const std::string& name) { return Names(name, address); });
}

}  // namespace

absl::StatusOr<std::vector<UpgradeAddress>> UpgradeListener::Await(
    const std::shared_ptr<Awaited>& awaited) {
  if (awaited->pass.token == UpgradeToken{} || awaited_.contains(awaited->pass.token)) {
    return absl::InvalidArgumentError("a token is random, and used once");
  }
  const absl::Status ready = host_.Ready();
  if (!ready.ok()) return ready;
  absl::Status why_not = Listen();
  if (!why_not.ok()) return why_not;
  std::vector<OfferedPlace> offer;
  std::vector<OfferedPlace> preferred;
  why_not = why_not_;
  for (const auto& [name, port] : ports_) {
    const auto device = DeviceOf(port->device());
    if (!device.ok()) {
      why_not.Update(device.status());
      continue;
    }
    auto place = Describe(host_, awaited->loop,
                          {port->address(), (*device)->name(), (*device)->link_layer()},
                          {port->device(), port->port()});
    if (!place) continue;
    (preferred_.contains(name) ? preferred : offer).push_back(*std::move(place));
  }
  if (preferred.empty()) {
    why_not.Update(OfferPorts(awaited->loop, offer));
  } else {
    offer = std::move(preferred);
  }
  if (offer.empty()) {
    if (!why_not.ok()) return why_not;
    return NotRdma(WhyNotRdma::kNoAddress, "");
  }
  PutInOrder(offer);
  for (OfferedPlace& one : offer) awaited->places.push_back(std::move(one.place));
  awaited_[awaited->pass.token] = {awaited, PortHold(host_.port_counts(), offer.front().port)};
  return awaited->places;
}

// At the addresses that there are now.
absl::Status UpgradeListener::Listen() {
  if (host_.parts().options.set_up == RdmaSetUp::kOverTcp) return absl::OkStatus();
  const TimePoint now = host_.parts().control.now();
  // Where addresses cannot be read now, those that there were stand.
  const auto addresses = host_.view().addresses();
  if (!addresses.ok() && ports_.empty() && host_.Ports().empty()) {
    return NotRdma(WhyNotRdma::kDeviceRefused, addresses.status().message());
  }
  if (addresses.ok()) {
    std::vector<Address> wanted = Wanted(*addresses);
    const uint64_t arrivals = host_.arrivals().count();
    if (wanted != wanted_ || arrivals != arrivals_ || !refreshed_ ||
        now - *refreshed_ >= kRefreshEvery) {
      refreshed_ = now;
      arrivals_ = arrivals;
      wanted_ = std::move(wanted);
      Refresh(*addresses);
    }
  }
  return absl::OkStatus();
}

// Behind the addresses: each port with its best GID. An error: why one of them is not offered.
absl::Status UpgradeListener::OfferPorts(const EventLoop& loop, std::vector<OfferedPlace>& offer) {
  const std::vector<std::string>& only = host_.parts().options.addresses;
  std::set<std::pair<ibv_context*, uint8_t>> offered;
  absl::Status why_not;
  for (const LocalPort& port : host_.Ports()) {
    if (offered.contains({port.context, port.number}) || !Allowed(only, port.address)) continue;
    offered.insert({port.context, port.number});
    const auto device = DeviceOf(port.context);
    if (device.ok()) {
      auto place =
          Describe(host_, loop,
                   {Address::Ipv6(port.port.gid, 0), (*device)->name(), port.link_layer, port.port},
                   {port.context, port.number});
      if (place) offer.push_back(*std::move(place));
    }
    why_not.Update(device.status());
  }
  return why_not;
}

void UpgradeListener::OnSetUp(const Awaited& awaited, const std::string& message) {
  if (awaited.line->end() != nullptr) return awaited.line->end()->OnMessage(message);
  const auto connect = ParsePortSetUp(message);
  // What is left of an attempt that has ended.
  if (connect.ok() && connect->kind != PortSetUp::Kind::kConnect) return;
  const absl::Status why_not = connect.ok()
                                   ? Connect(awaited, *connect)
                                   : NotRdma(WhyNotRdma::kRejected, connect.status().message());
  if (why_not.ok()) return;
  awaited.line->Send(EncodePortSetUp(
      {.kind = PortSetUp::Kind::kReject,
       .data = EncodeRejectData({.why = ReasonOf(why_not), .text = DetailOf(why_not)})}));
}

// The token of another connection lets no client in here, even if it has read it.
absl::Status UpgradeListener::Connect(const Awaited& awaited, const PortSetUp& connect) {
  const auto data = DecodeConnectData(connect.data);
  if (!data.ok()) return NotRdma(WhyNotRdma::kRejected, data.status().message());
  if (data->token != awaited.pass.token) {
    return NotRdma(WhyNotRdma::kRejected, "the token is of another connection");
  }
  if (absl::Status may = host_.MayAccept(); !may.ok()) return may;
  const auto place = std::find_if(awaited.places.begin(), awaited.places.end(),
                                  [&](const UpgradeAddress& offered) {
                                    return offered.port && offered.port->gid == connect.to;
                                  });
  if (place == awaited.places.end()) {
    return NotRdma(WhyNotRdma::kRejected, "no port was offered with this GID");
  }
  for (const LocalPort& port : host_.Ports()) {
    if (port.port != *place->port) continue;
    AcceptAttempt::Accept(
        host_, *this, std::make_unique<PortEndpoint>(host_.parts(), port, connect, awaited.line),
        connect.data);
    return absl::OkStatus();
  }
  return NotRdma(WhyNotRdma::kBroken, "the port that was offered has gone");
}

// Or why new connections may not use it.
absl::StatusOr<const RdmaDevice*> UpgradeListener::DeviceOf(ibv_context* context) {
  if (absl::Status why_not = host_.WhyNot(context); !why_not.ok()) return why_not;
  const auto use = host_.UseOf(context);
  if (!use.ok()) return use.status();
  return &(*use)->device();
}

void UpgradeListener::Withdraw(const Awaited& awaited) {
  const auto found = awaited_.find(awaited.pass.token);
  if (found != awaited_.end() && found->second.awaited.get() == &awaited) awaited_.erase(found);
}

void UpgradeListener::Close() {
  awaited_.clear();
  ports_.clear();
}

// Addresses come and go with devices and interfaces. A look at the devices that failed in part, for
// want of descriptors, leaves a device with another context: nothing new is made with the one that
// a listener has from before.
void UpgradeListener::Refresh(const std::vector<LocalIp>& addresses) {
  why_not_ = absl::OkStatus();
  std::erase_if(ports_, [&](const auto& entry) {
    return !host_.Sees(entry.second->device()) ||
           std::none_of(wanted_.begin(), wanted_.end(),
                        [&](const Address& address) { return address.ToString() == entry.first; });
  });
  for (const Address& address : wanted_) {
    if (!ports_.contains(address.ToString())) ListenOn(address);
  }
  ReadNetworkStatus(addresses);
}

// Which addresses lead to Services is known to whoever attached the pod to its networks, and
// RDMA between those need not reach, or is not meant to be used.
void UpgradeListener::ReadNetworkStatus(const std::vector<LocalIp>& addresses) {
  const RdmaParts& parts = host_.parts();
  if (!network_status_) network_status_.emplace(parts.options.network_status, parts.log);
  network_status_->Read();
  preferred_.clear();
  for (const LocalIp& local : addresses) {
    if (!network_status_->IsOfSecondNetwork(local)) continue;
    preferred_.insert(WithPort(local.address, 0).ToString());
  }
}

std::vector<Address> UpgradeListener::Wanted(const std::vector<LocalIp>& addresses) const {
  std::vector<Address> wanted;
  const std::vector<std::string>& only = host_.parts().options.addresses;
  for (const LocalIp& local : addresses) {
    if (Allowed(only, local.address)) wanted.push_back(WithPort(local.address, 0));
  }
  return wanted;
}

void UpgradeListener::ListenOn(const Address& address) {
  const std::string name = address.ToString();
  PortListener::Where where;
  where.address = WithPort(address, host_.parts().options.listen_port);
  auto port = PortListener::Open(host_, where, *this, [this, name] {
    const auto found = ports_.find(name);
    if (found != ports_.end() && found->second->device() == nullptr) ports_.erase(found);
    refreshed_.reset();
  });
  // Most addresses are of interfaces without RDMA, which rdma_bind_addr(3) says by ENODEV.
  if (!port.ok()) {
    if (!absl::IsNotFound(port.status())) {
      why_not_ = NotRdma(WhyNotRdma::kDeviceRefused,
                         absl::StrCat(where.address.ToString(), ": ", port.status().message()));
    }
    return;
  }
  if ((*port)->device() == nullptr) return;
  const auto use = host_.UseOf((*port)->device());
  if (!use.ok()) {
    why_not_ = use.status();
    return;
  }
  ports_[name] = *std::move(port);
}

// Seen once, a token is void: on the fabric anybody may have read it.
absl::StatusOr<Admitted> UpgradeListener::Admit(const ConnectData& data, const Address& here) {
  auto found = awaited_.extract(data.token);
  if (found.empty()) {
    return NotRdma(WhyNotRdma::kRejected,
                   "no connection awaits this token here, or it was shown before");
  }
  const std::shared_ptr<Awaited> awaited = std::move(found.mapped().awaited);
  if (awaited->pass.generation != data.generation) {
    return NotRdma(WhyNotRdma::kRejected, "this token is of another generation");
  }
  const auto is_here = [&](const UpgradeAddress& place) {
    return WithPort(place.address, 0) == WithPort(here, 0);
  };
  if (std::none_of(awaited->places.begin(), awaited->places.end(), is_here)) {
    return NotRdma(WhyNotRdma::kRejected, "this token is of another address");
  }
  Admitted admitted;
  admitted.loop = &awaited->loop;
  admitted.options = awaited->options;
  admitted.trust = awaited->trust;
  admitted.answer = awaited->pass.answer;
  admitted.deliver = [awaited](std::unique_ptr<Connection> connection) {
    if (awaited->admitted) std::exchange(awaited->admitted, nullptr)(std::move(connection));
  };
  return admitted;
}

}  // namespace farcall
