// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/queues/timer_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace farcall {
namespace {

TimePoint At(int64_t nanoseconds) { return TimePoint(Duration(nanoseconds)); }

TEST(TimerQueueTest, FiresWhatIsDueEarliestFirst) {
  TimerQueue queue;
  std::vector<int> fired;
  Timer c([&] { fired.push_back(30); });
  Timer a([&] { fired.push_back(10); });
  Timer b([&] { fired.push_back(20); });
  queue.Set(c, At(30));
  queue.Set(a, At(10));
  queue.Set(b, At(20));
  EXPECT_EQ(queue.next(), At(10));
  EXPECT_EQ(queue.RunDue(At(9)), 0u);
  EXPECT_EQ(queue.RunDue(At(20)), 2u);
  EXPECT_EQ(fired, (std::vector<int>{10, 20}));
  EXPECT_TRUE(c.pending());
  EXPECT_EQ(queue.RunDue(At(1000)), 1u);
  EXPECT_EQ(fired, (std::vector<int>{10, 20, 30}));
  EXPECT_EQ(queue.next(), std::nullopt);
  EXPECT_EQ(queue.size(), 0u);
}

TEST(TimerQueueTest, WhatIsTakenIsTheEarliestThatIsDueAndIsNotFired) {
  TimerQueue queue;
  Timer late;
  Timer early;
  EXPECT_EQ(queue.TakeDue(At(0)), nullptr);
  queue.Set(late, At(20));
  queue.Set(early, At(10));
  EXPECT_EQ(queue.TakeDue(At(9)), nullptr);
  EXPECT_EQ(queue.TakeDue(At(20)), &early);
  EXPECT_FALSE(early.pending());
  EXPECT_TRUE(late.pending());
  EXPECT_EQ(queue.TakeDue(At(20)), &late);
  EXPECT_EQ(queue.TakeDue(TimePoint::max()), nullptr);
}

TEST(TimerQueueTest, FiresOnceForEachSet) {
  TimerQueue queue;
  int fired = 0;
  Timer timer([&] { ++fired; });
  for (int i = 1; i <= 3; ++i) {
    queue.Set(timer, At(i));
    EXPECT_TRUE(timer.pending());
    EXPECT_EQ(queue.RunDue(At(i)), 1u);
    EXPECT_FALSE(timer.pending());
    EXPECT_EQ(queue.RunDue(At(i)), 0u);
    EXPECT_EQ(fired, i);
  }
}

TEST(TimerQueueTest, SettingAgainMovesTheTimer) {
  TimerQueue queue;
  int fired = 0;
  Timer timer([&] { ++fired; });
  queue.Set(timer, At(10));
  queue.Set(timer, At(50));
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue.RunDue(At(49)), 0u);
  queue.Set(timer, At(5));
  EXPECT_EQ(queue.RunDue(At(5)), 1u);
  EXPECT_EQ(fired, 1);
}

TEST(TimerQueueTest, CancellingTwiceIsNothing) {
  TimerQueue queue;
  Timer timer([] { FAIL(); });
  queue.Cancel(timer);
  queue.Set(timer, At(1));
  queue.Cancel(timer);
  queue.Cancel(timer);
  EXPECT_FALSE(timer.pending());
  EXPECT_EQ(queue.RunDue(At(1)), 0u);
}

TEST(TimerQueueTest, ATimerMayCancelOneThatIsDueWithIt) {
  TimerQueue queue;
  Timer second([] { FAIL(); });
  Timer first([&] { queue.Cancel(second); });
  queue.Set(first, At(1));
  queue.Set(second, At(2));
  EXPECT_EQ(queue.RunDue(At(2)), 1u);
  EXPECT_FALSE(second.pending());
}

TEST(TimerQueueTest, ATimerMayDestroyOneThatIsDueWithItOnceItIsCancelled) {
  TimerQueue queue;
  auto second = std::make_unique<Timer>([] { FAIL(); });
  Timer first([&] {
    queue.Cancel(*second);
    second.reset();
  });
  queue.Set(first, At(1));
  queue.Set(*second, At(2));
  EXPECT_EQ(queue.RunDue(At(2)), 1u);
}

TEST(TimerQueueTest, WhatATimerSetsWaitsForTheNextCallThoughItIsDue) {
  TimerQueue queue;
  int fired = 0;
  Timer again([&] {
    ++fired;
    queue.Set(again, At(0));
  });
  Timer moved([&] { ++fired; });
  Timer mover([&] { queue.Set(moved, At(1)); });
  queue.Set(again, At(1));
  queue.Set(mover, At(2));
  queue.Set(moved, At(3));
  EXPECT_EQ(queue.RunDue(At(3)), 2u);
  EXPECT_EQ(fired, 1);
  EXPECT_TRUE(moved.pending());
  EXPECT_EQ(queue.RunDue(At(3)), 2u);
  EXPECT_EQ(fired, 3);
  queue.Cancel(again);
}

