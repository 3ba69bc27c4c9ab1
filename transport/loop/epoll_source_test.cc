// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/epoll_source.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace farcall {
namespace {

class Handler final : public FdHandler {
 public:
  explicit Handler(std::function<void()> on_ready = nullptr) : on_ready_(std::move(on_ready)) {}
  void OnReady(uint32_t events) override {
    ++calls;
    last = events;
    if (on_ready_) on_ready_();
  }

  int calls = 0;
  uint32_t last = 0;

 private:
  std::function<void()> on_ready_;
};

// Readable from the first.
UniqueFd Readable() { return UniqueFd(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)); }
UniqueFd Quiet() { return UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

void Write(const UniqueFd& fd) {
  const uint64_t one = 1;
  ASSERT_EQ(::write(fd.get(), &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
}

class EpollSourceTest : public testing::Test {
 protected:
  EpollSource::Watch Add(const UniqueFd& fd, FdHandler& handler, uint32_t events = EPOLLIN) {
    auto watch = source_->Add(fd.get(), events, handler);
    EXPECT_TRUE(watch.ok()) << watch.status();
    return *watch;
  }

  std::unique_ptr<EpollSource> source_ = *EpollSource::Create();
};

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

TEST_F(EpollSourceTest, AStaleEventFindsNobody) {
  const UniqueFd fd = Readable();
  Handler gone;
  const EpollSource::Watch watch = Add(fd, gone);
  source_->Wait();
  source_->Remove(watch, fd.get());
  EXPECT_EQ(source_->size(), 0u);
  EXPECT_TRUE(source_->Poll());
  EXPECT_EQ(gone.calls, 0);
}

TEST_F(EpollSourceTest, AStaleEventDoesNotFindWhoHasTheSlotNow) {
  const UniqueFd fd = Readable();
  const UniqueFd quiet = Quiet();
  Handler gone;
  Handler fresh;
  const EpollSource::Watch old = Add(fd, gone);
  source_->Wait();
  source_->Remove(old, fd.get());
  const EpollSource::Watch now = Add(quiet, fresh);
  EXPECT_EQ(now.slot, old.slot);
  EXPECT_NE(now.generation, old.generation);
  EXPECT_TRUE(source_->Poll());
  EXPECT_EQ(gone.calls, 0);
  EXPECT_EQ(fresh.calls, 0);
}

TEST_F(EpollSourceTest, AHandlerMayRemoveOneWhoseEventIsInTheSameBatch) {
  const UniqueFd one = Readable();
  const UniqueFd two = Readable();
  EpollSource::Watch watches[2];
  std::unique_ptr<Handler> handlers[2];
  int calls = 0;
  // Whichever comes first removes and destroys the other.
  for (int i = 0; i < 2; ++i) {
    handlers[i] = std::make_unique<Handler>([&, i] {
      ++calls;
      source_->Remove(watches[1 - i], (i == 0 ? two : one).get());
      handlers[1 - i].reset();
    });
  }
  watches[0] = Add(one, *handlers[0]);
  watches[1] = Add(two, *handlers[1]);
  EXPECT_TRUE(source_->Poll());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(source_->size(), 1u);
}

TEST_F(EpollSourceTest, AHandlerMayRemoveItselfAndDie) {
  const UniqueFd fd = Readable();
  EpollSource::Watch watch;
  std::unique_ptr<Handler> handler;
  handler = std::make_unique<Handler>([&] { source_->Remove(watch, fd.get()); });
  watch = Add(fd, *handler);
  EXPECT_TRUE(source_->Poll());
  EXPECT_EQ(handler->calls, 1);
  EXPECT_FALSE(source_->Poll());
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

TEST_F(EpollSourceDeathTest, AWatchIsRemovedOnce) {
  const UniqueFd fd = Readable();
  Handler handler;
  const EpollSource::Watch watch = Add(fd, handler);
  source_->Remove(watch, fd.get());
  EXPECT_DEATH(source_->Remove(watch, fd.get()), "a watch is removed once");
}

TEST_F(EpollSourceDeathTest, AWatchIsRemovedBeforeItsDescriptorIsClosed) {
  UniqueFd fd = Readable();
  Handler handler;
  const EpollSource::Watch watch = Add(fd, handler);
  const int number = fd.get();
  fd.Reset();
  EXPECT_DEATH(source_->Remove(watch, number), "before its descriptor is closed");
}

TEST_F(EpollSourceDeathTest, WhatASleepFetchedIsNotThrownAway) {
  const UniqueFd fd = Readable();
  Handler handler;
  Add(fd, handler);
  source_->Wait();
  EXPECT_DEATH(source_->Wait(), "what a sleep fetched is polled before the next");
}

}  // namespace
}  // namespace farcall
