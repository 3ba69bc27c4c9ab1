// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/posted_call.h"

#include <memory>

#include "gtest/gtest.h"
#include "transport/base/clock.h"

namespace farcall {
namespace {

class PostedCallTest : public testing::Test {
 protected:
  SteadyClock clock_;
  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create(clock_);
  int calls_ = 0;
};

TEST_F(PostedCallTest, ComesFromTheMailboxOnce) {
  PostedCall call;
  EXPECT_TRUE(loop_->TryRun([&] {
    call.Post(*loop_, [&] { ++calls_; });
    EXPECT_EQ(calls_, 0);
  }));
  loop_->RunOnce();
  loop_->RunOnce();
  EXPECT_EQ(calls_, 1);
}

TEST_F(PostedCallTest, DoesNotComeAfterItsOwnersDeath) {
  auto call = std::make_unique<PostedCall>();
  call->Post(*loop_, [&] { ++calls_; });
  call.reset();
  loop_->RunOnce();
  EXPECT_EQ(calls_, 0);
}

TEST_F(PostedCallTest, MayDestroyItsOwner) {
  auto call = std::make_unique<PostedCall>();
  const auto state = std::make_shared<int>(0);
  call->Post(*loop_, [&, state] {
    call.reset();
    // Still there: what runs is kept until it has run.
    ++*state;
  });
  loop_->RunOnce();
  EXPECT_EQ(*state, 1);
  EXPECT_EQ(state.use_count(), 1);
}

TEST_F(PostedCallTest, ALaterOneReplacesAnEarlierOne) {
  PostedCall call;
  call.Post(*loop_, [&] { calls_ += 1; });
  call.Post(*loop_, [&] { calls_ += 10; });
  loop_->RunOnce();
  EXPECT_EQ(calls_, 10);
}

}  // namespace
}  // namespace farcall
