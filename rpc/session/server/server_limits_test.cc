// SPDX-License-Identifier: Apache-2.0
//
// What a server bounds, and counts: calls, connections, lines about peers.

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "rpc/interceptor.h"
#include "rpc/session/server/server_session_testing.h"
#include "rpc/stats/error_class.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ServerLimitsTest : public ServerSessionTest {
 protected:
  MethodState& Say() { return *core_->services.Find("Lone.Say").state; }
};

TEST_F(ServerLimitsTest, OfAMethod) {
  Say().limit.Set(1);
  Keep();
  Accept();
  wire_->Deliver(Request(1));
  world_.Run();
  wire_->Deliver(Request(2));
  const Frame refused = Answer();
  EXPECT_EQ(refused.meta.correlation_id(), 2);
  EXPECT_EQ(refused.meta.response().error_code(), kLimit);
  EXPECT_EQ(refused.meta.response().error_text(),
            "max_concurrency 1 of farcall.one.Lone.Say is reached");
  EXPECT_EQ(core_->counters.refused_limit, 1u);
  AnswerOldest();
  wire_->Deliver(Request(3));
  world_.Run();
  EXPECT_EQ(closures_.size(), 1u) << "there is room again";
  AnswerOldest();
}

TEST_F(ServerLimitsTest, OfTheServerGoesBeforeThatOfAMethod) {
  core_->limit.Set(1);
  Say().limit.Set(1);
  Keep();
  Accept();
  wire_->Deliver(Request(1));
  world_.Run();
  wire_->Deliver(Request(2));
  EXPECT_EQ(Answer().meta.response().error_text(), "max_concurrency 1 is reached");
  AnswerOldest();
  EXPECT_EQ(core_->limit.count(), 0);
  EXPECT_EQ(Say().limit.count(), 0);
}

TEST_F(ServerLimitsTest, ARefusalAtTheMethodTakesNoPlaceAtTheServer) {
  core_->limit.Set(2);
  Say().limit.Set(1);
  Keep();
  Accept();
  wire_->Deliver(Request(1));
  world_.Run();
  for (int i = 2; i < 6; ++i) wire_->Deliver(Request(i));
  world_.Run();
  EXPECT_EQ(core_->limit.count(), 1);
  EXPECT_EQ(core_->unanswered.count(), 1);
  AnswerOldest();
}

TEST_F(ServerLimitsTest, CallsAreCountedByTheirOutcome) {
  Accept();
  wire_->Deliver(Request(1));
  service_.say = [](Controller& controller, auto* done) {
    controller.SetFailed(kInternal, "no");
    done->Run();
  };
  world_.Run();
  wire_->Deliver(Request(2));
  world_.Run();
  Say().limit.Set(1);
  Keep();
  wire_->Deliver(Request(3) + Request(4));
  world_.Run();
  const MethodSnapshot counts = Say().stats.snapshot();
  EXPECT_EQ(counts.started, 3u);
  EXPECT_EQ(counts.ended_count(), 2u);
  EXPECT_EQ(counts.refused_count(), 1u);
  EXPECT_EQ(counts.errors(), 3u);
  EXPECT_EQ(counts.in_flight(), 1u);
  AnswerOldest();
}

TEST_F(ServerLimitsTest, OneConnectionTooManyIsClosedAndToldOnce) {
  core_->options.max_connections = 1;
  Accept();
  for (int i = 0; i < 5; ++i) {
    const auto late = std::make_shared<FakeWire>();
    world_.loop->RunOrPost([&] {
      ServerSession::Accept(core_, *world_.loop,
                            std::make_unique<FakeConnection>(*world_.loop, *world_.pool, late));
    });
    EXPECT_TRUE(late->destroyed);
  }
  EXPECT_EQ(core_->connections.count(), 1);
  EXPECT_EQ(core_->counters.over_max_connections, 5u);
  EXPECT_EQ(world_.log,
            std::vector<std::string>{"max_connections 1 is reached: new connections are closed"});
  wire_->Deliver(Request(1));
  EXPECT_EQ(Answer().meta.response().error_code(), 0) << "the first one noticed nothing";
}

TEST_F(ServerLimitsTest, LinesAboutPeersAreFew) {
  for (int i = 0; i < 1000; ++i) core_->LogPeer(absl::StrCat("line ", i));
  EXPECT_EQ(world_.log.size(), static_cast<size_t>(LineLimit::kAtOnce));
  world_.clock.Advance(seconds(1));
  core_->LogPeer("the next");
  EXPECT_EQ(world_.log.back(), absl::StrCat("the next (", 1000 - LineLimit::kAtOnce,
                                            " lines about peers were left out before)"));
  EXPECT_EQ(core_->counters.lines_left_out, 1000u - LineLimit::kAtOnce);
}

