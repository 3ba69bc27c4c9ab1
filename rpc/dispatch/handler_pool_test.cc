// SPDX-License-Identifier: Apache-2.0

#include "rpc/dispatch/handler_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "rpc/dispatch/handler_pool_testing.h"
#include "transport/base/host/cores.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

TEST(HandlerPoolTest, OneThreadRunsThemInOrder) {
  std::vector<int> order;
  {
    const auto pool = StartPool(1);
    for (int i = 0; i < 1000; ++i) {
      PoolTask::Submit(*pool, [&order, i] { order.push_back(i); });
    }
  }
  ASSERT_EQ(order.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(HandlerPoolTest, ItsThreadsRunWhereItsMakerMay) {
  const std::vector<int> all = AllowedCpus();
  std::vector<int> cpus;
  {
    const auto pool = StartPool(1);
    std::thread([&] {
      ASSERT_TRUE(RunOnlyOn({all.front()})) << "as loops do";
      PoolTask::Submit(*pool, [&] { cpus = AllowedCpus(); });
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
    const auto pool = StartPool(4);
    for (int t = 0; t < 3; ++t) {
      submitters.emplace_back([&] {
        for (int i = 0; i < kEach; ++i) {
          PoolTask::Submit(*pool, [&] {
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
  const auto pool = StartPool(4);
  for (int i = 0; i < 3; ++i) {
    PoolTask::Submit(*pool, [&] {
      blocked.Signal();
      EXPECT_TRUE(release.Wait());
    });
  }
  ASSERT_TRUE(blocked.Wait(3));
  TestEvent others;
  for (int i = 0; i < 100; ++i) {
    PoolTask::Submit(*pool, [&] { others.Signal(); });
  }
  EXPECT_TRUE(others.Wait(100));
  release.Signal();
}

// They can end only if each has a thread of its own.
TEST(HandlerPoolTest, AllThreadsWork) {
  constexpr int kThreads = 8;
  TestEvent here;
  TestEvent done;
  const auto pool = StartPool(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    PoolTask::Submit(*pool, [&] {
      here.Signal();
      EXPECT_TRUE(here.Wait(kThreads));
      done.Signal();
    });
  }
  EXPECT_TRUE(done.Wait(kThreads));
}

TEST(HandlerPoolTest, ATaskIsFoundByAThreadThatWasIdle) {
  const auto pool = StartPool(2);
  for (int i = 0; i < 2'000; ++i) {
    TestEvent ran;
    PoolTask::Submit(*pool, [&] { ran.Signal(); });
    ASSERT_TRUE(ran.Wait());
  }
}

TEST(HandlerPoolTest, TheDestructorRunsWhatWaits) {
  std::atomic<int> runs{0};
  {
    TestEvent blocked;
    std::atomic<bool> release{false};
    const auto pool = StartPool(2);
    for (int i = 0; i < 2; ++i) {
      PoolTask::Submit(*pool, [&] {
        blocked.Signal();
        while (!release) std::this_thread::yield();
        ++runs;
      });
    }
    ASSERT_TRUE(blocked.Wait(2));
    for (int i = 0; i < 100; ++i) {
      PoolTask::Submit(*pool, [&] { ++runs; });
    }
    EXPECT_EQ(runs, 0);
    release = true;
  }
  EXPECT_EQ(runs, 102);
}

TEST(HandlerPoolTest, WhatATaskSubmitsWhileThePoolEndsRunsToo) {
  std::atomic<int> runs{0};
  {
    const auto pool = StartPool(2);
    HandlerPool& raw = *pool;
    PoolTask::Submit(raw, [&] {
      ++runs;
      PoolTask::Submit(raw, [&] {
        ++runs;
        PoolTask::Submit(raw, [&] { ++runs; });
      });
    });
  }
  EXPECT_EQ(runs, 3);
}

TEST(HandlerPoolTest, MayHaveNothingToDo) {
  StartPool(3);
  const auto all = StartPool(3);
  EXPECT_TRUE(all->StartAll().ok());
}

TEST(HandlerPoolTest, OneThreadIsEnoughForTasksOneAfterTheOther) {
  const auto pool = StartPool(8);
  std::set<std::thread::id> threads;
  for (int i = 0; i < 100; ++i) {
    TestEvent ran;
    PoolTask::Submit(*pool, [&] {
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
  const auto pool = StartPool(4);
  PoolTask::Submit(*pool, [&] { first.Signal(); });
  ASSERT_TRUE(first.Wait());
  while (pool->idle() == 0) std::this_thread::yield();
  for (int i = 0; i < 4; ++i) {
    // They end only if each gets a thread, by one call.
    PoolTask::SubmitLater(*pool, [&] {
      here.Signal();
      EXPECT_TRUE(here.Wait(4));
    });
  }
  EXPECT_EQ(pool->waiting(), 4u) << "who sleeps is not woken";
  pool->CallThread();
  EXPECT_TRUE(here.Wait(4));
}

}  // namespace
}  // namespace farcall
