// SPDX-License-Identifier: Apache-2.0
//
// When a loop with poll sources looks at descriptors.

#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <vector>

#include "transport/base/clock.h"
#include "transport/base/unique_fd.h"
#include "transport/loop/event_loop_source_testing.h"

namespace farcall {
namespace {

// Readable, and never read: each look finds it.
class Looks final : public FdHandler {
 public:
  explicit Looks(EventLoop& loop) : loop_(loop) {
    const uint64_t one = 1;
    EXPECT_EQ(::write(fd_.get(), &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
    EXPECT_TRUE(loop_.TryRun([&] { watch_ = *loop_.fds().Add(fd_.get(), EPOLLIN, *this); }));
  }
  ~Looks() {
    EXPECT_TRUE(loop_.TryRun([&] { loop_.fds().Remove(watch_, fd_.get()); }));
  }
  void OnReady(uint32_t) override { ++count; }
  int count = 0;

 private:
  EventLoop& loop_;
  UniqueFd fd_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  EpollSource::Watch watch_{};
};

TEST_F(EventLoopSourceTest, DescriptorsAreLookedAtInEachTurnWhileNoSourceHasWork) {
  FakeSource source;
  Add(source);
  Looks looks(*loop_);
  for (int i = 0; i < 100; ++i) loop_->RunOnce();
  EXPECT_EQ(looks.count, 100);
  Remove(source);
}

TEST_F(EventLoopSourceTest, ASourceThatIsBusySavesLooksAtDescriptorsButNotAll) {
  FakeSource source;
  Add(source);
  Looks looks(*loop_);
  for (int i = 0; i < 800; ++i) {
    if (i % 10 == 0) source.Complete();
    loop_->RunOnce();
  }
  EXPECT_GE(looks.count, 100);
  EXPECT_LT(looks.count, 200);
  Remove(source);
}

// In the time that the test says: a loop that stands still finds timers due.
class EventLoopStallTest : public testing::Test {
 protected:
  void Add(FakeSource& source) {
    ASSERT_TRUE(loop_->TryRun([&] { ASSERT_TRUE(loop_->AddSource(source).ok()); }));
  }
  void Remove(FakeSource& source) {
    ASSERT_TRUE(loop_->TryRun([&] { loop_->RemoveSource(source); }));
  }
  void SetTimer(Timer& timer, Duration after) {
    ASSERT_TRUE(loop_->TryRun([&] { loop_->SetTimer(timer, loop_->now() + after); }));
  }

  ManualClock clock_;
  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create(clock_);
};

TEST_F(EventLoopStallTest, DescriptorsAreLookedAtBeforeATimerFires) {
  FakeSource source;
  Add(source);
  // Wherever the loop is between two looks.
  for (int turns = 0; turns < 8; ++turns) {
    for (int i = 0; i < turns; ++i) {
      source.Complete();
      loop_->RunOnce();
    }
    Looks looks(*loop_);
    int seen = 0;
    Timer timer([&] { seen = looks.count; });
    SetTimer(timer, std::chrono::milliseconds(1));
    clock_.Advance(std::chrono::milliseconds(1));
    source.Complete();
    loop_->RunOnce();
    EXPECT_FALSE(timer.pending());
    EXPECT_EQ(seen, 1) << turns << " turns after a look";
  }
  Remove(source);
}

TEST_F(EventLoopStallTest, WhatASleepHasFetchedIsNotAllThatATimerWaitsFor) {
  Looks first(*loop_);
  ASSERT_TRUE(loop_->PrepareSleep());
  loop_->Sleep();
  loop_->Awake();
  Looks second(*loop_);
  int seen = 0;
  Timer timer([&] { seen = second.count; });
  SetTimer(timer, Duration::zero());
  loop_->RunOnce();
  EXPECT_EQ(seen, 1);
  EXPECT_GE(first.count, 1);
}

TEST_F(EventLoopStallTest, ATimerWaitsForAllDescriptorsHoweverMany) {
  std::vector<std::unique_ptr<Looks>> all;
  for (int i = 0; i < 400; ++i) all.push_back(std::make_unique<Looks>(*loop_));
  int unseen = -1;
  Timer timer([&] {
    unseen = 0;
    for (const auto& one : all) unseen += one->count == 0;
  });
  SetTimer(timer, Duration::zero());
  loop_->RunOnce();
  EXPECT_EQ(unseen, 0);
}

TEST_F(EventLoopStallTest, ALateTimerWaitsForAllThatASourceHas) {
  FakeSource source;
  Add(source);
  // A batch for each Poll.
  int left = 20;
  source.on_poll = [&] { source.work = left > 0 ? left-- : 0; };
  int seen = -1;
  Timer timer([&] { seen = left; });
  SetTimer(timer, std::chrono::seconds(1));
  clock_.Advance(std::chrono::seconds(11));
  loop_->RunOnce();
  EXPECT_EQ(seen, 0);
  Remove(source);
}

// One that always has work holds up nothing for ever.
TEST_F(EventLoopStallTest, ALateTimerFiresThoughASourceNeverRests) {
  FakeSource source;
  Add(source);
  source.on_poll = [&] { source.work = 1; };
  int fired = 0;
  Timer timer([&] { ++fired; });
  SetTimer(timer, std::chrono::seconds(1));
  clock_.Advance(std::chrono::seconds(11));
  loop_->RunOnce();
  EXPECT_EQ(fired, 1);
  Remove(source);
}

TEST_F(EventLoopSourceTest, ASleepSeesADescriptorThatTurnsHaveNotLookedAt) {
  FakeSource source;
  Add(source);
  Looks looks(*loop_);
  source.Complete();
  loop_->RunOnce();
  EXPECT_EQ(looks.count, 0);
  ASSERT_TRUE(loop_->PrepareSleep());
  Sleep();  // comes back at once
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_EQ(looks.count, 1);
  Remove(source);
}

}  // namespace
}  // namespace farcall
