// SPDX-License-Identifier: Apache-2.0
//
// ConnectToOffer: whom a token lets in, which address is tried, and giving up.

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "transport/rdma/rdma_transport.h"
#include "transport/rdma/rdma_transport_testing.h"
#include "transport/rdma/testing/stepped_clock.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

TEST_F(RdmaTransportTest, WhoShowsTheTokenIsLetIn) {
  Start();
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok());
  ASSERT_TRUE(ConnectToOffer(OnlyB(*offer), Pass(1)).ok());
  Echo();
  const ConnectionInfo info = client_->info();
  EXPECT_EQ(info.transport, TransportKind::kRdma);
  EXPECT_EQ(info.why_not_rdma, WhyNotRdma::kInUse);
  EXPECT_EQ(info.device, "fakeA");
  EXPECT_EQ(server_->info().device, "fakeB");
}

TEST_F(RdmaTransportTest, NobodyElseIsLetIn) {
  Start();
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok());
  for (const UpgradePass& pass : {Pass(2), Pass(0)}) {
    const absl::Status status = ConnectToOffer(OnlyB(*offer), pass);
    EXPECT_EQ(ReasonOf(status), WhyNotRdma::kRejected) << status;
  }
  EXPECT_EQ(server_, nullptr);
  EXPECT_TRUE(ConnectToOffer(OnlyB(*offer), Pass(1)).ok());
}

TEST_F(RdmaTransportTest, ATokenLetsInOnce) {
  Start();
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(ConnectToOffer(OnlyB(*offer), Pass(1)).ok());
  Echo();
  const absl::Status again = ConnectToOffer(OnlyB(*offer), Pass(1));
  EXPECT_EQ(ReasonOf(again), WhyNotRdma::kRejected);
  EXPECT_TRUE(absl::StrContains(again.message(), "or it was shown before")) << again;
  Echo();
}

// On the fabric anybody may have read it.
TEST_F(RdmaTransportTest, ATokenIsVoidOnceItWasShownWhateverCameOfIt) {
  Start();
  const Offer offer = Await(Pass(1));
  EXPECT_EQ(ReasonOf(ConnectToOffer(OnlyB(*offer), Pass(1, 2))), WhyNotRdma::kRejected);
  EXPECT_EQ(ReasonOf(ConnectToOffer(OnlyB(*offer), Pass(1))), WhyNotRdma::kRejected);

  const Offer second = Await(Pass(2));
  fabric().faults().FailCall("rdma_accept", 1, ENOMEM);
  EXPECT_FALSE(ConnectToOffer(OnlyB(*second), Pass(2)).ok());
  const absl::Status again = ConnectToOffer(OnlyB(*second), Pass(2));
  EXPECT_TRUE(absl::StrContains(again.message(), "or it was shown before")) << again;
  EXPECT_EQ(server_, nullptr);
}

// The first place of the device in an offer.
UpgradeAddress PlaceOf(const std::vector<UpgradeAddress>& offer, absl::string_view device) {
  const auto found = std::find_if(offer.begin(), offer.end(),
                                  [&](const auto& place) { return place.device == device; });
  return found == offer.end() ? UpgradeAddress() : *found;
}

TEST_F(RdmaTransportTest, ATokenLetsInWhereItWasOffered) {
  Start();
  const Offer all = Await(Pass(9));
  ASSERT_TRUE(all.ok()) << all.status();
  fabric().faults().SetPort("fakeA", false);
  ASSERT_TRUE(harness_->Until([&] {
    const std::vector<std::string> log = harness_->rig().log();
    return !log.empty() && absl::StrContains(log.back(), "not used: fakeA (no_active_port)");
  }));
  const Offer without = Await(Pass(1));
  ASSERT_TRUE(without.ok()) << without.status();
  EXPECT_EQ(PlaceOf(*without, "fakeA").device, "");
  fabric().faults().SetPort("fakeA", true);
  harness_->Settle();
  const absl::Status elsewhere = ConnectToOffer({PlaceOf(*all, "fakeA")}, Pass(1));
  EXPECT_TRUE(absl::StrContains(elsewhere.message(), "of another address")) << elsewhere;
}

