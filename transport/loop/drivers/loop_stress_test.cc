// SPDX-License-Identifier: Apache-2.0
//
// Many threads on few loops: nothing is lost, doubled or left asleep.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "transport/base/clock.h"
#include "transport/loop/drive/blocking.h"
#include "transport/loop/drivers/loop_driver.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

using std::chrono::microseconds;

// A loop and its driver.
struct Driven {
  Driven(const Clock& clock, PollingMode mode, int max_spares = 64)
      : loop(*EventLoop::Create(clock)) {
    LoopDriverOptions options;
    options.polling.mode = mode;
    options.max_spares = max_spares;
    driver = *LoopDriver::Start(*loop, options);
  }
  std::unique_ptr<EventLoop> loop;
  std::unique_ptr<LoopDriver> driver;
};

// For up to `most` rounds of nothing, to meet the other thread at another moment each time.
void SpinFor(std::mt19937& random, unsigned most) {
  for (unsigned i = static_cast<unsigned>(random()) % most; i > 0; --i) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
}

class LoopStressTest : public testing::TestWithParam<PollingMode> {
 protected:
  // The wait is for so many rounds each.
  static constexpr int kStep = 100;
  SteadyClock clock_;
};

TEST_P(LoopStressTest, PingPongBetweenTwoLoopsLosesNoWakeUp) {
  constexpr int kRounds = 5'000;
  Driven a(clock_, GetParam());
  Driven b(clock_, GetParam());
  struct Ball {
    EventLoop* here;
    EventLoop* there;
    TestEvent* progress;
    int left;
    void operator()() {
      EXPECT_TRUE(here->held());
      if (left % kStep == 0) progress->Signal();
      if (left > 0) there->Post(Ball{there, here, progress, left - 1});
    }
  };
  TestEvent progress;
  a.loop->Post(Ball{a.loop.get(), b.loop.get(), &progress, kRounds});
  for (int i = 0; i <= kRounds / kStep; ++i) ASSERT_TRUE(progress.Wait(i + 1));
}

TEST_P(LoopStressTest, PingPongOfUserCodeBetweenTwoLoopsLosesNoWakeUp) {
  constexpr int kRounds = 5'000;
  Driven a(clock_, GetParam());
  Driven b(clock_, GetParam());
  struct Ball {
    EventLoop* here;
    EventLoop* there;
    TestEvent* progress;
    int left;
    void operator()() {
      if (left % kStep == 0) progress->Signal();
      if (left > 0) RunUserCode(*there, Ball{there, here, progress, left - 1});
    }
  };
  TestEvent progress;
  RunUserCode(*a.loop, Ball{a.loop.get(), b.loop.get(), &progress, kRounds});
  for (int i = 0; i <= kRounds / kStep; ++i) ASSERT_TRUE(progress.Wait(i + 1));
}

