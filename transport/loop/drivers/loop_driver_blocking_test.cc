// SPDX-License-Identifier: Apache-2.0
//
// User code that blocks: the drive goes to another thread, and comes back.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "transport/base/clock.h"
#include "transport/loop/drive/blocking.h"
#include "transport/loop/drivers/loop_driver.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

class LoopDriverBlockingTest : public testing::Test {
 protected:
  void Start(int max_spares) {
    LoopDriverOptions options;
    options.polling.mode = PollingMode::kEvent;
    options.max_spares = max_spares;
    driver_ = *LoopDriver::Start(*loop_, options);
  }

  // Each piece of user code blocks until the last of the chain is there. Returns how many
  // were allowed to.
  int BlockInAChain() {
    struct Chain {
      EventLoop& loop;
      TestEvent& end;
      TestEvent& returned;
      std::atomic<int>& reached;
      std::set<std::thread::id>& threads;
      int depth;
      void operator()() const {
        // One is here at a time.
        threads.insert(std::this_thread::get_id());
        if (BeforeBlocking().ok()) {
          RunUserCode(loop, Chain{loop, end, returned, reached, threads, depth + 1});
          EXPECT_TRUE(end.Wait());
        } else {
          reached = depth;
          end.Signal();
        }
        returned.Signal();
      }
    };
    TestEvent end;
    TestEvent returned;
    std::atomic<int> reached{-1};
    RunUserCode(*loop_, Chain{*loop_, end, returned, reached, threads_, 0});
    EXPECT_TRUE(end.Wait());
    EXPECT_TRUE(returned.Wait(reached + 1));
    return reached;
  }

  SteadyClock clock_;
  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create(clock_);
  std::set<std::thread::id> threads_;  // that ran a part of a chain
  std::unique_ptr<LoopDriver> driver_;
};

TEST_F(LoopDriverBlockingTest, AnyOtherThreadMayBlock) {
  EXPECT_TRUE(BeforeBlocking().ok());
  bool inside = false;
  std::thread([&] { inside = BeforeBlocking().ok(); }).join();
  EXPECT_TRUE(inside);
}

TEST_F(LoopDriverBlockingTest, OtherUserCodeOfTheTurnGoesOnWhileOneBlocks) {
  Start(1);
  TestEvent release;
  TestEvent done;
  loop_->RunOrPost([&] {
    UserClosure::Queue(*loop_, [&] {
      EXPECT_TRUE(BeforeBlocking().ok());
      EXPECT_TRUE(release.Wait());
      done.Signal();
    });
    UserClosure::Queue(*loop_, [&] { release.Signal(); });
  });
  EXPECT_TRUE(done.Wait());
}

TEST_F(LoopDriverBlockingTest, TimersAndPostsGoOnWhileUserCodeBlocks) {
  Start(1);
  TestEvent fired;
  TestEvent posted;
  TestEvent done;
  Timer timer([&] { fired.Signal(); });
  RunUserCode(*loop_, [&] {
    EXPECT_TRUE(BeforeBlocking().ok());
    loop_->RunOrPost([&] { loop_->SetTimer(timer, loop_->now() + milliseconds(1)); });
    loop_->Post([&] { posted.Signal(); });
    EXPECT_TRUE(fired.Wait());
    EXPECT_TRUE(posted.Wait());
    done.Signal();
  });
  EXPECT_TRUE(done.Wait());
}

TEST_F(LoopDriverBlockingTest, WhatWasWrittenLeavesBeforeBlocking) {
  Start(1);
  CountingOutput output;
  TestEvent done;
  RunUserCode(*loop_, [&] {
    loop_->RunOrPost([&] { loop_->FlushLater(output); });
    EXPECT_EQ(output.flushes, 0);
    EXPECT_TRUE(BeforeBlocking().ok());
    EXPECT_EQ(output.flushes, 1);
    done.Signal();
  });
  EXPECT_TRUE(done.Wait());
}

TEST_F(LoopDriverBlockingTest, WhatIsWrittenAfterBlockingDoesNotWaitForTheUserCodesEnd) {
  Start(1);
  TestEvent flushed;
  TestEvent done;
  CountingOutput output([&] { flushed.Signal(); });
  RunUserCode(*loop_, [&] {
    EXPECT_TRUE(BeforeBlocking().ok());
    loop_->RunOrPost([&] { loop_->FlushLater(output); });
    EXPECT_TRUE(flushed.Wait());
    done.Signal();
  });
  EXPECT_TRUE(done.Wait());
}

