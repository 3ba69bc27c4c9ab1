// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/sources/epoll_source.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "transport/loop/sources/epoll_source_testing.h"

namespace farcall {
namespace {

TEST_F(EpollSourceTest, CallsTheHandlerOfWhatIsReady) {
  const UniqueFd ready = Readable();
  const UniqueFd quiet = Quiet();
  Handler a;
  Handler b;
  Add(ready, a);
  Add(quiet, b);
  EXPECT_EQ(source_->size(), 2u);
  EXPECT_TRUE(source_->Poll());
  EXPECT_EQ(a.calls, 1);
  EXPECT_EQ(a.last, static_cast<uint32_t>(EPOLLIN));
  EXPECT_EQ(b.calls, 0);
}

TEST_F(EpollSourceTest, IsCrowdedWhileEventsOfLateCameForMoreThanOneWatch) {
  const UniqueFd one = Readable();
  const UniqueFd other = Quiet();
  Handler handler;
  Add(one, handler);
  Add(other, handler);
  for (int i = 0; i < 100; ++i) source_->Poll();
  EXPECT_FALSE(source_->crowded());
  Write(other);
  source_->Poll();
  EXPECT_TRUE(source_->crowded());
  uint64_t value = 0;
  ASSERT_EQ(::read(other.get(), &value, sizeof(value)), static_cast<ssize_t>(sizeof(value)));
  for (int i = 0; i < 10; ++i) source_->Poll();
  EXPECT_TRUE(source_->crowded());
  for (int i = 0; i < 100; ++i) source_->Poll();
  EXPECT_FALSE(source_->crowded());
}

TEST_F(EpollSourceTest, IsNotCrowdedOnceNothingHappensAnyMore) {
  const UniqueFd both[] = {Readable(), Readable()};
  Handler handler;
  for (const UniqueFd& one : both) {
    ASSERT_TRUE(source_->Add(one.get(), EPOLLIN | EPOLLET, handler).ok());
  }
  source_->Poll();
  EXPECT_TRUE(source_->crowded());
  for (int i = 0; i < 100; ++i) source_->Poll();
  EXPECT_EQ(handler.calls, 2);
  EXPECT_FALSE(source_->crowded());
}

TEST_F(EpollSourceTest, IsNotCrowdedByThoseThatAllHaveBulk) {
  const UniqueFd one = Readable();
  const UniqueFd other = Readable();
  Handler handler;
  source_->SetBulk(*source_->Add(one.get(), EPOLLIN, handler), true);
  const EpollSource::Watch second = *source_->Add(other.get(), EPOLLIN, handler);
  source_->Poll();
  EXPECT_TRUE(source_->crowded());
  source_->SetBulk(second, true);
  for (int i = 0; i < 100; ++i) source_->Poll();
  EXPECT_EQ(handler.calls, 202);
  EXPECT_FALSE(source_->crowded());
  source_->SetBulk(second, false);
  source_->Poll();
  EXPECT_TRUE(source_->crowded());
}

TEST_F(EpollSourceTest, IsNotCrowdedByWhatOnlyEndsASleep) {
  const UniqueFd one = Readable();
  const UniqueFd waker = Readable();
  Handler handler;
  Add(one, handler);
  ASSERT_TRUE(source_->Add(waker.get(), EPOLLIN, handler, /*crowds=*/false).ok());
  for (int i = 0; i < 100; ++i) source_->Poll();
  EXPECT_EQ(handler.calls, 200);
  EXPECT_FALSE(source_->crowded());
}

TEST_F(EpollSourceTest, NothingReadyIsNoWork) {
  EXPECT_FALSE(source_->Poll());
  const UniqueFd quiet = Quiet();
  Handler handler;
  Add(quiet, handler);
  EXPECT_FALSE(source_->Poll());
}

TEST_F(EpollSourceTest, AnEdgeComesOnceALevelUntilItIsConsumed) {
  const UniqueFd one = Readable();
  const UniqueFd two = Readable();
  Handler edge;
  Handler level;
  Add(one, edge, EPOLLIN | EPOLLET);
  Add(two, level);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(source_->Poll());
  EXPECT_EQ(edge.calls, 1);
  EXPECT_EQ(level.calls, 3);
}

TEST_F(EpollSourceTest, EachWriteToAnEventfdIsAnEdgeThoughNobodyReads) {
  const UniqueFd fd = Quiet();
  Handler handler;
  Add(fd, handler, EPOLLIN | EPOLLET);
  for (int i = 1; i <= 100; ++i) {
    Write(fd);
    ASSERT_TRUE(source_->Poll());
    ASSERT_FALSE(source_->Poll());
    ASSERT_EQ(handler.calls, i);
  }
}

TEST_F(EpollSourceTest, WaitFetchesForTheNextPoll) {
  const UniqueFd fd = Readable();
  Handler handler;
  Add(fd, handler, EPOLLIN | EPOLLET);
  EXPECT_FALSE(source_->fetched());
  source_->Wait();
  EXPECT_TRUE(source_->fetched());
  EXPECT_EQ(handler.calls, 0);
  EXPECT_TRUE(source_->Poll());
  EXPECT_FALSE(source_->fetched());
  EXPECT_EQ(handler.calls, 1);
}

TEST_F(EpollSourceTest, AHandlerMayAddMany) {
  std::vector<UniqueFd> fds;
  Handler quiet;
  const UniqueFd fd = Readable();
  Handler adder([&] {
    for (int i = 0; i < 100; ++i) {
      fds.push_back(Quiet());
      Add(fds.back(), quiet);
    }
  });
  Add(fd, adder, EPOLLIN | EPOLLET);
  EXPECT_TRUE(source_->Poll());
  EXPECT_EQ(source_->size(), 101u);
  EXPECT_EQ(quiet.calls, 0);
}

TEST_F(EpollSourceTest, ABatchIsBoundedAndTheRestComesNext) {
  constexpr size_t kMany = 300;
  std::vector<UniqueFd> fds;
  std::vector<std::unique_ptr<Handler>> handlers;
  for (size_t i = 0; i < kMany; ++i) {
    fds.push_back(Readable());
    handlers.push_back(std::make_unique<Handler>());
    Add(fds.back(), *handlers.back(), EPOLLIN | EPOLLET);
  }
  const auto called = [&] {
    size_t count = 0;
    for (const auto& handler : handlers) count += handler->calls > 0 ? 1 : 0;
    return count;
  };
  EXPECT_TRUE(source_->Poll());
  EXPECT_LT(called(), kMany);
  while (source_->Poll()) {
  }
  EXPECT_EQ(called(), kMany);
  for (const auto& handler : handlers) EXPECT_EQ(handler->calls, 1);
}

TEST_F(EpollSourceTest, WhatIsEnoughLeavesTheOthersForTheNextPoll) {
  const UniqueFd fds[] = {Readable(), Readable(), Readable()};
  Handler handler;
  for (const UniqueFd& fd : fds) Add(fd, handler, EPOLLIN | EPOLLET);
  const auto two = [&] { return handler.calls >= 2; };
  EXPECT_TRUE(source_->PollUntil(two));
  EXPECT_EQ(handler.calls, 2);
  EXPECT_TRUE(source_->fetched());
  EXPECT_TRUE(source_->PollUntil(two));
  EXPECT_EQ(handler.calls, 2);
  EXPECT_TRUE(source_->Poll());
  EXPECT_EQ(handler.calls, 3);
  EXPECT_FALSE(source_->fetched());
  EXPECT_FALSE(source_->Poll());
}

TEST_F(EpollSourceTest, SlotsAreUsedAgain) {
  const UniqueFd fd = Quiet();
  Handler handler;
  for (int i = 0; i < 10'000; ++i) {
    const EpollSource::Watch watch = Add(fd, handler);
    ASSERT_EQ(watch.slot, 0u);
    source_->Remove(watch, fd.get());
  }
  EXPECT_EQ(source_->size(), 0u);
}

TEST_F(EpollSourceTest, AFailedAddNamesTheDescriptorAndLeavesNothing) {
  Handler handler;
  const auto none = source_->Add(-1, EPOLLIN, handler);
  EXPECT_FALSE(none.ok());
  EXPECT_NE(none.status().message().find("descriptor -1"), absl::string_view::npos);
  const UniqueFd fd = Readable();
  Add(fd, handler);
  const auto twice = source_->Add(fd.get(), EPOLLIN, handler);
  EXPECT_EQ(twice.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(source_->size(), 1u);
  EXPECT_TRUE(source_->Poll());
  EXPECT_EQ(handler.calls, 1);
}

TEST_F(EpollSourceTest, ASignalEndsAWaitWithNothing) {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  struct sigaction before {};
  ASSERT_EQ(sigaction(SIGUSR2, &action, &before), 0);
  std::atomic<bool> back{false};
  std::thread waiter([&] {
    source_->Wait();
    back = true;
  });
  while (!back) {
    pthread_kill(waiter.native_handle(), SIGUSR2);
    std::this_thread::yield();
  }
  waiter.join();
  sigaction(SIGUSR2, &before, nullptr);
  EXPECT_FALSE(source_->fetched());
}

using EpollSourceDeathTest = EpollSourceTest;

TEST_F(EpollSourceDeathTest, WhatASleepFetchedIsNotThrownAway) {
  const UniqueFd fd = Readable();
  Handler handler;
  Add(fd, handler);
  source_->Wait();
  EXPECT_DEATH(source_->Wait(), "what a sleep fetched is polled before the next");
}

}  // namespace
}  // namespace farcall
