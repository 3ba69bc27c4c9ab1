// SPDX-License-Identifier: Apache-2.0
//
// Links over RDMA on a FakeFabric, whose handler has paused because it will know in a moment where
// bytes shall lie that can be fetched; in time that the test moves.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "transport/link/testing/link_rdma_testing.h"
#include "transport/rdma/testing/stepped_clock.h"
#include "transport/testing/conformance/conformance_run.h"

namespace farcall {
namespace {

// A handler that has paused, with a large block behind the ten bytes that it has seen.
class LinkRdmaWaitTest : public testing::Test {
 protected:
  static constexpr uint32_t kBytes = 300'000;
  static constexpr size_t kHeader = 10;

  void Start() {
    UpgradeOptions options = PatientUpgradeOptions();
    options.require_rdma = true;
    harness_ = std::make_unique<SteppedLink>(
        options, FakeMode::kStepped, [this](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
          LinkWithReferences(fabric, rig);
          rig.clock = &clock_;
        });
    run_ = std::make_unique<ConformanceRun>(*harness_);
    duo_ = run_->Connect();
    ASSERT_NE(duo_, nullptr);
    ASSERT_TRUE(harness_->Until([&] { return OnRdma(duo_->client) && OnRdma(duo_->server); }));
    place_ = LargeBuffer(*harness_, kBytes, '?');
    duo_->server.take = [this](TestPeer& peer, Buffer& input) {
      came_.Append(input.CutFront(input.size() - left_));
      if (came_.size() + left_ == kHeader) {
        peer.awaits_place = true;
        peer.Pause();
      }
      return size_t{0};
    };
    duo_->server.place_for = [this](TestPeer&, size_t ahead, size_t bytes) {
      if (came_.size() < kHeader) return Buffer();
      Buffer rest = place_.Share();
      rest.RemoveFront(came_.size() + ahead - kHeader);
      landed_ += bytes;
      return rest.CutFront(bytes);
    };
    Buffer message(absl::string_view("0123456789"));
    message.Append(LargeBuffer(*harness_, kBytes, 'b'));
    duo_->client.Write(std::move(message));
    ASSERT_TRUE(harness_->Until([&] { return came_.size() + left_ == kHeader; }));
  }
  void TearDown() override {
    came_.Clear();
    place_.Clear();
    duo_.reset();
    EXPECT_TRUE(run_->violations().empty()) << absl::StrJoin(run_->violations(), "\n");
    run_.reset();
  }
  void GoOn() {
    duo_->server.awaits_place = false;
    duo_->server.Resume();
    ASSERT_TRUE(harness_->Until([&] { return came_.size() == kHeader + kBytes; }));
  }
  // To no place, and before the time is over for which the handler is waited for.
  bool FetchesAtOnce() {
    const TimePoint last = clock_.Now() + waits_ - std::chrono::milliseconds(1);
    const auto fetched = [&] {
      clock_.AdvanceTo(std::min(clock_.Now() + std::chrono::milliseconds(1), last));
      return Fetched() > 0;
    };
    return harness_->Until(fetched) && landed_ == 0;
  }
  uint64_t Fetched() {
    return harness_->fabric().counters("fakeA").reads + harness_->fabric().counters("fakeB").reads;
  }

  // A quarter of progress_timeout.
  const Duration waits_ = PatientUpgradeOptions().stream.progress_timeout / 4;
  SteppedClock clock_;
  std::unique_ptr<SteppedLink> harness_;
  std::unique_ptr<ConformanceRun> run_;
  std::unique_ptr<Duo> duo_;
  Buffer place_;
  Buffer came_;
  size_t landed_ = 0;
  size_t left_ = 0;  // bytes that the handler leaves in the input as it pauses
};

TEST_F(LinkRdmaWaitTest, WhatCanBeFetchedWaitsForAPlaceThatIsAwaited) {
  Start();
  harness_->Settle();
  EXPECT_EQ(Fetched(), 0u);
  GoOn();
  EXPECT_EQ(landed_, kBytes);
  EXPECT_TRUE(OnRdma(duo_->server));
}

TEST_F(LinkRdmaWaitTest, ButNotForLong) {
  Start();
  clock_.AdvanceTo(clock_.Now() + waits_);
  ASSERT_TRUE(harness_->Until([&] { return Fetched() > 0; })) << "into blocks of the pool";
  GoOn();
  EXPECT_LT(landed_, kBytes);
}

// As a server whose connection has as many calls as it may have.
TEST_F(LinkRdmaWaitTest, AHandlerThatPausesForAnotherReasonIsNotWaitedFor) {
  left_ = 1;
  Start();
  duo_->server.take = [](TestPeer& peer, Buffer&) {
    peer.awaits_place = false;
    peer.Pause();
    return size_t{0};
  };
  harness_->Settle();
  duo_->server.Resume();
  EXPECT_TRUE(FetchesAtOnce()) << "into blocks of the pool";
  duo_->server.Close(absl::CancelledError("enough"), CloseMode::kAbort);
}

TEST_F(LinkRdmaWaitTest, AConnectionThatClosesWaitsForNoPlace) {
  Start();
  harness_->Settle();
  duo_->server.Close(absl::CancelledError("enough"), CloseMode::kFlush);
  EXPECT_TRUE(FetchesAtOnce()) << "what the peer sends is read until its end";
}

TEST_F(LinkRdmaWaitTest, AConnectionMayEndMeanwhile) {
  Start();
  duo_->server.Close(absl::CancelledError("enough"), CloseMode::kAbort);
  ASSERT_TRUE(harness_->Until([&] { return duo_->server.over() && duo_->client.over(); }));
  EXPECT_EQ(landed_, 0u);
}

}  // namespace
}  // namespace farcall
