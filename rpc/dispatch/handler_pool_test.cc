// SPDX-License-Identifier: Apache-2.0

#include "rpc/dispatch/handler_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

// A task that owns itself, as handlers do.
class Task final : public UserTask {
 public:
  static void Submit(HandlerPool& pool, std::function<void()> run) {
    pool.Submit(*new Task(std::move(run)));
  }
  void Run() override {
    run_();
    delete this;
  }

 private:
  explicit Task(std::function<void()> run) : run_(std::move(run)) {}

  const std::function<void()> run_;
};

std::unique_ptr<HandlerPool> Start(int threads) {
  auto pool = HandlerPool::Start(threads);
  EXPECT_TRUE(pool.ok()) << pool.status();
  return *std::move(pool);
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

TEST(HandlerPoolTest, RunsAllFromManyThreadsOnItsOwn) {
  constexpr int kEach = 5'000;
  std::atomic<int> runs{0};
  std::atomic<bool> outside{false};
  {
    const auto pool = Start(4);
    const std::thread::id main = std::this_thread::get_id();
    std::vector<std::thread> submitters;
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
  const auto pool = Start(4);
  TestEvent blocked;
  TestEvent release;
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
  const auto pool = Start(kThreads);
  TestEvent here;
  TestEvent done;
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
    const auto pool = Start(2);
    TestEvent blocked;
    std::atomic<bool> release{false};
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

TEST(HandlerPoolTest, MayHaveNothingToDo) { Start(3); }

}  // namespace
}  // namespace farcall
