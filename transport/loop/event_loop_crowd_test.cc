// SPDX-License-Identifier: Apache-2.0
//
// A loop with much user code: what it looks at meanwhile, and what it sends.

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <memory>

#include "transport/base/clock.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

constexpr int kMuch = 200;

// Readable all the time, and told so with each look.
class Readable final : public FdHandler {
 public:
  explicit Readable(EventLoop& loop) : loop_(loop) {
    loop_.RunOrPost([this] { watch_ = *loop_.fds().Add(fd_.get(), EPOLLIN, *this); });
  }
  ~Readable() {
    loop_.RunOrPost([this] { loop_.fds().Remove(watch_, fd_.get()); });
  }
  void OnReady(uint32_t) override { ++looks; }

  int looks = 0;

 private:
  EventLoop& loop_;
  UniqueFd fd_{::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)};
  EpollSource::Watch watch_;
};

class EventLoopCrowdTest : public testing::Test {
 protected:
  void QueueUserCode(int pieces) {
    loop_->RunOrPost([&] {
      for (int i = 0; i < pieces; ++i) UserClosure::Queue(*loop_, [this] { ++ran_; });
    });
  }
  // A turn that ends after so many pieces of user code.
  void Turn(int pieces) {
    ASSERT_TRUE(loop_->Turn());
    DriverClaim::Piece piece = 0;
    for (int i = 0; i < pieces; ++i) loop_->TakeUser(piece)->Run();
    ASSERT_TRUE(loop_->EndTurn(piece));
  }
  void RunAll() {
    while (ran_ < kMuch) loop_->RunOnce();
  }

  ManualClock clock_;
  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create(clock_);
  int ran_ = 0;
};

TEST_F(EventLoopCrowdTest, DescriptorsAreLookedAtSeldomWhileMuchWaitsAndNeverForgotten) {
  Readable descriptor(*loop_);
  QueueUserCode(kMuch);
  for (int turn = 0; turn < 80; ++turn) Turn(1);
  EXPECT_EQ(descriptor.looks, 10);
  RunAll();
  const int before = descriptor.looks;
  for (int turn = 0; turn < 5; ++turn) Turn(0);
  EXPECT_EQ(descriptor.looks, before + 5) << "nothing waits";
}

TEST_F(EventLoopCrowdTest, OnceEnoughUserCodeHasComeOtherDescriptorsWaitForTheirTurn) {
  int came = 0;
  struct Request final : FdHandler {
    Request(EventLoop& loop, int& count) : loop_(loop), count_(count) {}
    void OnReady(uint32_t) override {
      for (int i = 0; i < 10; ++i) UserClosure::Queue(loop_, [this] { ++count_; });
    }
    EventLoop& loop_;
    int& count_;
  } request(*loop_, came);
  constexpr int kDescriptors = 20;
  UniqueFd fds[kDescriptors];
  EpollSource::Watch watches[kDescriptors];
  loop_->RunOrPost([&] {
    for (int i = 0; i < kDescriptors; ++i) {
      fds[i] = UniqueFd(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
      watches[i] = *loop_->fds().Add(fds[i].get(), EPOLLIN | EPOLLET, request);
    }
  });
  loop_->RunOnce();
  EXPECT_EQ(came, 70);
  EXPECT_FALSE(loop_->PrepareSleep()) << "the others have something";
  while (loop_->RunOnce()) {
  }
  EXPECT_EQ(came, 10 * kDescriptors);
  loop_->RunOrPost([&] {
    for (int i = 0; i < kDescriptors; ++i) loop_->fds().Remove(watches[i], fds[i].get());
  });
}

// Of several connections that send, the last is likely in the middle of what it sends.
TEST_F(EventLoopCrowdTest, WhileMuchWaitsWhoGatheredLastGoesOnForATurn) {
  CountingOutput first;
  CountingOutput last;
  first.flushes_first = last.flushes_first = true;
  const auto write = [&] {
    loop_->RunOrPost([&] {
      UserClosure::Queue(*loop_, [&] {
        loop_->RunOrPost([&] {
          loop_->FlushLater(first);
          loop_->FlushLater(last);
        });
      });
    });
  };
  write();
  QueueUserCode(kMuch);
  Turn(2);
  EXPECT_EQ(first.flushes, 1);
  EXPECT_EQ(last.flushes, 0);
  Turn(1);
  EXPECT_EQ(last.flushes, 1);
  RunAll();
  write();
  loop_->RunOnce();
  EXPECT_EQ(last.flushes, 2) << "little waits";
}

}  // namespace
}  // namespace farcall
