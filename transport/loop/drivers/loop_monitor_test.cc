// SPDX-License-Identifier: Apache-2.0
//
// User code that runs for long: a monitor gives its loop another driver. The test looks for the
// monitor, so that nothing depends on time.

#include "transport/loop/drivers/loop_monitor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "transport/base/clock.h"
#include "transport/loop/drive/blocking.h"
#include "transport/loop/drivers/loop_driver.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

struct CountingCode final : WatchedCode {
  void OnLong() override { long_code.Signal(); }
  std::string Name() const override { return "the code"; }
  TestEvent long_code;
};

class LoopMonitorTest : public testing::Test {
 protected:
  void Start(int max_spares) {
    LoopDriverOptions options;
    options.max_spares = max_spares;
    driver_ = *LoopDriver::Start(*loop_, options, &monitor_);
  }
  void TearDown() override {
    release_.Signal();
    driver_.reset();
  }
  void Hold() {
    running_.Signal();
    EXPECT_TRUE(release_.Wait());
  }
  // Looks until so many drives were taken over since the start.
  void LookUntilTaken(uint64_t times) {
    const TimePoint late = clock_.Now() + kTestTimeout;
    while (monitor_.counts().taken_over < times && clock_.Now() < late) monitor_.Look();
    ASSERT_EQ(monitor_.counts().taken_over, times);
  }

  // The first piece of a test, which runs on.
  void RunUntilTaken(std::function<void()> code) {
    RunUserCode(*loop_, [this, code = std::move(code)] {
      running_.Signal();
      code();
    });
    ASSERT_TRUE(running_.Wait());
    LookUntilTaken(1);
  }

  SteadyClock clock_;
  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create(clock_);
  TestEvent running_;
  TestEvent release_;
  std::vector<std::string> stalls_;
  LoopMonitor monitor_{[this](absl::string_view name, const absl::Status& why) {
    stalls_.push_back(absl::StrCat(name, ": ", why.message()));
  }};
  std::unique_ptr<LoopDriver> driver_;
};

TEST_F(LoopMonitorTest, OtherUserCodeGoesOnBesideAPieceThatRunsForLong) {
  Start(1);
  TestEvent others;
  TestEvent done;
  loop_->RunOrPost([&] {
    UserClosure::Queue(*loop_, [&] {
      running_.Signal();
      EXPECT_TRUE(others.Wait(2));
      done.Signal();
    });
    UserClosure::Queue(*loop_, [&] { others.Signal(); });
  });
  ASSERT_TRUE(running_.Wait());
  LookUntilTaken(1);
  RunUserCode(*loop_, [&] { others.Signal(); });
  EXPECT_TRUE(done.Wait());
}

TEST_F(LoopMonitorTest, APieceIsTakenOverOnce) {
  Start(4);
  RunUntilTaken([&] { EXPECT_TRUE(release_.Wait()); });
  for (int i = 0; i < 10; ++i) monitor_.Look();
  EXPECT_EQ(monitor_.counts().taken_over, 1u);
}

TEST_F(LoopMonitorTest, LooksMoreSeldomUntilUserCodeRunsForLongAgain) {
  Start(1);
  EXPECT_EQ(monitor_.pause(), LoopMonitor::kBound);
  for (int i = 0; i < LoopMonitor::kCalmLooks; ++i) {
    EXPECT_EQ(monitor_.pause(), LoopMonitor::kBound);
    monitor_.Look();
  }
  EXPECT_EQ(monitor_.pause(), LoopMonitor::kCalmBound);
  RunUntilTaken([&] { EXPECT_TRUE(release_.Wait()); });
  EXPECT_EQ(monitor_.pause(), LoopMonitor::kBound);
}

TEST_F(LoopMonitorTest, OutputLeavesBeforeAndAfterTheDriveIsTaken) {
  Start(1);
  TestEvent before_flushed;
  TestEvent after_flushed;
  CountingOutput before([&] { before_flushed.Signal(); });
  CountingOutput after([&] { after_flushed.Signal(); });
  TestEvent done;
  RunUserCode(*loop_, [&] {
    loop_->RunOrPost([&] { loop_->FlushLater(before); });
    EXPECT_EQ(before.flushes, 0);
    running_.Signal();
    EXPECT_TRUE(before_flushed.Wait()) << "by the next driver";
    loop_->RunOrPost([&] { loop_->FlushLater(after); });
    EXPECT_TRUE(after_flushed.Wait());
    done.Signal();
  });
  ASSERT_TRUE(running_.Wait());
  LookUntilTaken(1);
  EXPECT_TRUE(done.Wait());
}

