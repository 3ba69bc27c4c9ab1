// SPDX-License-Identifier: Apache-2.0

#include "rpc/dispatch/handler_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "transport/base/cores.h"
#include "transport/loop/blocking.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

// A task that owns itself, as handlers do.
class Task final : public UserTask {
 public:
  // Returns how many wait.
  static size_t Submit(HandlerPool& pool, std::function<void()> run,
                       HandlerPool::Calling calling = HandlerPool::Calling::kNow) {
    const std::optional<size_t> waiting = pool.Submit(*new Task(std::move(run)), calling);
    EXPECT_TRUE(waiting.has_value()) << "the system gives a thread";
    return waiting.value_or(0);
  }
  static void SubmitLater(HandlerPool& pool, std::function<void()> run) {
    Submit(pool, std::move(run), HandlerPool::Calling::kLater);
  }
  void Run() override {
    run_();
    delete this;
  }

 private:
  explicit Task(std::function<void()> run) : run_(std::move(run)) {}

  const std::function<void()> run_;
};

std::unique_ptr<HandlerPool> Start(int threads, int spares = 0) {
  return std::make_unique<HandlerPool>(threads, spares);
}

TEST(HandlerPoolTest, OneThreadRunsThemInOrder) {
  std::vector<int> order;
  {
    const auto pool = Start(1);
    for (int i = 0; i < 1000; ++i) {
      Task::Submit(*pool, [&order, i] { order.push_back(i); });
    }
  }
  ASSERT_EQ(order.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(HandlerPoolTest, ItsThreadsRunWhereItsMakerMay) {
  const std::vector<int> all = AllowedCpus();
  std::vector<int> cpus;
  {
    const auto pool = Start(1);
    std::thread([&] {
      ASSERT_TRUE(RunOnlyOn({all.front()})) << "as loops do";
      Task::Submit(*pool, [&] { cpus = AllowedCpus(); });
    }).join();
  }
  EXPECT_EQ(cpus, all);
}

TEST(HandlerPoolTest, RunsAllFromManyThreadsOnItsOwn) {
  constexpr int kEach = 5'000;
  std::atomic<int> runs{0};
  std::atomic<bool> outside{false};
  {
    const std::thread::id main = std::this_thread::get_id();
    std::vector<std::thread> submitters;
    const auto pool = Start(4);
    for (int t = 0; t < 3; ++t) {
      submitters.emplace_back([&] {
        for (int i = 0; i < kEach; ++i) {
          Task::Submit(*pool, [&] {
            ++runs;
            if (std::this_thread::get_id() == main) outside = true;
          });
        }
      });
    }
    for (std::thread& submitter : submitters) submitter.join();
  }
  EXPECT_EQ(runs, 3 * kEach);
  EXPECT_FALSE(outside);
}

TEST(HandlerPoolTest, BlockedHandlersHoldUpNobodyWhileAThreadIsLeft) {
  TestEvent blocked;
  TestEvent release;
  const auto pool = Start(4);
  for (int i = 0; i < 3; ++i) {
    Task::Submit(*pool, [&] {
      blocked.Signal();
      EXPECT_TRUE(release.Wait());
    });
  }
  ASSERT_TRUE(blocked.Wait(3));
  TestEvent others;
  for (int i = 0; i < 100; ++i) {
    Task::Submit(*pool, [&] { others.Signal(); });
  }
  EXPECT_TRUE(others.Wait(100));
  release.Signal();
}

// They can end only if each has a thread of its own.
TEST(HandlerPoolTest, AllThreadsWork) {
  constexpr int kThreads = 8;
  TestEvent here;
  TestEvent done;
  const auto pool = Start(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    Task::Submit(*pool, [&] {
      here.Signal();
      EXPECT_TRUE(here.Wait(kThreads));
      done.Signal();
    });
  }
  EXPECT_TRUE(done.Wait(kThreads));
}

TEST(HandlerPoolTest, ATaskIsFoundByAThreadThatWasIdle) {
  const auto pool = Start(2);
  for (int i = 0; i < 2'000; ++i) {
    TestEvent ran;
    Task::Submit(*pool, [&] { ran.Signal(); });
    ASSERT_TRUE(ran.Wait());
  }
}

TEST(HandlerPoolTest, TheDestructorRunsWhatWaits) {
  std::atomic<int> runs{0};
  {
    TestEvent blocked;
    std::atomic<bool> release{false};
    const auto pool = Start(2);
    for (int i = 0; i < 2; ++i) {
      Task::Submit(*pool, [&] {
        blocked.Signal();
        while (!release) std::this_thread::yield();
        ++runs;
      });
    }
    ASSERT_TRUE(blocked.Wait(2));
    for (int i = 0; i < 100; ++i) {
      Task::Submit(*pool, [&] { ++runs; });
    }
    EXPECT_EQ(runs, 0);
    release = true;
  }
  EXPECT_EQ(runs, 102);
}

TEST(HandlerPoolTest, WhatATaskSubmitsWhileThePoolEndsRunsToo) {
  std::atomic<int> runs{0};
  {
    const auto pool = Start(2);
    HandlerPool& raw = *pool;
    Task::Submit(raw, [&] {
      ++runs;
      Task::Submit(raw, [&] {
        ++runs;
        Task::Submit(raw, [&] { ++runs; });
      });
    });
  }
  EXPECT_EQ(runs, 3);
}

TEST(HandlerPoolTest, MayHaveNothingToDo) {
  Start(3);
  const auto all = Start(3);
  EXPECT_TRUE(all->StartAll().ok());
}

TEST(HandlerPoolTest, OneThreadIsEnoughForTasksOneAfterTheOther) {
  const auto pool = Start(8);
  std::set<std::thread::id> threads;
  for (int i = 0; i < 100; ++i) {
    TestEvent ran;
    Task::Submit(*pool, [&] {
      threads.insert(std::this_thread::get_id());
      ran.Signal();
    });
    ASSERT_TRUE(ran.Wait());
    // A thread that has signalled the end of its task is on its way back.
    while (pool->idle() == 0) std::this_thread::yield();
  }
  EXPECT_EQ(threads.size(), 1u);
}

TEST(HandlerPoolTest, AThreadIsCalledWhenTheSubmitterSays) {
  TestEvent first;
  TestEvent here;
  const auto pool = Start(4);
  Task::Submit(*pool, [&] { first.Signal(); });
  ASSERT_TRUE(first.Wait());
  while (pool->idle() == 0) std::this_thread::yield();
  for (int i = 0; i < 4; ++i) {
    // They end only if each gets a thread, by one call.
    Task::SubmitLater(*pool, [&] {
      here.Signal();
      EXPECT_TRUE(here.Wait(4));
    });
  }
  EXPECT_EQ(pool->waiting(), 4u) << "who sleeps is not woken";
  pool->CallThread();
  EXPECT_TRUE(here.Wait(4));
}

TEST(HandlerPoolTest, NoMoreRunAtOnceThanItSays) {
  constexpr int kMax = 3;
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  {
    const auto pool = Start(kMax, 2);
    for (int i = 0; i < 2'000; ++i) {
      Task::Submit(*pool, [&] {
        const int now = ++running;
        int seen = most;
        while (now > seen && !most.compare_exchange_weak(seen, now)) {
        }
        if (now % 2 == 0) std::this_thread::yield();
        --running;
      });
    }
  }
  EXPECT_LE(most, kMax);
}

TEST(HandlerPoolTest, WhatRunsElsewhereTakesAPlace) {
  const auto pool = Start(2);
  pool->BeginElsewhere();
  pool->BeginElsewhere();
  TestEvent ran;
  EXPECT_EQ(Task::Submit(*pool, [&] { ran.Signal(); }), 1u);
  EXPECT_EQ(Task::Submit(*pool, [&] { ran.Signal(); }), 2u);
  EXPECT_EQ(pool->waiting(), 2u);
  EXPECT_EQ(ran.count(), 0);
  pool->EndElsewhere();
  EXPECT_TRUE(ran.Wait(2));
  pool->EndElsewhere();
}

TEST(HandlerPoolTest, WhoWaitsInASynchronousCallLeavesItsPlaceToOthers) {
  constexpr int kSpares = 2;
  TestEvent waiting;
  TestEvent release;
  TestEvent done;
  const auto pool = Start(1, kSpares);
  for (int i = 0; i < kSpares; ++i) {
    Task::Submit(*pool, [&] {
      EXPECT_TRUE(BeforeBlocking());
      EXPECT_TRUE(BeforeBlocking()) << "it is counted once";
      waiting.Signal();
      EXPECT_TRUE(release.Wait());
      done.Signal();
    });
  }
  ASSERT_TRUE(waiting.Wait(kSpares));
  Task::Submit(*pool, [&] {
    EXPECT_FALSE(BeforeBlocking()) << "no thread could do what it waits for";
    release.Signal();
    done.Signal();
  });
  EXPECT_TRUE(done.Wait(kSpares + 1));
}

TEST(HandlerPoolTest, PlacesAreFreeAgainAfterSynchronousCalls) {
  const auto pool = Start(1, 1);
  for (int i = 0; i < 500; ++i) {
    TestEvent inner;
    TestEvent outer;
    Task::Submit(*pool, [&] {
      if (BeforeBlocking()) {
        Task::Submit(*pool, [&] { inner.Signal(); });
        EXPECT_TRUE(inner.Wait());
      }
      outer.Signal();
    });
    ASSERT_TRUE(outer.Wait());
    // The outer one's end, so that its place is free.
    TestEvent behind;
    Task::Submit(*pool, [&] { behind.Signal(); });
    ASSERT_TRUE(behind.Wait());
  }
}

TEST(HandlerPoolTest, WithoutSparesWhoWaitsKeepsItsPlace) {
  TestEvent waiting;
  TestEvent release;
  const auto pool = Start(1);
  Task::Submit(*pool, [&] {
    EXPECT_TRUE(BeforeBlocking());
    waiting.Signal();
    EXPECT_TRUE(release.Wait());
  });
  ASSERT_TRUE(waiting.Wait());
  TestEvent other;
  EXPECT_EQ(Task::Submit(*pool, [&] { other.Signal(); }), 1u);
  EXPECT_EQ(other.count(), 0);
  release.Signal();
  EXPECT_TRUE(other.Wait());
}

}  // namespace
}  // namespace farcall
