// SPDX-License-Identifier: Apache-2.0
//
// A device, a port or an address that comes, at either end, while a client pauses between attempts.

#include <chrono>
#include <memory>
#include <string>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "transport/link/testing/link_harness.h"
#include "transport/link/testing/link_token_testing.h"
#include "transport/link/upgrade/client_upgrade_machine.h"
#include "transport/testing/conformance/conformance_run.h"
#include "transport/testing/sim/sim_harness.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

class LinkRetryTest : public testing::Test {
 protected:
  LinkRetryTest() : harness_(std::make_unique<SimHarness>(1), Variant()), run_(harness_) {
    duo_ = run_.Connect();
  }
  ~LinkRetryTest() override {
    duo_.reset();
    EXPECT_TRUE(run_.violations().empty()) << absl::StrJoin(run_.violations(), "\n");
  }
  static LinkVariant Variant() {
    LinkVariant variant = LinkVariant::Of(1);
    variant.fabric.no_capacity = 1;  // until Heal
    variant.client.upgrade.longest_pause = kLongest;
    return variant;
  }
  uint64_t refused() {
    return harness_.record().counts().fallbacks[static_cast<size_t>(WhyNotRdma::kCapacity)];
  }
  TimePoint now() { return harness_.loops().at(0).now(); }

  // The pause has become the longest one, and has just begun. All would work now.
  void PauseForLong() {
    ASSERT_NE(duo_, nullptr);
    ASSERT_TRUE(harness_.Until([&] { return refused() >= 2 * 6; })) << "both ends count";
    harness_.fabric().Heal();
  }
  Duration BackAfter() {
    const TimePoint since = now();
    EXPECT_TRUE(harness_.Until([&] { return OnRdma(duo_->client) && OnRdma(duo_->server); }));
    return now() - since;
  }

  // Reached after 1, 2, 4, 8 and 16 s.
  static constexpr Duration kLongest = std::chrono::seconds(20);
  // A pause, and what setting it up takes.
  const Duration kSoon = UpgradeTimes().first_pause + std::chrono::milliseconds(100);
  LinkHarness harness_;
  ConformanceRun run_;
  std::unique_ptr<Duo> duo_;
};

TEST_F(LinkRetryTest, WithoutAChangeThePauseIsLong) {
  PauseForLong();
  EXPECT_GE(BackAfter(), kLongest / 2 - kSoon);
}

TEST_F(LinkRetryTest, WhatComesToTheClientEndsThePause) {
  PauseForLong();
  harness_.client_rdma().Come();
  EXPECT_LE(BackAfter(), kSoon);
}

TEST_F(LinkRetryTest, WhatComesToTheServerEndsThePauseOfTheClient) {
  PauseForLong();
  harness_.server_rdma().Come();
  EXPECT_LE(BackAfter(), kSoon);
}

TEST_F(LinkRetryTest, SoDoesATrustThatComesLate) {
  PauseForLong();
  duo_->server.TrustPeer();
  EXPECT_LE(BackAfter(), kSoon);
}

// What an older client makes of it is what it makes of a decline that comes twice.
TEST_F(LinkTokenTest, ItIsToldAsADeclineOfTheLastGeneration) {
  Ask(*client_, 1);
  const OfferMessage offer = NextOffer(*client_);
  harness_.server_rdma().Come();
  harness_.Settle();
  EXPECT_EQ(client_->received, "") << "while it may still dial";
  Send(*client_, {.type = LinkFrameType::kResume, .number = 1});
  const DeclineMessage again = NextDecline(*client_);
  EXPECT_TRUE(again.again);
  EXPECT_EQ(again.generation, 1u);
  Ask(*client_, 2);
  const OfferMessage second = NextOffer(*client_);
  EXPECT_TRUE(ConnectToOffer(second.pass, second.addresses).ok());
  harness_.server_rdma().Come();
  Send(*client_, {.type = LinkFrameType::kResume, .number = 2});
  Ask(*client_, 3);
  EXPECT_EQ(NextOffer(*client_).pass.generation, 3u)
      << "what came while it was in use is no change";
}

}  // namespace
}  // namespace farcall