TEST_F(LoopMonitorTest, CodeThatIsWatchedIsToldOnceWhileItRuns) {
  Start(1);
  CountingCode code;
  RunUserCode(
      *loop_, [&] { Hold(); }, &code);
  ASSERT_TRUE(running_.Wait());
  LookUntilTaken(1);
  EXPECT_EQ(code.long_code.count(), 1);
  release_.Signal();
  driver_.reset();
  EXPECT_EQ(code.long_code.count(), 1);
}

TEST_F(LoopMonitorTest, CodeThatHasEndedIsNotTold) {
  Start(1);
  CountingCode code;
  RunUserCode(
      *loop_,
      [&] {
        EndWatch();
        Hold();
      },
      &code);
  ASSERT_TRUE(running_.Wait());
  LookUntilTaken(1);
  release_.Signal();
  driver_.reset();
  EXPECT_EQ(code.long_code.count(), 0);
}

TEST_F(LoopMonitorTest, WithNoSpareThreadAStallIsToldOnceByName) {
  Start(1);
  CountingCode code;
  const auto hold = [&] { Hold(); };
  RunUserCode(*loop_, hold, &code);
  ASSERT_TRUE(running_.Wait());
  LookUntilTaken(1);
  // On the last thread.
  RunUserCode(*loop_, hold, &code);
  ASSERT_TRUE(running_.Wait(2));
  for (int i = 0; i < 10; ++i) monitor_.Look();
  EXPECT_EQ(monitor_.counts().stalled, 1u);
  ASSERT_EQ(stalls_.size(), 1u);
  EXPECT_TRUE(absl::StartsWith(stalls_[0], "the code: closures and handlers ")) << stalls_[0];
  TestEvent goes_on;
  RunUserCode(*loop_, [&] { goes_on.Signal(); });
  EXPECT_EQ(goes_on.count(), 0) << "no thread drives";
  release_.Signal();
  EXPECT_TRUE(goes_on.Wait());
}

TEST_F(LoopMonitorTest, AStallEndsWhenAThreadComesBack) {
  Start(1);
  TestEvent first_ends;
  TestEvent second_ends;
  RunUntilTaken([&] { EXPECT_TRUE(first_ends.Wait()); });
  TestEvent done;
  RunUserCode(*loop_, [&] {
    running_.Signal();
    EXPECT_TRUE(second_ends.Wait());
    done.Signal();
  });
  ASSERT_TRUE(running_.Wait(2));
  for (int i = 0; i < 3; ++i) monitor_.Look();
  first_ends.Signal();
  LookUntilTaken(2);
  RunUserCode(*loop_, [&] { second_ends.Signal(); });
  EXPECT_TRUE(done.Wait());
}

TEST_F(LoopMonitorTest, UserCodeThatKeepsTheDriveIsLeftAlone) {
  Start(1);
  auto* const closure = new UserClosure([&] { Hold(); });
  closure->keeps_drive = true;
  loop_->RunOrPost([&] { loop_->RunUser(*closure); });
  ASSERT_TRUE(running_.Wait());
  for (int i = 0; i < 10; ++i) monitor_.Look();
  EXPECT_EQ(monitor_.counts().taken_over, 0u);
  EXPECT_EQ(monitor_.counts().stalled, 0u);
}

TEST_F(LoopMonitorTest, WhoLostTheDriveMayBlockThoughNoSpareIsLeft) {
  Start(1);
  TestEvent taken;
  TestEvent done;
  RunUntilTaken([&] {
    EXPECT_TRUE(taken.Wait());
    EXPECT_TRUE(BeforeBlocking().ok());
    TestEvent there;
    loop_->Post([&] { there.Signal(); });
    EXPECT_TRUE(there.Wait());
    done.Signal();
  });
  taken.Signal();
  EXPECT_TRUE(done.Wait());
}

TEST_F(LoopMonitorTest, SleepsOnlyWhereNoUserCodeRuns) {
  Start(1);
  // Until the driver has nothing left of its start.
  while (monitor_.Look()) {
  }
  EXPECT_TRUE(monitor_.PrepareSleep());
  RunUserCode(*loop_, [&] { Hold(); });
  ASSERT_TRUE(running_.Wait());
  EXPECT_FALSE(monitor_.PrepareSleep());
  EXPECT_TRUE(monitor_.Look());
}

TEST_F(LoopMonitorTest, StoppingWaitsForUserCodeWhoseDriveWasTaken) {
  Start(1);
  std::atomic<bool> ended{false};
  RunUntilTaken([&] {
    EXPECT_TRUE(release_.Wait());
    ended = true;
  });
  std::thread releaser([&] { release_.Signal(); });
  driver_.reset();
  EXPECT_TRUE(ended);
  releaser.join();
}

}  // namespace
}  // namespace farcall
