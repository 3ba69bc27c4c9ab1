// SPDX-License-Identifier: Apache-2.0
//
// A poll source that keeps account, on a loop that the test drives.

#ifndef FARCALL_TRANSPORT_LOOP_EVENT_LOOP_SOURCE_TESTING_H_
#define FARCALL_TRANSPORT_LOOP_EVENT_LOOP_SOURCE_TESTING_H_

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "transport/base/clock.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/loop_testing.h"

namespace farcall {

// A completion queue's stand-in that keeps account.
class FakeSource final : public PollSource {
 public:
  bool Poll() override {
    ++polls;
    if (on_poll) on_poll();
    return std::exchange(work, 0) > 0;
  }
  bool Arm() override {
    EXPECT_FALSE(armed);
    TakeEvents();
    armed = !refuse;
    return armed;
  }
  void Disarm() override {
    EXPECT_TRUE(armed) << "Disarm without Arm";
    armed = false;
    TakeEvents();
  }
  int fd() const override { return fd_.get(); }
  // The device has something.
  void Complete() {
    ++work;
    if (armed) Notify();
  }
  void Notify() {
    const uint64_t one = 1;
    EXPECT_EQ(::write(fd_.get(), &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
  }

  int work = 0;
  int polls = 0;
  bool armed = false;
  bool refuse = false;
  std::function<void()> on_poll;

 private:
  void TakeEvents() {
    uint64_t count = 0;
    while (::read(fd_.get(), &count, sizeof(count)) > 0) {
    }
  }

  UniqueFd fd_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

class EventLoopSourceTest : public testing::Test {
 protected:
  void Add(FakeSource& source) {
    ASSERT_TRUE(loop_->TryRun([&] { ASSERT_TRUE(loop_->AddSource(source).ok()); }));
  }
  void Remove(FakeSource& source) {
    ASSERT_TRUE(loop_->TryRun([&] { loop_->RemoveSource(source); }));
  }
  void Sleep() {
    loop_->Sleep();
    loop_->Awake();
  }

  SteadyClock clock_;
  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create(clock_);
  SleepGuard guard_{*loop_};
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_EVENT_LOOP_SOURCE_TESTING_H_
