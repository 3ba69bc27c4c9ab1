// SPDX-License-Identifier: Apache-2.0

#include "transport/link/upgrade/upgrade_messages.h"

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "transport/link/hello/link.pb.h"
#include "transport/link/stream/frames/frame.h"
#include "transport/link/upgrade/reason.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

constexpr UpgradePass kPass{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, 7};

UpgradeAddress At(const char* address) {
  return {*Address::Parse(address), "mlx5_0", LinkLayer::kRoce};
}

TEST(UpgradeMessagesTest, ADeclineMayBeToldAgain) {
  const auto again = ParseDecline(EncodeAgain(7));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->generation, 7u);
  EXPECT_TRUE(again->again);
  EXPECT_FALSE(ParseDecline(EncodeDecline(7, NotRdma(WhyNotRdma::kCapacity, "")))->again);
}

TEST(UpgradeMessagesTest, AnAnswerHasTheSizeOfATokenOrIsNotThere) {
  UpgradePass pass = kPass;
  EXPECT_EQ(ParseOffer(EncodeOffer(pass, {})).value().pass.answer, UpgradeToken());
  pass.answer.fill(9);
  EXPECT_EQ(ParseOffer(EncodeOffer(pass, {})).value().pass.answer, pass.answer);
  link::UpgradeOffer offer;
  ASSERT_TRUE(offer.ParseFromString(EncodeOffer(pass, {})));
  offer.set_answer("short");
  EXPECT_TRUE(absl::IsInvalidArgument(ParseOffer(offer.SerializeAsString()).status()));
}

TEST(UpgradeMessagesTest, OfferComesBack) {
  const auto offer = ParseOffer(EncodeOffer(kPass, {At("10.0.0.1:99"), At("[2001:db8::1]:98")}));
  ASSERT_TRUE(offer.ok()) << offer.status();
  EXPECT_EQ(offer->pass.token, kPass.token);
  EXPECT_EQ(offer->pass.generation, 7u);
  ASSERT_EQ(offer->addresses.size(), 2u);
  EXPECT_EQ(offer->addresses[0].address.ToString(), "10.0.0.1:99");
  EXPECT_EQ(offer->addresses[1].address.ToString(), "[2001:db8::1]:98");
  EXPECT_EQ(offer->addresses[0].device, "mlx5_0");
  EXPECT_EQ(offer->addresses[0].link_layer, LinkLayer::kRoce);
}

TEST(UpgradeMessagesTest, WhatPortsAreLikeComesBack) {
  UpgradeAddress place = At("10.0.0.1:99");
  place.rate = 400'000;
  place.connections = 0;
  place.partition = 0x8001;
  const auto offer = ParseOffer(EncodeOffer(kPass, {place, At("10.0.0.2:99")}));
  ASSERT_TRUE(offer.ok()) << offer.status();
  EXPECT_EQ(offer->addresses[0].rate, 400'000u);
  EXPECT_EQ(offer->addresses[0].connections, 0u);
  EXPECT_EQ(offer->addresses[0].partition, 0x8001);
  EXPECT_EQ(offer->addresses[1].rate, 0u) << "as of the first release";
  EXPECT_EQ(offer->addresses[1].connections, std::nullopt);
}

TEST(UpgradeMessagesTest, AskAndDeclineComeBack) {
  const auto ask = ParseAsk(EncodeAsk(3, NotRdma(WhyNotRdma::kTimedOut, "10.0.0.1")));
  ASSERT_TRUE(ask.ok());
  EXPECT_EQ(ask->generation, 3u);
  EXPECT_EQ(ask->why, NotRdma(WhyNotRdma::kTimedOut, "10.0.0.1"));
  const auto decline = ParseDecline(EncodeDecline(4, NotRdma(WhyNotRdma::kCapacity, "1 of 1")));
  ASSERT_TRUE(decline.ok());
  EXPECT_EQ(decline->generation, 4u);
  EXPECT_EQ(decline->why, NotRdma(WhyNotRdma::kCapacity, "1 of 1"));
}

// Families and link layers of later versions, and what makes no sense.
TEST(UpgradeMessagesTest, UnknownAddressesAreLeftOut) {
  link::UpgradeOffer offer;
  offer.set_generation(1);
  offer.set_token(std::string(16, 'x'));
  const auto add = [&](uint32_t family, const std::string& ip, uint32_t port) {
    link::OfferedAddress& address = *offer.add_addresses();
    address.set_family(family);
    address.set_ip(ip);
    address.set_port(port);
    address.set_link_layer(99);
    address.set_device(std::string(1000, 'd'));
  };
  add(3, "12345678901234567890", 1);
  add(1, "12345", 1);
  add(1, "1234", 0);
  add(2, "1234", 1);
  add(1, "1234", 70000);
  add(1, "1234", 65535);
  const auto parsed = ParseOffer(offer.SerializeAsString());
  ASSERT_TRUE(parsed.ok());
  ASSERT_EQ(parsed->addresses.size(), 1u);
  EXPECT_EQ(parsed->addresses[0].address.port(), 65535);
  EXPECT_EQ(parsed->addresses[0].link_layer, LinkLayer::kUnknown);
  EXPECT_EQ(parsed->addresses[0].device.size(), 64u);
}

TEST(UpgradeMessagesTest, SixteenAddressesCount) {
  const std::vector<UpgradeAddress> many(40, At("10.0.0.1:99"));
  link::UpgradeOffer made;
  ASSERT_TRUE(made.ParseFromString(EncodeOffer(kPass, many)));
  EXPECT_EQ(made.addresses_size(), 16);
  for (int i = 0; i < 40; ++i) *made.add_addresses() = made.addresses(0);
  const auto parsed = ParseOffer(made.SerializeAsString());
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->addresses.size(), 16u);
}

