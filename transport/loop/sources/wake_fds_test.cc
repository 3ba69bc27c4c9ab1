// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/sources/wake_fds.h"

#include <gtest/gtest.h>
#include <sys/timerfd.h>

#include <chrono>
#include <memory>

#include "transport/base/clock.h"
#include "transport/loop/sources/epoll_source.h"

namespace farcall {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

class Counter final : public FdHandler {
 public:
  void OnReady(uint32_t) override { ++edges; }
  int edges = 0;
};

class WakeFdsTest : public testing::Test {
 protected:
  WakeFdsTest() {
    EXPECT_TRUE(fds_->Add(wake_.event_fd(), EPOLLIN | EPOLLET, event_).ok());
    EXPECT_TRUE(fds_->Add(wake_.timer_fd(), EPOLLIN | EPOLLET, timer_).ok());
  }
  // How long the timer still has to go; zero: it is not running.
  Duration Remaining() {
    itimerspec spec{};
    EXPECT_EQ(::timerfd_gettime(wake_.timer_fd(), &spec), 0);
    return std::chrono::seconds(spec.it_value.tv_sec) + nanoseconds(spec.it_value.tv_nsec);
  }
  void Arm(TimePoint when) { wake_.ArmTimer(when, clock_.Now()); }

  SteadyClock clock_;
  WakeFds wake_ = *WakeFds::Create();
  std::unique_ptr<EpollSource> fds_ = *EpollSource::Create();
  Counter event_;
  Counter timer_;
};

TEST_F(WakeFdsTest, EveryWakeIsAnEdgeThoughNobodyReads) {
  for (int i = 1; i <= 100; ++i) {
    wake_.Wake();
    ASSERT_TRUE(fds_->Poll());
    ASSERT_FALSE(fds_->Poll());
    ASSERT_EQ(event_.edges, i);
  }
}

TEST_F(WakeFdsTest, EveryExpiryIsAnEdgeThoughNobodyReads) {
  for (int i = 1; i <= 100; ++i) {
    Arm(clock_.Now() + std::chrono::microseconds(100));
    fds_->Wait();
    fds_->Poll();
    wake_.OnTimer();
    ASSERT_EQ(timer_.edges, i);
    ASSERT_EQ(Remaining(), Duration(0));
  }
}

TEST_F(WakeFdsTest, APastTimeIsAnEdgeAtOnce) {
  for (const TimePoint past : {TimePoint::min(), TimePoint(Duration(-1)), TimePoint(Duration(0)),
                               TimePoint(Duration(1)), clock_.Now() - hours(1)}) {
    const int before = timer_.edges;
    Arm(past);
    fds_->Wait();
    fds_->Poll();
    wake_.OnTimer();
    EXPECT_EQ(timer_.edges, before + 1) << past.time_since_epoch().count();
  }
}

TEST_F(WakeFdsTest, TheEndOfTimeIsATime) {
  Arm(TimePoint::max());
  EXPECT_GT(Remaining(), hours(24 * 365));
  EXPECT_FALSE(fds_->Poll());
}

TEST_F(WakeFdsTest, NoTimeArmsNothing) {
  wake_.ArmTimer(std::nullopt, clock_.Now());
  EXPECT_EQ(Remaining(), Duration(0));
}

TEST_F(WakeFdsTest, ALaterTimeKeepsTheEarlierSetting) {
  const TimePoint now = clock_.Now();
  Arm(now + hours(1));
  Arm(now + hours(2));
  EXPECT_LE(Remaining(), hours(1));
  EXPECT_GT(Remaining(), milliseconds(1));
}

TEST_F(WakeFdsTest, AnEarlierTimeReplacesTheLater) {
  const TimePoint now = clock_.Now();
  Arm(now + hours(2));
  Arm(now + hours(1));
  EXPECT_LE(Remaining(), hours(1));
}

TEST_F(WakeFdsTest, ASettingThatHasPassedIsSpent) {
  const TimePoint now = clock_.Now();
  Arm(now - hours(1));
  // Its edge did not come, but the clock says so.
  Arm(now + hours(1));
  EXPECT_GT(Remaining(), milliseconds(1));
}

TEST_F(WakeFdsTest, ASettingThatHadItsEdgeIsSpentThoughTheClockLagsBehind) {
  const TimePoint when = clock_.Now();
  wake_.ArmTimer(when, when - milliseconds(1));
  fds_->Wait();
  fds_->Poll();
  wake_.OnTimer();
  ASSERT_EQ(timer_.edges, 1);
  // A clock that still reads less than `when` asks for it again, and must get it.
  wake_.ArmTimer(when, when - nanoseconds(1));
  fds_->Wait();
  fds_->Poll();
  EXPECT_EQ(timer_.edges, 2);
}

}  // namespace
}  // namespace farcall