UpgradePass WithAnswer(UpgradePass pass, uint8_t answer) {
  pass.answer.fill(answer);
  return pass;
}

// Who has only read the token does not know it.
TEST_F(RdmaTransportTest, TheServerShowsThatTheTokenIsItsOwn) {
  Start();
  const Offer offer = Await(WithAnswer(Pass(1), 5));
  const absl::Status good = ConnectToOffer(OnlyB(*offer), WithAnswer(Pass(1), 5));
  EXPECT_TRUE(good.ok()) << good;
  Echo();
  client_.reset();
  server_.reset();
  for (const uint8_t answer : {0, 6}) {
    const auto token = static_cast<uint8_t>(2 + answer);
    const Offer another = Await(WithAnswer(Pass(token), answer));
    const absl::Status bad = ConnectToOffer(OnlyB(*another), WithAnswer(Pass(token), 5));
    EXPECT_EQ(ReasonOf(bad), WhyNotRdma::kRejected) << bad;
    EXPECT_TRUE(absl::StrContains(bad.message(), "is not who has handed out the token")) << bad;
  }
}

TEST_F(RdmaTransportTest, AnOlderClientDoesNotAskForIt) {
  Start();
  const Offer offer = Await(WithAnswer(Pass(1), 5));
  EXPECT_TRUE(ConnectToOffer(OnlyB(*offer), Pass(1)).ok());
  Echo();
}

// That the token is void at its other addresses says less.
TEST_F(RdmaTransportTest, TheFirstRejectionIsTheOneThatIsTold) {
  Start();
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok()) << offer.status();
  fabric().faults().FailCall("rdma_accept", 1, ENOMEM);
  const absl::Status status =
      ConnectToOffer({PlaceOf(*offer, "fakeA"), PlaceOf(*offer, "fakeB")}, Pass(1));
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(absl::StrContains(status.message(), "shown before")) << status;
}

TEST_F(RdmaTransportTest, AWithdrawnTokenLetsNobodyIn) {
  Start();
  const Offer offer = Await(Pass(1));
  harness_->Run(loop(), [&] { tickets_.clear(); });
  harness_->Settle();
  EXPECT_EQ(ReasonOf(ConnectToOffer(OnlyB(*offer), Pass(1))), WhyNotRdma::kRejected);
}

TEST_F(RdmaTransportTest, TheNextAddressIsTried) {
  Start();
  const Offer offer = Await(Pass(1));
  std::vector<UpgradeAddress> addresses = OnlyB(*offer);
  // An address that no host has, without a listener, and without an answer.
  for (const char* const other : {"10.9.0.77:5", "10.9.0.2:1", "10.9.0.3:7"}) {
    addresses.insert(addresses.begin(), {*Address::Parse(other), "", LinkLayer::kUnknown});
  }
  const absl::Status status = ConnectToOffer(addresses, Pass(1));
  ASSERT_TRUE(status.ok()) << status;
  Echo();
}

TEST_F(RdmaTransportTest, AnErrorNamesTheLastAddress) {
  Start();
  const absl::Status status =
      ConnectToOffer({{*Address::Parse("10.9.0.77:5"), "", LinkLayer::kUnknown}}, Pass(1));
  EXPECT_EQ(ReasonOf(status), WhyNotRdma::kUnreachable) << status;
  EXPECT_TRUE(absl::StartsWith(DetailOf(status), "10.9.0.77:5: ")) << status;
  EXPECT_TRUE(absl::StartsWith(status.message(), "cannot connect to 10.9.0.77:5 over RDMA: "));
}