TEST(UpgradeMessagesTest, TheLargestFitIntoAFrame) {
  std::vector<UpgradeAddress> many(16, At("[2001:db8::1]:65535"));
  for (UpgradeAddress& address : many) {
    address.device = std::string(1000, 'd');
    address.port.emplace();
    address.port->mtu = 4096;
    address.port->lid = UINT16_MAX;
    address.rate = UINT32_MAX;
    address.connections = UINT32_MAX;
    address.partition = UINT16_MAX;
  }
  EXPECT_LE(EncodeOffer(kPass, many).size(), kMaxLinkControl);
  const absl::Status why = NotRdma(WhyNotRdma::kCapacity, std::string(100000, 'x'));
  EXPECT_LE(EncodeAsk(~0u, why).size(), kMaxLinkControl);
  EXPECT_LE(EncodeDecline(~0u, why).size(), kMaxLinkControl);
}

TEST(UpgradeMessagesTest, MalformedIsAnError) {
  for (const absl::string_view bad : {absl::string_view("\x0A\x7F", 2), absl::string_view("")}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseAsk(bad).status()));
    EXPECT_TRUE(absl::IsInvalidArgument(ParseOffer(bad).status()));
    EXPECT_TRUE(absl::IsInvalidArgument(ParseDecline(bad).status()));
  }
  link::UpgradeOffer offer;
  offer.set_generation(1);
  offer.set_token("short");
  EXPECT_TRUE(absl::IsInvalidArgument(ParseOffer(offer.SerializeAsString()).status()));
}

TEST(ReasonTest, WhatThePeersHostLacksIsThePeers) {
  const absl::Status why = ReasonOfPeer(4, "looked in /sys");
  EXPECT_EQ(ReasonOf(why), WhyNotRdma::kPeerHasNone);
  EXPECT_TRUE(absl::StrContains(why.message(), Explain(WhyNotRdma::kNoDevice)));
  EXPECT_TRUE(absl::StrContains(why.message(), "looked in /sys"));
  EXPECT_EQ(ReasonOf(ReasonOfPeer(1, "")), WhyNotRdma::kPeerOff);
  EXPECT_EQ(ReasonOf(ReasonOfPeer(11, "")), WhyNotRdma::kCapacity);
}

TEST(ReasonTest, AnyNumberAndTextIsTaken) {
  for (uint32_t number = 0; number < 300; ++number) {
    const absl::Status why = ReasonOfPeer(number, std::string(1000, '\x01'));
    EXPECT_NE(ReasonOf(why), WhyNotRdma::kInUse);
    EXPECT_FALSE(absl::StrContains(why.message(), "\x01"));
    EXPECT_LT(why.message().size(), 2000u);
  }
}

}  // namespace
}  // namespace farcall
