// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/drivers/loop_driver.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include "transport/base/clock.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

LoopDriverOptions Options(PollingMode mode, int max_spares = 64) {
  LoopDriverOptions options;
  options.polling.mode = mode;
  options.max_spares = max_spares;
  return options;
}

// Signals when the loop is about to sleep.
class SleepWatch final : public PollSource {
 public:
  bool Poll() override { return false; }
  bool Arm() override {
    asleep.Signal();
    return true;
  }
  void Disarm() override {}
  int fd() const override { return fd_.get(); }

  TestEvent asleep;

 private:
  UniqueFd fd_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

// Its first look, in a turn that has run what was posted, ends when the driver is being stopped.
class LongLook final : public PollSource {
 public:
  explicit LongLook(EventLoop& loop) : loop_(loop) {}
  bool Poll() override {
    if (std::exchange(looked_, true)) return false;
    looks.Signal();
    while (!loop_.drive().thread_wanted()) std::this_thread::yield();
    return false;
  }
  bool Arm() override { return true; }
  void Disarm() override {}
  int fd() const override { return fd_.get(); }

  TestEvent looks;

 private:
  EventLoop& loop_;
  bool looked_ = false;
  UniqueFd fd_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

class LoopDriverTest : public testing::TestWithParam<PollingMode> {
 protected:
  void Start(const LoopDriverOptions& options) { driver_ = *LoopDriver::Start(*loop_, options); }
  void SetUp() override { Start(Options(GetParam())); }

  // Runs with the loop held, and waits for it.
  template <typename Work>
  void Held(Work work) {
    TestEvent done;
    loop_->RunOrPost([&] {
      work();
      done.Signal();
    });
    ASSERT_TRUE(done.Wait());
  }
  // Whatever happens next finds the loop asleep, or as near to it as another thread can tell.
  void AwaitSleep() {
    if (GetParam() == PollingMode::kBusy) return;
    const int before = watch_.asleep.count();
    loop_->Post([] {});
    ASSERT_TRUE(watch_.asleep.Wait(before + 1));
  }
  void AddWatch() {
    Held([&] { ASSERT_TRUE(loop_->AddSource(watch_).ok()); });
  }
  void RemoveWatch() {
    Held([&] { loop_->RemoveSource(watch_); });
  }