TEST_F(RdmaTransportTest, GivingUpAnAttemptAtAnyStepLeavesNothing) {
  for (int steps = 0; steps < 60; ++steps) {
    Start();
    const Offer offer = Await(Pass(1));
    std::optional<absl::Status> result;
    auto ticket = BeginConnect(OnlyB(*offer), Pass(1), result);
    for (int i = 0; i < steps; ++i) {
      harness_->rig().Step();
      fabric().Step();
    }
    bool had_result = false;
    harness_->Run(harness_->loops().at(1), [&] {
      had_result = result.has_value();
      ticket.reset();
    });
    harness_->Settle();
    EXPECT_EQ(result.has_value(), had_result);
    client_.reset();
    server_.reset();
    for (auto& awaited : tickets_) harness_->Run(loop(), [&] { awaited.reset(); });
    tickets_.clear();
    harness_->End();
    EXPECT_EQ(harness_->pool().stats().used_bytes, 0u) << steps;
    harness_.reset();
  }
}

// In time that stands still.
class RdmaLineTest : public RdmaTransportTest {
 protected:
  RdmaLineTest() {
    Start([this](FakeFabricOptions&, RdmaRigOptions& rig) { rig.clock = &clock_; });
  }
  ~RdmaLineTest() override {
    clock_.SetRunning(true);
    Finish();
  }
  SteppedClock clock_;
};

// Where many attempt at once, so many go ahead of the others, who are not refused by anybody else.
TEST_F(RdmaLineTest, AttemptsBeyondALimitWaitForHalfOfTheirTime) {
  constexpr size_t kAttempts = 100;
  constexpr size_t kAtOnce = 64;
  ASSERT_TRUE(Probe().ok());
  std::vector<std::optional<absl::Status>> result(kAttempts);
  std::vector<std::unique_ptr<UpgradeTicket>> attempts;
  for (auto& one : result) {
    // No host answers there.
    attempts.push_back(
        BeginConnect({{*Address::Parse("10.9.0.3:5"), "", LinkLayer::kUnknown}}, Pass(1), one));
  }
  const auto refused = [&] {
    return static_cast<size_t>(std::count_if(result.begin(), result.end(), [](const auto& one) {
      return one.has_value() && ReasonOf(*one) == WhyNotRdma::kCapacity;
    }));
  };
  // The fabric stands still too, which else would give up those ahead.
  const auto turn_loops = [this] {
    for (int i = 0; i < 200; ++i) harness_->rig().Step();
  };
  turn_loops();
  const TimePoint half = clock_.Now() + timeout_ / 2;
  clock_.AdvanceTo(half - std::chrono::milliseconds(1));
  turn_loops();
  EXPECT_EQ(refused(), 0u);
  clock_.AdvanceTo(half);
  turn_loops();
  ASSERT_EQ(refused(), kAttempts - kAtOnce);
  EXPECT_TRUE(absl::StrContains(result.back()->message(), "too many other connections"));
  EXPECT_FALSE(result.front().has_value());
  for (auto& attempt : attempts) harness_->Run(harness_->loops().at(1), [&] { attempt.reset(); });
}

TEST_F(RdmaTransportTest, WhoWaitsInLineHasItsTurnWhenOthersAreDone) {
  Start();
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok());
  constexpr size_t kAhead = 64;
  std::vector<std::optional<absl::Status>> result(kAhead);
  std::vector<std::unique_ptr<UpgradeTicket>> ahead;
  for (auto& one : result) {
    ahead.push_back(
        BeginConnect({{*Address::Parse("10.9.0.3:5"), "", LinkLayer::kUnknown}}, Pass(7), one));
  }
  std::optional<absl::Status> mine;
  auto ticket = BeginConnect(OnlyB(*offer), Pass(1), mine);
  // Given up, whether before or behind in the line.
  std::optional<absl::Status> behind;
  auto last = BeginConnect(OnlyB(*offer), Pass(2), behind);
  harness_->Run(harness_->loops().at(1), [&] { last.reset(); });
  EXPECT_FALSE(mine.has_value());
  harness_->Run(harness_->loops().at(1), [&] { ahead.front().reset(); });
  ASSERT_TRUE(harness_->Until([&] { return mine.has_value(); }));
  EXPECT_TRUE(mine->ok()) << *mine;
  Echo();
  EXPECT_FALSE(behind.has_value());
  harness_->Run(harness_->loops().at(1), [&] {
    ticket.reset();
    ahead.clear();
  });
}

}  // namespace
}  // namespace farcall
