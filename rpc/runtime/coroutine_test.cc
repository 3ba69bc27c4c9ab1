// SPDX-License-Identifier: Apache-2.0
//
// Tasks by themselves, without calls.

#include "rpc/runtime/coroutine.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transport/base/clock.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

using testing::ElementsAre;

// Suspends whoever awaits it until another thread, or this one, lets it go on.
class Gate {
 public:
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    waiting_ = waiting;
    suspended.Signal();
  }
  void await_resume() const noexcept {}
  void Open() { waiting_.resume(); }

  TestEvent suspended;

 private:
  std::coroutine_handle<> waiting_;
};

Task<int> Value(int value) { co_return value; }
Task<> Nothing() { co_return; }
Task<int> Throwing(std::string text) {
  throw std::runtime_error(text);
  co_return 0;
}
Task<int> Behind(Gate& gate, int value) {
  co_await gate;
  co_return value;
}

Task<> NoteThreadBehind(Gate& gate, std::thread::id& resumed_on) {
  co_await gate;
  resumed_on = std::this_thread::get_id();
}

Task<int> Sum(int first, int second) { co_return co_await Value(first) + co_await Value(second); }

TEST(TaskTest, EndsWithItsValue) {
  EXPECT_EQ(SyncWait(Value(7)), 7);
  EXPECT_EQ(SyncWait(Sum(1, 2)), 3);
  SyncWait(Nothing());
}

TEST(TaskTest, ValuesMayBeMoveOnlyAndWithoutDefault) {
  struct NoDefault {
    explicit NoDefault(int n) : number(std::make_unique<int>(n)) {}
    std::unique_ptr<int> number;
  };
  const auto make = [](int n) -> Task<NoDefault> { co_return NoDefault(n); };
  const auto use = [&]() -> Task<int> {
    const NoDefault made = co_await make(5);
    co_return *made.number;
  };
  EXPECT_EQ(SyncWait(use()), 5);
}

TEST(TaskTest, IsLazy) {
  bool begun = false;
  const auto body = [&]() -> Task<> {
    begun = true;
    co_return;
  };
  {
    const Task<> dropped = body();
    EXPECT_FALSE(begun);
  }
  EXPECT_FALSE(begun) << "a task that is dropped does not begin";
  SyncWait(body());
  EXPECT_TRUE(begun);
}

TEST(TaskTest, AnExceptionReachesWhoAwaits) {
  EXPECT_THROW(SyncWait(Throwing("broken")), std::runtime_error);
  const auto catching = []() -> Task<std::string> {
    try {
      co_return std::to_string(co_await Throwing("broken"));
    } catch (const std::runtime_error& error) {
      co_return error.what();
    }
  };
  EXPECT_EQ(SyncWait(catching()), "broken");
}

TEST(TaskTest, VariablesAreDestroyedOnceInTheirOrder) {
  std::vector<int> ended;
  struct Noted {
    Noted(std::vector<int>& noted_in, int n) : list(noted_in), number(n) {}
    Noted(const Noted&) = delete;
    ~Noted() { list.push_back(number); }
    std::vector<int>& list;
    const int number;
  };
  const auto inner = [&]() -> Task<> {
    const Noted one(ended, 1);
    co_await Nothing();
    throw std::runtime_error("");
  };
  const auto outer = [&]() -> Task<> {
    const Noted two(ended, 2);
    co_await inner();
  };
  EXPECT_THROW(SyncWait(outer()), std::runtime_error);
  EXPECT_THAT(ended, ElementsAre(1, 2));
}