  static constexpr int kRounds = 200;
  SteadyClock clock_;
  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create(clock_);
  SleepWatch watch_;
  std::unique_ptr<LoopDriver> driver_;
};

TEST_P(LoopDriverTest, APostWakesTheLoop) {
  AddWatch();
  for (int i = 0; i < kRounds; ++i) {
    TestEvent ran;
    AwaitSleep();
    loop_->Post([&] { ran.Signal(); });
    ASSERT_TRUE(ran.Wait());
  }
  RemoveWatch();
}

TEST_P(LoopDriverTest, UserCodeQueuedFromOutsideWakesTheLoop) {
  AddWatch();
  for (int i = 0; i < kRounds; ++i) {
    TestEvent ran;
    AwaitSleep();
    RunUserCode(*loop_, [&] {
      EXPECT_FALSE(loop_->held());
      ran.Signal();
    });
    ASSERT_TRUE(ran.Wait());
  }
  RemoveWatch();
}

TEST_P(LoopDriverTest, ATimerSetFromOutsideFiresInTime) {
  AddWatch();
  TestEvent fired;
  TimePoint due{};
  Timer timer([&] {
    EXPECT_GE(clock_.Now(), due);
    fired.Signal();
  });
  for (int i = 1; i <= kRounds; ++i) {
    AwaitSleep();
    loop_->RunOrPost([&] {
      due = loop_->now() + microseconds(i);
      loop_->SetTimer(timer, due);
    });
    ASSERT_TRUE(fired.Wait(i));
  }
  RemoveWatch();
}

TEST_P(LoopDriverTest, ADescriptorWakesTheLoop) {
  struct Reader final : FdHandler {
    void OnReady(uint32_t) override {
      uint64_t count = 0;
      EXPECT_EQ(::read(fd.get(), &count, sizeof(count)), static_cast<ssize_t>(sizeof(count)));
      ready.Signal();
    }
    UniqueFd fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    TestEvent ready;
  };
  Reader reader;
  AddWatch();
  EpollSource::Watch watch;
  Held([&] { watch = *loop_->fds().Add(reader.fd.get(), EPOLLIN, reader); });
  for (int i = 1; i <= kRounds; ++i) {
    AwaitSleep();
    const uint64_t one = 1;
    ASSERT_EQ(::write(reader.fd.get(), &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
    ASSERT_TRUE(reader.ready.Wait(i));
  }
  Held([&] { loop_->fds().Remove(watch, reader.fd.get()); });
  RemoveWatch();
}

TEST_P(LoopDriverTest, UserCodeThatBegetsUserCodeStarvesNothing) {
  struct Chain {
    EventLoop& loop;
    std::atomic<bool>& stop;
    TestEvent& ended;
    void operator()() const {
      if (stop) return ended.Signal();
      RunUserCode(loop, Chain{loop, stop, ended});
    }
  };
  std::atomic<bool> stop{false};
  TestEvent ended;
  RunUserCode(*loop_, Chain{*loop_, stop, ended});
  TestEvent fired;
  Timer timer([&] { fired.Signal(); });
  Held([&] { loop_->SetTimer(timer, loop_->now() + milliseconds(1)); });
  EXPECT_TRUE(fired.Wait());
  TestEvent posted;
  loop_->Post([&] { posted.Signal(); });
  EXPECT_TRUE(posted.Wait());
  stop = true;
  EXPECT_TRUE(ended.Wait());
}

TEST_P(LoopDriverTest, ManyPiecesOfSlowUserCodeDoNotHoldUpTimersAndPosts) {
  constexpr int kPieces = 100;
  TestEvent ran;
  std::atomic<bool> fired{false};
  std::atomic<bool> posted{false};
  Timer timer([&] { fired = true; });
  Held([&] {
    loop_->SetTimer(timer, loop_->now() + microseconds(500));
    loop_->Post([&] { posted = true; });
    for (int i = 1; i <= kPieces; ++i) {
      UserClosure::Queue(*loop_, [&, i] {
        // The last one comes 9.9 ms or more after the first.
        const TimePoint end = clock_.Now() + microseconds(100);
        while (clock_.Now() < end) {
        }
        if (i < kPieces) return;
        EXPECT_TRUE(fired);
        EXPECT_TRUE(posted);
        ran.Signal();
      });
    }
  });
  EXPECT_TRUE(ran.Wait());
}

TEST_P(LoopDriverTest, OutputOfEarlierUserCodeLeavesAfterFlushAfter) {
  driver_.reset();
  LoopDriverOptions options = Options(GetParam());
  options.flush_after = Duration(0);
  Start(options);
  CountingOutput output;
  TestEvent done;
  Held([&] {
    UserClosure::Queue(*loop_, [&] {
      loop_->RunOrPost([&] { loop_->FlushLater(output); });
      EXPECT_EQ(output.flushes, 0);
    });
    UserClosure::Queue(*loop_, [&] {
      EXPECT_EQ(output.flushes, 1);
      done.Signal();
    });
  });
  EXPECT_TRUE(done.Wait());
}

TEST_P(LoopDriverTest, StoppingRunsWhatIsQueued) {
  std::atomic<int> posted{0};
  std::atomic<int> ran{0};
  for (int i = 0; i < 1000; ++i) {
    loop_->Post([&] {
      ++posted;
      UserClosure::Queue(*loop_, [&] {
        ++ran;
        loop_->Post([&] { ++posted; });
      });
    });
  }
  driver_.reset();
  EXPECT_EQ(posted, 2000);
  EXPECT_EQ(ran, 1000);
}

// Else who answers and then ends the runtime would leave the answer, and what it refers to, behind.
TEST_P(LoopDriverTest, StoppingRunsWhatIsPostedDuringATurnThatFindsNothing) {
  LongLook look(*loop_);
  Held([&] { ASSERT_TRUE(loop_->AddSource(look).ok()); });
  ASSERT_TRUE(look.looks.Wait());
  bool ran = false;
  loop_->Post([&] { ran = true; });
  driver_.reset();
  EXPECT_TRUE(ran);
  ASSERT_TRUE(loop_->TryRun([&] { loop_->RemoveSource(look); }));
}

TEST_P(LoopDriverTest, StoppingEndsThoughTheMailboxRefillsForEver) {
  struct Again {
    EventLoop& loop;
    void operator()() { loop.Post(Again{loop}); }
  };
  loop_->Post(Again{*loop_});
  driver_.reset();
}

TEST_P(LoopDriverTest, TheLoopCanBeDrivenAgainAfterADriver) {
  for (int i = 0; i < 20; ++i) {
    Held([] {});
    driver_.reset();
    Start(Options(GetParam()));
  }
  TestEvent ran;
  RunUserCode(*loop_, [&] { ran.Signal(); });
  EXPECT_TRUE(ran.Wait());
}

INSTANTIATE_TEST_SUITE_P(Modes, LoopDriverTest,
                         testing::Values(PollingMode::kEvent, PollingMode::kAdaptive,
                                         PollingMode::kBusy),
                         [](const auto& mode) {
                           return mode.param == PollingMode::kEvent      ? "Event"
                                  : mode.param == PollingMode::kAdaptive ? "Adaptive"
                                                                         : "Busy";
                         });

}  // namespace
}  // namespace farcall