TEST(TimerQueueTest, TheExtremesOfTimeAreTimes) {
  TimerQueue queue;
  int fired = 0;
  Timer least([&] { ++fired; });
  Timer most([&] { ++fired; });
  queue.Set(most, TimePoint::max());
  queue.Set(least, TimePoint::min());
  EXPECT_EQ(queue.next(), TimePoint::min());
  EXPECT_EQ(queue.RunDue(At(0)), 1u);
  EXPECT_EQ(queue.RunDue(TimePoint::max()), 1u);
  EXPECT_EQ(fired, 2);
}

TEST(TimerQueueDeathTest, APendingTimerDoesNotDie) {
  EXPECT_DEATH(
      {
        TimerQueue queue;
        Timer timer([] {});
        queue.Set(timer, At(1));
      },
      "a timer is cancelled before it dies");
}

TEST(TimerQueueDeathTest, RunDueIsNotCalledFromATimer) {
  TimerQueue queue;
  Timer timer([&] { queue.RunDue(At(1)); });
  queue.Set(timer, At(1));
  EXPECT_DEATH(queue.RunDue(At(1)), "RunDue is not called from a timer");
  queue.Cancel(timer);
}

// The queue beside a std::multimap, step by step, with a seed.
class Model {
 public:
  explicit Model(uint32_t seed) : random_(seed) {
    for (size_t i = 0; i < kTimers; ++i) {
      timers_.push_back(std::make_unique<Timer>([this, i] { OnFire(i); }));
    }
  }
  ~Model() {
    for (const auto& timer : timers_) queue_.Cancel(*timer);
  }

  void Step() {
    switch (Below(8)) {
      case 0:
        Cancel(Below(kTimers));
        break;
      case 1:
        RunDue();
        break;
      default:
        Set(Below(kTimers));
        break;
    }
    Compare();
  }
  int fired() const { return fired_; }

 private:
  static constexpr size_t kTimers = 300;

  size_t Below(size_t limit) { return random_() % limit; }

  void Set(size_t i) {
    // Mostly in order, as deadlines are; some equal, some past.
    const TimePoint when = now_ + Duration(static_cast<int64_t>(Below(400)) - 20);
    Forget(i);
    by_time_.emplace(when, i);
    queue_.Set(*timers_[i], when);
  }
  void Cancel(size_t i) {
    Forget(i);
    queue_.Cancel(*timers_[i]);
  }
  void Forget(size_t i) {
    const auto found = std::find_if(by_time_.begin(), by_time_.end(),
                                    [i](const auto& entry) { return entry.second == i; });
    if (found != by_time_.end()) by_time_.erase(found);
    due_.erase(i);
  }
  void RunDue() {
    now_ += Duration(static_cast<int64_t>(Below(60)));
    while (!by_time_.empty() && by_time_.begin()->first <= now_) {
      due_.emplace(by_time_.begin()->second, by_time_.begin()->first);
      by_time_.erase(by_time_.begin());
    }
    last_ = TimePoint::min();
    const int before = fired_;
    const size_t count = queue_.RunDue(now_);
    EXPECT_EQ(count, static_cast<size_t>(fired_ - before));
    EXPECT_TRUE(due_.empty()) << due_.size() << " were due and did not fire";
  }
  void OnFire(size_t i) {
    const auto found = due_.find(i);
    ASSERT_NE(found, due_.end()) << "not due, or cancelled";
    EXPECT_GE(found->second, last_);
    last_ = found->second;
    due_.erase(found);
    EXPECT_FALSE(timers_[i]->pending());
    ++fired_;
    // One of those that are due too, or any, or itself.
    const size_t other = !due_.empty() && Below(2) == 0 ? due_.begin()->first : Below(kTimers);
    switch (Below(6)) {
      case 0:
        return Cancel(other);
      case 1:
        return Set(other);
      case 2:
        return Set(i);
      default:
        return;
    }
  }
  void Compare() {
    ASSERT_EQ(queue_.size(), by_time_.size());
    if (by_time_.empty()) {
      ASSERT_EQ(queue_.next(), std::nullopt);
    } else {
      ASSERT_EQ(queue_.next(), by_time_.begin()->first);
    }
  }

  std::mt19937 random_;
  TimePoint now_ = At(1'000'000);
  TimerQueue queue_;
  std::vector<std::unique_ptr<Timer>> timers_;
  std::multimap<TimePoint, size_t> by_time_;
  std::map<size_t, TimePoint> due_;  // of the RunDue that runs
  TimePoint last_{};
  int fired_ = 0;
};

class TimerQueueModelTest : public testing::TestWithParam<uint32_t> {};

TEST_P(TimerQueueModelTest, DoesWhatAMultimapDoes) {
  Model model(GetParam());
  for (int i = 0; i < 20'000 && !HasFailure(); ++i) model.Step();
  EXPECT_GT(model.fired(), 5'000);
}

INSTANTIATE_TEST_SUITE_P(Seeds, TimerQueueModelTest, testing::Range(uint32_t{1}, uint32_t{6}));

}  // namespace
}  // namespace farcall