TEST_F(ServerLimitsTest, ARequestWhoseTimeIsOverIsCountedAndNotRun) {
  Accept();
  wire::RpcMeta meta = RequestMeta(1);
  meta.mutable_request()->set_timeout_ms(50);
  wire_->Deliver(Encoded(meta, "late"));
  world_.clock.Advance(milliseconds(51));
  EXPECT_EQ(Answer().meta.response().error_code(), kRpcTimedOut);
  EXPECT_TRUE(service_.heard.empty());
  EXPECT_EQ(core_->counters.late, 1u);
}

class Doorkeeper final : public ServerInterceptor {
 public:
  bool OnRequest(const google::protobuf::MethodDescriptor&, Controller& controller,
                 const google::protobuf::Message&) override {
    controller.SetFailed(kLimit, "not you");
    return false;
  }
};

// Else a flood of them, each of which takes no time, would raise the limit.
TEST_F(ServerLimitsTest, RequestsThatNoHandlerRanAreNoMeasureOfWhatHandlersBear) {
  core_->options.interceptors.push_back(std::make_shared<Doorkeeper>());
  Say().limit.Set(MaxConcurrency::Auto());
  core_->limit.Set(MaxConcurrency::Auto());
  Accept();
  std::string burst;
  for (int i = 0; i < AdaptiveLimit::kFirst; ++i) burst += Request(i);
  for (int i = 0; i < 500; ++i) {
    wire_->Deliver(burst);
    world_.clock.Advance(milliseconds(1));
    world_.Run();
    ASSERT_EQ(wire_->TakeFrames().size(), static_cast<size_t>(AdaptiveLimit::kFirst));
  }
  for (const ConcurrencyLimit* const limit : {&Say().limit, &core_->limit}) {
    EXPECT_EQ(limit->limit(), AdaptiveLimit::kFirst);
    EXPECT_EQ(limit->count(), 0);
  }
}

class ServerAnswerCountsTest : public ServerLimitsTest {
 protected:
  // Calls that ended with `code`, and with none of the others.
  void ExpectOnly(int code) {
    const MethodSnapshot counts = Say().stats.snapshot();
    EXPECT_EQ(counts.ended_count(), 1u);
    EXPECT_EQ(counts.ended[ErrorClassOf(code)], 1u);
  }
  std::vector<BlockRef> TakeAllBlocks() {
    std::vector<BlockRef> all;
    for (const uint32_t size : {BlockPool::kSmall, BlockPool::kMedium, BlockPool::kLarge}) {
      while (BlockRef block = world_.pool->Allocate(size)) all.push_back(std::move(block));
    }
    return all;
  }
};

TEST_F(ServerAnswerCountsTest, AnAnswerThatMayNotBeSentIsNoSuccess) {
  service_.say = [](Controller& controller, auto* done) {
    for (int i = 0; i < 257; ++i) controller.response_user_fields().Set(std::to_string(i), "");
    done->Run();
  };
  Accept();
  wire_->Deliver(Request(1));
  EXPECT_EQ(Answer().meta.response().error_code(), kBadResponse);
  ExpectOnly(kBadResponse);
}

TEST_F(ServerAnswerCountsTest, AnAnswerWithoutMemoryIsNoSuccess) {
  Accept();
  const std::vector<BlockRef> all = TakeAllBlocks();
  wire_->Deliver(Request(1, std::string(5000, 'x')));
  EXPECT_EQ(Answer().meta.response().error_code(), kOvercrowded);
  EXPECT_EQ(service_.heard.size(), 1u);
  ExpectOnly(kOvercrowded);
}

TEST_F(ServerAnswerCountsTest, APackedAnswerWithoutMemoryIsNoSuccess) {
  service_.say = [](Controller& controller, auto* done) {
    controller.set_response_compress_type(COMPRESS_TYPE_GZIP);
    done->Run();
  };
  Accept();
  const std::vector<BlockRef> all = TakeAllBlocks();
  wire_->Deliver(Request(1, "x"));
  EXPECT_EQ(Answer().meta.response().error_code(), kOvercrowded);
  ExpectOnly(kOvercrowded);
}

TEST_F(ServerAnswerCountsTest, WhatIsSentIsCountedOnce) {
  Accept();
  for (const size_t size : {10, 5000}) {
    wire_->Deliver(Request(1, std::string(size, 'x')));
    EXPECT_EQ(Answer().meta.response().error_code(), 0);
  }
  const MethodSnapshot counts = Say().stats.snapshot();
  EXPECT_EQ(counts.ended_count(), 2u);
  EXPECT_EQ(counts.errors(), 0u);
}

}  // namespace
}  // namespace farcall
