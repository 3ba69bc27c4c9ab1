// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/drivers/blocking_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

TEST(BlockingThreadsTest, OneRunsAllAfterEachOtherInOrder) {
  std::vector<int> order;
  std::thread::id thread;
  TestEvent done;
  const std::unique_ptr<BlockingThreads> threads = *BlockingThreads::Start(1);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(threads->Post([&order, i] { order.push_back(i); }));
  }
  EXPECT_TRUE(threads->Post([&] {
    thread = std::this_thread::get_id();
    done.Signal();
  }));
  ASSERT_TRUE(done.Wait());
  EXPECT_NE(thread, std::this_thread::get_id());
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(BlockingThreadsTest, ATaskMayPostAnother) {
  TestEvent done;
  const std::unique_ptr<BlockingThreads> threads = *BlockingThreads::Start(1);
  EXPECT_TRUE(threads->Post([&] { EXPECT_TRUE(threads->Post([&] { done.Signal(); })); }));
  EXPECT_TRUE(done.Wait());
}

TEST(BlockingThreadsTest, ATaskIsDestroyedOnceItHasRun) {
  auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = owned;
  TestEvent done;
  bool gone = false;
  const std::unique_ptr<BlockingThreads> threads = *BlockingThreads::Start(1);
  EXPECT_TRUE(threads->Post([owned = std::move(owned)] {}));
  EXPECT_TRUE(threads->Post([&] {
    gone = watch.expired();
    done.Signal();
  }));
  ASSERT_TRUE(done.Wait());
  EXPECT_TRUE(gone);
}

TEST(BlockingThreadsTest, StoppingWaitsForTheTaskThatRunsAndDropsTheOthers) {
  TestEvent running;
  std::atomic<bool> finished{false};
  auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = owned;
  std::atomic<bool> release{false};
  std::unique_ptr<BlockingThreads> threads = *BlockingThreads::Start(1);
  EXPECT_TRUE(threads->Post([&] {
    running.Signal();
    while (!release) std::this_thread::yield();
    finished = true;
  }));
  ASSERT_TRUE(running.Wait());
  // Posted last, so that the stop below may still be before it or not: it is dropped only
  // if it has not begun.
  EXPECT_TRUE(threads->Post([owned = std::move(owned)] {}));
  std::thread releaser([&] { release = true; });
  threads.reset();
  releaser.join();
  EXPECT_TRUE(finished);
  EXPECT_TRUE(watch.expired());
}

TEST(BlockingThreadsTest, ATaskThatBlocksHoldsUpNoOtherWhileThereAreThreads) {
  TestEvent running;
  TestEvent release;
  const std::unique_ptr<BlockingThreads> threads = *BlockingThreads::Start(3);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(threads->Post([&] {
      running.Signal();
      EXPECT_TRUE(release.Wait());
    }));
  }
  ASSERT_TRUE(running.Wait(2));
  TestEvent ran;
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(threads->Post([&] { ran.Signal(); }));
  EXPECT_TRUE(ran.Wait(50)) << "by the third";
  EXPECT_TRUE(threads->Post([&] {
    running.Signal();
    EXPECT_TRUE(release.Wait());
  }));
  ASSERT_TRUE(running.Wait(3));
  EXPECT_TRUE(threads->Post([&] { ran.Signal(); }));
  EXPECT_EQ(ran.count(), 50) << "there is no fourth";
  release.Signal();
  EXPECT_TRUE(ran.Wait(51));
}

TEST(BlockingThreadsTest, RefusesMoreThanItsLimit) {
  TestEvent running;
  TestEvent release;
  const std::unique_ptr<BlockingThreads> threads = *BlockingThreads::Start(1);
  EXPECT_TRUE(threads->Post([&] {
    running.Signal();
    EXPECT_TRUE(release.Wait());
  }));
  ASSERT_TRUE(running.Wait());
  int accepted = 0;
  while (threads->Post([] {})) ASSERT_LE(++accepted, 1'000'000);
  EXPECT_GE(accepted, 1000);
  release.Signal();
}

}  // namespace
}  // namespace farcall
