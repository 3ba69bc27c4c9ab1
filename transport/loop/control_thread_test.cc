// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/control_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

TEST(ControlThreadTest, RunsOneAfterTheOtherInOrderOnItsOwnThread) {
  const std::unique_ptr<ControlThread> control = *ControlThread::Start();
  std::vector<int> order;
  std::thread::id thread;
  TestEvent done;
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(control->Post([&order, i] { order.push_back(i); }));
  }
  EXPECT_TRUE(control->Post([&] {
    thread = std::this_thread::get_id();
    done.Signal();
  }));
  ASSERT_TRUE(done.Wait());
  EXPECT_NE(thread, std::this_thread::get_id());
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(ControlThreadTest, ATaskMayPostAnother) {
  const std::unique_ptr<ControlThread> control = *ControlThread::Start();
  TestEvent done;
  EXPECT_TRUE(control->Post([&] { EXPECT_TRUE(control->Post([&] { done.Signal(); })); }));
  EXPECT_TRUE(done.Wait());
}

TEST(ControlThreadTest, ATaskIsDestroyedOnceItHasRun) {
  const std::unique_ptr<ControlThread> control = *ControlThread::Start();
  auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = owned;
  TestEvent done;
  bool gone = false;
  EXPECT_TRUE(control->Post([owned = std::move(owned)] {}));
  EXPECT_TRUE(control->Post([&] {
    gone = watch.expired();
    done.Signal();
  }));
  ASSERT_TRUE(done.Wait());
  EXPECT_TRUE(gone);
}

TEST(ControlThreadTest, StoppingWaitsForTheTaskThatRunsAndDropsTheOthers) {
  std::unique_ptr<ControlThread> control = *ControlThread::Start();
  TestEvent running;
  std::atomic<bool> finished{false};
  auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = owned;
  std::atomic<bool> release{false};
  EXPECT_TRUE(control->Post([&] {
    running.Signal();
    while (!release) std::this_thread::yield();
    finished = true;
  }));
  ASSERT_TRUE(running.Wait());
  // Posted last, so that the stop below may still be before it or not: it is dropped only
  // if it has not begun.
  EXPECT_TRUE(control->Post([owned = std::move(owned)] {}));
  std::thread releaser([&] { release = true; });
  control.reset();
  releaser.join();
  EXPECT_TRUE(finished);
  EXPECT_TRUE(watch.expired());
}

TEST(ControlThreadTest, RefusesMoreThanItsLimit) {
  const std::unique_ptr<ControlThread> control = *ControlThread::Start();
  TestEvent running;
  TestEvent release;
  EXPECT_TRUE(control->Post([&] {
    running.Signal();
    EXPECT_TRUE(release.Wait());
  }));
  ASSERT_TRUE(running.Wait());
  int accepted = 0;
  while (control->Post([] {})) ASSERT_LE(++accepted, 1'000'000);
  EXPECT_GE(accepted, 1000);
  release.Signal();
}

}  // namespace
}  // namespace farcall
