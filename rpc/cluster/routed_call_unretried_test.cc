// SPDX-License-Identifier: Apache-2.0
//
// Requests that are not sent again: the policy forbids it, or an answer came.

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "absl/strings/match.h"
#include "rpc/cluster/cluster_testing.h"
#include "rpc/retry_policy.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

TEST(RoutedCallTest, WhatMayHaveRunIsNotSentAgainWhereThePolicyForbidsIt) {
  ChannelOptions options;
  options.retry_policy = RetryPolicy::OnlyIfNotRun();
  ClusterWorld world(kTwo, options);
  const auto& call = world.Start();
  world.Connect();
  world.Break(world.One().server);
  EXPECT_EQ(call.ends, 1);
  EXPECT_EQ(call.controller.ErrorCode(), kFailedSocket);
  EXPECT_EQ(call.controller.retried_count(), 0);
}

TEST(RoutedCallTest, WhereThePolicyThrowsTheCallIsNotTriedAgain) {
  class Broken final : public RetryPolicy {
   public:
    bool ShouldRetry(const FailedAttempt&) const override { throw std::runtime_error("no rule"); }
  };
  ChannelOptions options;
  options.retry_policy = std::make_shared<Broken>();
  ClusterWorld world(kTwo, options);
  const auto& call = world.Start();
  world.FailConnects();
  EXPECT_EQ(call.ends, 1);
  EXPECT_EQ(call.controller.ErrorCode(), kFailedSocket);
  EXPECT_TRUE(absl::EndsWith(call.controller.ErrorText(),
                             " (not tried again: retry_policy threw: no rule)"))
      << call.controller.ErrorText();
}

TEST(RoutedCallTest, AnErrorOfTheServicesOwnIsAnAnswer) {
  ClusterWorld world(kTwo);
  const auto& call = world.Start();
  world.Connect();
  world.Answer(world.One(), 777, "no such key");
  EXPECT_EQ(call.ends, 1);
  EXPECT_EQ(call.controller.ErrorCode(), 777);
  EXPECT_EQ(call.controller.retried_count(), 0);
}

// The default policy repeats what a broken connection may have run, but not what was answered.
TEST(RoutedCallTest, ARequestWhoseAnswerBeganIsNotSentAgain) {
  ClusterWorld world("192.0.2.1:80");
  const auto& begun = world.Start();
  const auto& other = world.Start();
  world.Connect();
  const auto requests = world.Arrived();
  ASSERT_EQ(requests.size(), 2u);
  wire::RpcMeta meta;
  meta.mutable_response();
  meta.set_correlation_id(static_cast<int64_t>(requests[0].id));
  one::Ping ping;
  ping.set_text(std::string(1000, 'x'));
  const auto encoder = FrameEncoder::Create(meta, &ping, 0);
  std::string frame(encoder->head_size(), '\0');
  encoder->WriteTo(frame.data());
  // In pieces, the last of which never comes.
  world.wires[0].end->Deliver(frame.substr(0, 5));
  world.wires[0].end->Deliver(frame.substr(5, 500));
  world.wires[0].end->Deliver(frame.substr(505, 400));
  world.Break(requests[0].server);
  EXPECT_EQ(begun.ends, 1);
  EXPECT_EQ(begun.controller.ErrorCode(), kFailedSocket);
  EXPECT_EQ(begun.controller.retried_count(), 0);
  EXPECT_EQ(other.ends, 0);
  world.Advance(milliseconds(20));
  world.Connect();
  world.Answer(world.One());
  EXPECT_FALSE(other.controller.Failed()) << other.controller.ErrorText();
}

// It would be as large again.
TEST(RoutedCallTest, ARequestWhoseAnswerIsTooLargeIsNotSentAgain) {
  ChannelOptions options;
  options.max_body_size = 1024;
  ClusterWorld world(kTwo, options);
  const auto& call = world.Start();
  world.Connect();
  const ArrivedRequest request = world.One();
  world.wires[0].end->Deliver(ClusterWorld::FrameOfAnswer(request, 0, "", std::string(4096, 'a')));
  world.world.Run();
  EXPECT_EQ(call.ends, 1);
  EXPECT_EQ(call.controller.ErrorCode(), kBadResponse);
  EXPECT_TRUE(absl::StrContains(call.controller.ErrorText(), "max_body_size"))
      << call.controller.ErrorText();
  EXPECT_EQ(call.controller.retried_count(), 0);
  EXPECT_TRUE(world.Arrived().empty());
}

// Whatever a policy says: another server is not asked, either, where one has answered.
TEST(RoutedCallTest, ARequestThatTheServerFindsTooLargeIsNotSentAgain) {
  class Always final : public RetryPolicy {
   public:
    bool ShouldRetry(const FailedAttempt&) const override { return true; }
  };
  ChannelOptions options;
  options.retry_policy = std::make_shared<Always>();
  ClusterWorld world("192.0.2.1:80", options);
  const auto& first = world.Start();
  world.Connect();
  wire::RpcMeta meta;
  meta.set_correlation_id(static_cast<int64_t>(world.One().id));
  meta.mutable_response()->set_error_code(kBadRequest);
  meta.mutable_response()->set_max_body_size(1);
  const auto encoder = FrameEncoder::Create(meta, nullptr, 0);
  std::string answer(encoder->head_size(), '\0');
  encoder->WriteTo(answer.data());
  world.wires[0].end->Deliver(answer);
  world.world.Run();
  EXPECT_EQ(first.ends, 1);
  EXPECT_EQ(first.controller.retried_count(), 0);
  const auto& second = world.Start();
  world.world.Run();
  EXPECT_EQ(second.ends, 1) << "it is refused here";
  EXPECT_EQ(second.controller.ErrorCode(), kBadRequest);
  EXPECT_EQ(second.controller.retried_count(), 0);
  EXPECT_TRUE(world.Arrived().empty());
}

}  // namespace
}  // namespace farcall