// Where a task that has ended resumed its parent, each round would nest deeper.
TEST(TaskTest, ALoopOverTasksThatEndAtOnceUsesNoStack) {
  const auto loop = []() -> Task<int64_t> {
    int64_t sum = 0;
    for (int i = 0; i < 300'000; ++i) sum += co_await Value(1);
    co_return sum;
  };
  EXPECT_EQ(SyncWait(loop()), 300'000);
}

TEST(TaskTest, GoesOnWhereItIsResumed) {
  Gate gate;
  std::thread::id resumed_on;
  std::thread opener([&] {
    EXPECT_TRUE(gate.suspended.Wait());
    gate.Open();
  });
  const std::thread::id opener_id = opener.get_id();
  SyncWait(NoteThreadBehind(gate, resumed_on));
  opener.join();
  EXPECT_EQ(resumed_on, opener_id);
}

// The end of the task and the suspension of its parent, on two threads, at the same time.
TEST(TaskTest, ATaskMayEndWhileItsParentSuspends) {
  class Elsewhere {
   public:
    explicit Elsewhere(std::thread& thread) : thread_(thread) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
      thread_ = std::thread([waiting] { waiting.resume(); });
    }
    void await_resume() const noexcept {}

   private:
    std::thread& thread_;
  };
  for (int i = 0; i < 200; ++i) {
    std::thread thread;
    const auto inner = [&]() -> Task<int> {
      co_await Elsewhere(thread);
      co_return 1;
    };
    const auto outer = [&]() -> Task<int> { co_return 1 + co_await inner(); };
    ASSERT_EQ(SyncWait(outer()), 2);
    thread.join();
  }
}

TEST(WhenAllTest, HasTheValuesInTheOrderOfTheTasks) {
  Gate gates[3];
  std::vector<Task<int>> tasks;
  for (int i = 0; i < 3; ++i) tasks.push_back(Behind(gates[i], i));
  std::thread opener([&] {
    for (const int i : {2, 0, 1}) {
      EXPECT_TRUE(gates[i].suspended.Wait());
      gates[i].Open();
    }
  });
  EXPECT_THAT(SyncWait(WhenAll(std::move(tasks))), ElementsAre(0, 1, 2));
  opener.join();
}

TEST(WhenAllTest, OfNoneEndsAtOnce) {
  EXPECT_TRUE(SyncWait(WhenAll(std::vector<Task<int>>())).empty());
  SyncWait(WhenAll(std::vector<Task<>>()));
}

TEST(WhenAllTest, TakesTasksOfDifferentTypes) {
  const auto body = []() -> Task<std::string> {
    auto text = []() -> Task<std::string> { co_return "two"; };
    auto [one, two] = co_await WhenAll(Value(1), text());
    co_return std::to_string(one) + two;
  };
  EXPECT_EQ(SyncWait(body()), "1two");
}

TEST(WhenAllTest, WaitsForAllBeforeItThrows) {
  Gate gate;
  bool ended = false;
  const auto slow = [&]() -> Task<int> {
    const int value = co_await Behind(gate, 1);
    ended = true;
    co_return value;
  };
  std::vector<Task<int>> tasks;
  tasks.push_back(Throwing("first"));
  tasks.push_back(slow());
  tasks.push_back(Throwing("third"));
  std::thread opener([&] {
    EXPECT_TRUE(gate.suspended.Wait());
    gate.Open();
  });
  try {
    SyncWait(WhenAll(std::move(tasks)));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "first");
  }
  EXPECT_TRUE(ended);
  opener.join();
}

// On a loop that the test turns, in its time.
TEST(SleepTest, TheLongestEndsAtTheEndOfTime) {
  ManualClock clock;
  const auto loop = *EventLoop::Create(clock);
  bool ended = false;
  const auto sleeper = [&]() -> Task<> {
    co_await SleepAwaiter(*loop, Duration::max());
    ended = true;
  };
  class NoWaiter final : public TaskWaiter {
   public:
    std::coroutine_handle<> OnTaskEnd() noexcept override { return std::noop_coroutine(); }
  } no_waiter;
  Task<> task = sleeper();
  task.Begin(no_waiter);
  clock.Advance(std::chrono::hours(24 * 365));
  (void)loop->RunOnce();
  EXPECT_FALSE(ended);
  clock.AdvanceTo(TimePoint::max());
  EXPECT_TRUE(loop->RunOnce());
  EXPECT_TRUE(ended);
}

TEST(WhenAllTest, ManyEndOnManyThreads) {
  constexpr int kTasks = 64;
  std::vector<std::unique_ptr<Gate>> gates;
  std::vector<Task<int>> tasks;
  for (int i = 0; i < kTasks; ++i) {
    gates.push_back(std::make_unique<Gate>());
    tasks.push_back(Behind(*gates.back(), 1));
  }
  std::vector<std::thread> openers;
  for (int thread = 0; thread < 4; ++thread) {
    openers.emplace_back([&gates, thread] {
      for (int i = thread; i < kTasks; i += 4) {
        EXPECT_TRUE(gates[static_cast<size_t>(i)]->suspended.Wait());
        gates[static_cast<size_t>(i)]->Open();
      }
    });
  }
  int sum = 0;
  for (const int one : SyncWait(WhenAll(std::move(tasks)))) sum += one;
  EXPECT_EQ(sum, kTasks);
  for (std::thread& opener : openers) opener.join();
}

}  // namespace
}  // namespace farcall