TEST_F(LoopDriverBlockingTest, WhoHasPassedTheDriveOnMayBlockAgain) {
  Start(1);
  TestEvent done;
  RunUserCode(*loop_, [&] {
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(BeforeBlocking().ok());
      TestEvent there;
      loop_->Post([&] { there.Signal(); });
      EXPECT_TRUE(there.Wait());
    }
    done.Signal();
  });
  EXPECT_TRUE(done.Wait());
}

TEST_F(LoopDriverBlockingTest, ChainsOfBlockingUserCodeEndAtMaxSpares) {
  for (const int spares : {1, 2, 5}) {
    Start(spares);
    EXPECT_EQ(BlockInAChain(), spares);
    driver_.reset();
  }
}

TEST_F(LoopDriverBlockingTest, ThreadsThatCameBackAreUsedAgain) {
  constexpr int kSpares = 3;
  Start(kSpares);
  // A thread that has returned from user code may still be on its way back.
  const TimePoint late = clock_.Now() + kTestTimeout;
  for (int full = 0; full < 50 && clock_.Now() < late;) {
    const int depth = BlockInAChain();
    ASSERT_LE(depth, kSpares);
    full += depth == kSpares ? 1 : 0;
  }
  EXPECT_LT(clock_.Now(), late);
  EXPECT_EQ(threads_.size(), size_t{kSpares} + 1);
}

TEST_F(LoopDriverBlockingTest, WhereNobodyCanTakeOverTheDriverKeepsTheDrive) {
  Start(1);
  TestEvent end;
  TestEvent refused;
  TestEvent done;
  RunUserCode(*loop_, [&] {
    EXPECT_TRUE(BeforeBlocking().ok());
    RunUserCode(*loop_, [&] {
      EXPECT_FALSE(BeforeBlocking().ok());
      EXPECT_FALSE(BeforeBlocking().ok());
      refused.Signal();
    });
    EXPECT_TRUE(end.Wait());
    done.Signal();
  });
  ASSERT_TRUE(refused.Wait());
  TestEvent goes_on;
  RunUserCode(*loop_, [&] { goes_on.Signal(); });
  EXPECT_TRUE(goes_on.Wait());
  end.Signal();
  EXPECT_TRUE(done.Wait());
}

TEST_F(LoopDriverBlockingTest, StoppingDrivesOnForUserCodeThatWaitsForTheLoop) {
  Start(1);
  TestEvent waiting;
  TestEvent fired;
  bool in_time = false;
  Timer timer([&] { fired.Signal(); });
  RunUserCode(*loop_, [&] {
    EXPECT_TRUE(BeforeBlocking().ok());
    // The answer to a call, say: it is there long after the stop began.
    loop_->RunOrPost([&] { loop_->SetTimer(timer, loop_->now() + milliseconds(100)); });
    waiting.Signal();
    in_time = fired.Wait();
  });
  ASSERT_TRUE(waiting.Wait());
  driver_.reset();
  EXPECT_TRUE(in_time);
}

TEST_F(LoopDriverBlockingTest, StoppingRunsWhatTheLastOneToComeBackLeaves) {
  Start(4);
  TestEvent waiting;
  TestEvent release;
  std::atomic<int> left{0};
  for (int i = 0; i < 4; ++i) {
    RunUserCode(*loop_, [&] {
      EXPECT_TRUE(BeforeBlocking().ok());
      waiting.Signal();
      EXPECT_TRUE(release.Wait());
      loop_->Post([&] { ++left; });
      RunUserCode(*loop_, [&] {
        // And this blocks again, while the driver stops.
        if (BeforeBlocking().ok()) std::this_thread::yield();
        ++left;
      });
    });
  }
  ASSERT_TRUE(waiting.Wait(4));
  std::thread releaser([&] { release.Signal(); });
  driver_.reset();
  releaser.join();
  EXPECT_EQ(left, 8);
}

}  // namespace
}  // namespace farcall
