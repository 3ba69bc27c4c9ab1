// SPDX-License-Identifier: Apache-2.0
//
// What a channel makes of its timeouts, in the time of the test.

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "rpc/closure.h"
#include "rpc/dispatch/test_services.pb.h"
#include "rpc/runtime/channel.h"
#include "rpc/runtime/runtime.h"
#include "rpc/session/session_testing.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

class ChannelTimeoutTest : public ::testing::Test {
 protected:
  // A call with a closure on a new channel; returns the frame that left, if one did.
  std::optional<Frame> Call(const ChannelOptions& given = {}) {
    ChannelOptions options = given;
    options.runtime = runtime_.get();
    options.max_retry = 0;
    const auto channel = *Channel::Create("192.0.2.1:80", options);
    ended_ = false;
    one::Lone_Stub(channel.get()).Say(&controller_, &ping_, &pong_, NewClosure([this] {
      ended_ = true;
    }));
    EXPECT_FALSE(ended_) << "never from inside the call";
    deadline_ = controller_.deadline();
    world_.Run();
    if (world_.transport.attempts.empty()) return std::nullopt;
    const auto wire = world_.transport.Succeed();
    std::vector<Frame> frames = wire->TakeFrames();
    wire->End(absl::UnavailableError("enough"));
    world_.Run();
    EXPECT_TRUE(ended_);
    if (frames.size() != 1) return std::nullopt;
    return std::move(frames.front());
  }

  SessionWorld world_;
  std::unique_ptr<Runtime> runtime_ = Runtime::On(world_.parts);
  Controller controller_;
  one::Ping ping_;
  one::Ping pong_;
  TimePoint deadline_;
  bool ended_ = false;
};

TEST_F(ChannelTimeoutTest, TheChannelsTimeoutIsSentAndKept) {
  ChannelOptions options;
  options.timeout_ms = 1234;
  const auto frame = Call(options);
  ASSERT_TRUE(frame.has_value());
  EXPECT_EQ(frame->meta.request().timeout_ms(), 1234);
  EXPECT_EQ(deadline_, world_.clock.Now() + milliseconds(1234));
}

TEST_F(ChannelTimeoutTest, TheControllersOwnGoesBeforeIt) {
  controller_.set_timeout_ms(77);
  const auto frame = Call();
  ASSERT_TRUE(frame.has_value());
  EXPECT_EQ(frame->meta.request().timeout_ms(), 77);
  EXPECT_EQ(deadline_, world_.clock.Now() + milliseconds(77));
}

TEST_F(ChannelTimeoutTest, BelowZeroIsNoLimitAndIsNotSent) {
  controller_.set_timeout_ms(-1);
  const auto frame = Call();
  ASSERT_TRUE(frame.has_value());
  EXPECT_FALSE(frame->meta.request().has_timeout_ms());
  EXPECT_EQ(deadline_, TimePoint::max());
}

// More than can be added to the time now, or said in the meta.
TEST_F(ChannelTimeoutTest, AHugeOneIsTheLongestNotThePast) {
  for (const int64_t huge : {int64_t{INT32_MAX} + 1, INT64_MAX / 1'000'000, INT64_MAX}) {
    SCOPED_TRACE(huge);
    controller_.set_timeout_ms(huge);
    const auto frame = Call();
    ASSERT_TRUE(frame.has_value());
    EXPECT_EQ(frame->meta.request().timeout_ms(), INT32_MAX);
    EXPECT_EQ(deadline_, world_.clock.Now() + milliseconds(INT32_MAX));
  }
}

TEST_F(ChannelTimeoutTest, WithoutTimeNothingIsSent) {
  controller_.set_timeout_ms(0);
  EXPECT_FALSE(Call().has_value());
  EXPECT_TRUE(ended_);
  EXPECT_EQ(controller_.ErrorCode(), kRpcTimedOut);
  EXPECT_EQ(controller_.ErrorText(), "no time was left to send the request to 192.0.2.1:80");
}

TEST_F(ChannelTimeoutTest, ACallThatWasCancelledBeforeEndsLaterAllTheSame) {
  controller_.StartCancel();
  EXPECT_FALSE(Call().has_value());
  EXPECT_TRUE(ended_);
  EXPECT_EQ(controller_.ErrorCode(), ECANCELED);
}

}  // namespace
}  // namespace farcall