TEST_P(LoopStressTest, EveryWayOfWakingHitsEveryMomentOfFallingAsleep) {
  Driven driven(clock_, GetParam());
  EventLoop& loop = *driven.loop;
  std::mt19937 random(20240601);
  TestEvent happened;
  Timer timer([&] { happened.Signal(); });
  for (int i = 1; i <= 5'000; ++i) {
    switch (random() % 4) {
      case 0:
        loop.Post([&] { happened.Signal(); });
        break;
      case 1:
        RunUserCode(loop, [&] { happened.Signal(); });
        break;
      case 2: {
        const microseconds in(random() % 30);
        loop.RunOrPost([&, in] { loop.SetTimer(timer, loop.now() + in); });
        break;
      }
      default:
        // A timer, set and moved; then the loop is left to itself.
        loop.RunOrPost([&] { loop.SetTimer(timer, loop.now() + std::chrono::hours(1)); });
        SpinFor(random, 3'000);
        loop.RunOrPost([&] { loop.SetTimer(timer, loop.now()); });
        break;
    }
    ASSERT_TRUE(happened.Wait(i));
    SpinFor(random, 30'000);
  }
}

// Each operation has a number, and each number is counted.
class Operations {
 public:
  Operations(EventLoop& loop, size_t count) : loop_(loop), done_(count) {
    for (size_t i = 0; i < count; ++i) {
      timers_.push_back(std::make_unique<Timer>([this, i] { Done(i); }));
    }
  }
  void Start(size_t i, std::mt19937& random) {
    switch (random() % 5) {
      case 0:
        return loop_.Post([this, i] { Done(i); });
      case 1:
        return loop_.RunOrPost([this, i] { Done(i); });
      case 2:
        return RunUserCode(loop_, [this, i] { Done(i); });
      case 3: {
        const microseconds in(random() % 200);
        return loop_.RunOrPost([this, i, in] { loop_.SetTimer(*timers_[i], loop_.now() + in); });
      }
      default:
        return RunUserCode(loop_, [this, i] { BlockThenFinish(i); });
    }
  }
  bool Wait() {
    const int all = static_cast<int>(done_.size());
    for (int some = 0; some < all; some += 100) {
      if (!all_.Wait(some)) return false;
    }
    return all_.Wait(all);
  }
  size_t WrongCounts() const {
    size_t wrong = 0;
    for (const std::atomic<int>& count : done_) wrong += count == 1 ? 0 : 1;
    return wrong;
  }

 private:
  void Done(size_t i) {
    ++done_[i];
    all_.Signal();
  }
  void BlockThenFinish(size_t i) {
    if (BeforeBlocking().ok()) {
      TestEvent answer;
      loop_.RunOrPost(
          [this, &answer] { UserClosure::Queue(loop_, [&answer] { answer.Signal(); }); });
      EXPECT_TRUE(answer.Wait());
    }
    Done(i);
  }

  EventLoop& loop_;
  std::vector<std::atomic<int>> done_;
  std::vector<std::unique_ptr<Timer>> timers_;
  TestEvent all_;
};

TEST_P(LoopStressTest, ManyThreadsEveryOperationRunsOnce) {
  constexpr size_t kThreads = 4;
  constexpr size_t kEach = 2'500;
  Driven driven(clock_, GetParam(), 3);
  Operations operations(*driven.loop, kThreads * kEach);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&operations, t] {
      std::mt19937 random(static_cast<uint32_t>(t) + 1);
      for (size_t i = 0; i < kEach; ++i) {
        operations.Start(t * kEach + i, random);
        if (random() % 8 == 0) SpinFor(random, 5'000);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(operations.Wait());
  driven.driver.reset();
  EXPECT_EQ(operations.WrongCounts(), 0u);
}

TEST_P(LoopStressTest, EachThreadsPostsAndRunsKeepTheirOrder) {
  constexpr size_t kThreads = 3;
  constexpr int kEach = 10'000;
  Driven driven(clock_, GetParam());
  EventLoop& loop = *driven.loop;
  std::vector<int> next(kThreads, 0);  // with the loop held
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<uint32_t>(t) + 1);
      for (int i = 0; i < kEach; ++i) {
        const auto work = [&next, &wrong, t, i] {
          wrong += next[t] == i ? 0 : 1;
          next[t] = i + 1;
        };
        if (random() % 3 == 0) {
          loop.Post(work);
        } else {
          loop.RunOrPost(work);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  driven.driver.reset();
  EXPECT_EQ(wrong, 0);
  for (const int count : next) EXPECT_EQ(count, kEach);
}

TEST_P(LoopStressTest, LoopsThatBlockOnEachOtherGoOn) {
  // User code of each loop waits for user code of the other, several at once.
  Driven a(clock_, GetParam(), 8);
  Driven b(clock_, GetParam(), 8);
  TestEvent done;
  std::atomic<int> refused{0};
  const auto ask = [&](EventLoop& here, EventLoop& there) {
    RunUserCode(here, [&] {
      if (BeforeBlocking().ok()) {
        TestEvent answer;
        RunUserCode(there, [&answer] { answer.Signal(); });
        EXPECT_TRUE(answer.Wait());
      } else {
        ++refused;
      }
      done.Signal();
    });
  };
  constexpr int kRounds = 300;
  for (int i = 0; i < kRounds; ++i) {
    for (int j = 0; j < 4; ++j) {
      ask(*a.loop, *b.loop);
      ask(*b.loop, *a.loop);
    }
    ASSERT_TRUE(done.Wait(8 * (i + 1)));
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, LoopStressTest,
                         testing::Values(PollingMode::kEvent, PollingMode::kAdaptive),
                         [](const auto& mode) {
                           return std::string(mode.param == PollingMode::kEvent ? "Event"
                                                                                : "Adaptive");
                         });

}  // namespace
}  // namespace farcall
