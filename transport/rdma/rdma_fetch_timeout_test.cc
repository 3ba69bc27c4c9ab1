// SPDX-License-Identifier: Apache-2.0
//
// How long an RDMA READ may take before its connection is given up, in time that stands still.

#include <chrono>
#include <cstddef>
#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "transport/rdma/rdma_references_testing.h"
#include "transport/rdma/testing/stepped_clock.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

class RdmaFetchTimeoutTest : public RdmaReferencesTest {
 protected:
  void SetUp() override {
    Begin([this](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
      Change(fabric, rig);
      rig.clock = &clock_;
      // What runs each 100 ms leaves the turns between without work once the clock runs.
      rig.loops = 1;
    });
  }
  void TearDown() override {
    EndConnections();
    clock_.SetRunning(true);
    EndHarness();
  }

  // The client has referred to `data`, whose place there is; the server may not begin to read it.
  void Refer(Buffer data) {
    kept_ = Bytes(data.size());
    server_.place_for = [this](size_t, size_t) { return kept_.Share(); };
    harness_->Run(*server_.loop, [&] { server_.connection->PauseRead(); });
    Send(client_, std::move(data));
    harness_->Settle();
    ASSERT_EQ(reads("fakeB"), 0u);
  }
  // The READ is posted.
  void Resume() {
    harness_->Run(*server_.loop, [&] { server_.connection->ResumeRead(); });
    TurnLoops();
  }
  void TurnLoops() {
    for (int i = 0; i < 50; ++i) harness_->rig().Step();
  }
  void TurnFabric() {
    for (int i = 0; i < 50; ++i) harness_->fabric().Step();
  }
  void Turn() {
    for (int i = 0; i < 3; ++i) {
      TurnLoops();
      TurnFabric();
    }
  }
  void Pass(milliseconds time) { clock_.AdvanceTo(clock_.Now() + time); }

  SteppedClock clock_;
};

TEST_F(RdmaFetchTimeoutTest, AReadThatIsNotAnsweredEndsItsConnection) {
  Refer(Bytes(kLarge));
  harness_->fabric().faults().CutPath("fakeA", "fakeB", FakeFaults::Cut::kSilent);
  Resume();
  Turn();
  // A second, and the grace.
  for (const auto time : {milliseconds(999), milliseconds(1), milliseconds(99)}) {
    Pass(time);
    Turn();
    EXPECT_FALSE(server_.closed);
  }
  Pass(milliseconds(1));
  Turn();
  harness_->fabric().faults().HealPath("fakeA", "fakeB");
  ASSERT_TRUE(server_.closed);
  EXPECT_TRUE(absl::StrContains(server_.why.message(), "an RDMA READ was not answered"))
      << server_.why;
}

TEST_F(RdmaFetchTimeoutTest, ALoopThatStoodStillTakesTheAnswerThatWaits) {
  Buffer message = Bytes(kLarge);
  const std::string expected = message.ToString();
  Refer(std::move(message));
  Resume();
  TurnFabric();
  ASSERT_EQ(reads("fakeB"), kReadsOfLarge);
  ASSERT_EQ(server_.came.size(), 0u) << "it is answered, and not polled";
  Pass(milliseconds(30'000));
  ASSERT_TRUE(Until([&] { return server_.closed || server_.came.size() == kLarge; }));
  EXPECT_FALSE(server_.closed) << server_.why;
  EXPECT_TRUE(server_.came.ToString() == expected);
}

// Each answer begins the time anew.
TEST_F(RdmaFetchTimeoutTest, ManyReadsMayTakeLongerThanOne) {
  constexpr size_t kReads = 16;
  const Buffer all = Bytes(kReads * kLarge);
  const std::string expected = all.ToString();
  Send(client_, all.Share());
  const TimePoint begin = clock_.Now();
  const auto over = [&] { return server_.closed || server_.came.size() == expected.size(); };
  while (!over() && clock_.Now() < begin + std::chrono::minutes(1)) {
    harness_->rig().Step();
    harness_->fabric().Step();
    Pass(milliseconds(40));
  }
  EXPECT_FALSE(server_.closed) << server_.why;
  EXPECT_TRUE(server_.came.ToString() == expected);
  EXPECT_GT(clock_.Now(), begin + milliseconds(2200)) << "twice what one may take";
}

}  // namespace
}  // namespace farcall
