// SPDX-License-Identifier: Apache-2.0
//
// Attachments of requests that come to lie where the service wants them: what ends one midway, and
// who has the memory then.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rpc/session/server/server_placement_testing.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

const std::string kBytes = "the attachment of a request";

class ServerPlacementEndsTest : public ServerPlacementTest {};

// Requests with a time.
wire::RpcMeta Within(int timeout_ms, wire::RpcMeta meta) {
  meta.mutable_request()->set_timeout_ms(timeout_ms);
  return meta;
}

TEST_F(ServerPlacementEndsTest, AConnectionThatDiesGivesTheMemoryBack) {
  Accept();
  Deliver(Put(1, kBytes), 1, 10);
  EXPECT_TRUE(placer_.ended.empty());
  wire_->End(absl::UnavailableError("closed by peer"));
  world_.Run();
  ASSERT_EQ(placer_.ended.size(), 1u);
  EXPECT_TRUE(absl::IsUnavailable(placer_.ended[0])) << placer_.ended[0];
  EXPECT_TRUE(service_.heard.empty());
}

TEST_F(ServerPlacementEndsTest, SoDoesOneThatDiesBeforeThePlaceIsKnown) {
  std::optional<PlaceReply> later;
  placer_.place = [&](const IncomingRequest&, PlaceReply reply) { later = std::move(reply); };
  Accept();
  Deliver(Put(1, kBytes), 1, 10);
  wire_->End(absl::UnavailableError("closed by peer"));
  world_.Run();
  EXPECT_EQ(core_->running.count(), 0) << "who is asked for ever is not waited for";
  placer_.Give(*later);
  ASSERT_EQ(placer_.ended.size(), 1u);
  EXPECT_TRUE(absl::IsCancelled(placer_.ended[0])) << placer_.ended[0];
}

TEST_F(ServerPlacementEndsTest, AnAnswerThatIsOnItsWayThenIsStillGivenBack) {
  std::optional<PlaceReply> later;
  placer_.place = [&](const IncomingRequest&, PlaceReply reply) { later = std::move(reply); };
  Accept();
  Deliver(Put(1, kBytes), 1, 10);
  world_.loop->RunOrPost([&] {
    placer_.Give(*later);
    std::exchange(wire_->handler, nullptr)->OnClose(absl::UnavailableError("closed by peer"));
  });
  EXPECT_TRUE(placer_.ended.empty());
  world_.Run();
  ASSERT_EQ(placer_.ended.size(), 1u);
  EXPECT_TRUE(absl::IsUnavailable(placer_.ended[0])) << placer_.ended[0];
}

TEST_F(ServerPlacementEndsTest, TheDeadlineEndsItAndTheConnectionGoesOn) {
  Accept();
  const std::string put = Put(1, kBytes, Within(20, RequestMeta(1)));
  Deliver(put, 1, 10);
  const std::string before = placer_.memory;
  world_.clock.Advance(milliseconds(21));
  const Frame answer = Answer();
  EXPECT_EQ(answer.meta.response().error_code(), kRpcTimedOut);
  ASSERT_EQ(placer_.ended.size(), 1u);
  EXPECT_TRUE(absl::IsDeadlineExceeded(placer_.ended[0])) << placer_.ended[0];
  EXPECT_EQ(core_->counters.late, 1u);
  DeliverRest(put, 10);
  EXPECT_EQ(placer_.memory, before) << "nothing is written there any more";
  Deliver(Put(2, kBytes));
  EXPECT_EQ(AnswerCode(), 0);
}

TEST_F(ServerPlacementEndsTest, TheDeadlineEndsTheWaitForAPlace) {
  std::optional<PlaceReply> later;
  placer_.place = [&](const IncomingRequest&, PlaceReply reply) { later = std::move(reply); };
  Accept();
  const std::string put = Put(1, kBytes, Within(20, RequestMeta(1)));
  Deliver(put, 1, 10);
  EXPECT_TRUE(wire_->paused);
  world_.clock.Advance(milliseconds(21));
  EXPECT_EQ(AnswerCode(), kRpcTimedOut);
  EXPECT_FALSE(wire_->paused);
  DeliverRest(put, 10);
  Deliver(Request(2));
  EXPECT_EQ(AnswerCode(), 0);
  placer_.Give(*later);
  EXPECT_EQ(placer_.ended.size(), 1u);
}

TEST_F(ServerPlacementEndsTest, AServiceThatNeverSaysWhereIsWaitedForOnlyAsLongAsAPeer) {
  core_->options.read_timeout_ms = 1000;
  std::optional<PlaceReply> later;
  placer_.place = [&](const IncomingRequest&, PlaceReply reply) { later = std::move(reply); };
  Accept();
  const std::string put = Put(1, kBytes);
  Deliver(put, 1, 10);
  world_.clock.Advance(milliseconds(900));
  world_.Run();
  EXPECT_TRUE(wire_->TakeFrames().empty());
  world_.clock.Advance(milliseconds(101));
  EXPECT_EQ(AnswerCode(), kRpcTimedOut);
  DeliverRest(put, 10);
  Deliver(Request(2));
  EXPECT_EQ(AnswerCode(), 0);
  later.reset();
}

TEST_F(ServerPlacementEndsTest, WhatADeviceStillWritesToComesBackWhenItHasLetGo) {
  Accept();
  Deliver(Put(1, kBytes), 1, 10);
  std::shared_ptr<void> hold;
  world_.loop->RunOrPost([&] {
    EXPECT_EQ(wire_->handler->PlaceFor(0, 5).size(), 5u);
    hold = wire_->handler->HoldPlace();
  });
  ASSERT_NE(hold, nullptr);
  wire_->End(absl::UnavailableError("closed by peer"));
  world_.Run();
  EXPECT_TRUE(placer_.ended.empty());
  EXPECT_EQ(core_->running.count(), 1) << "the server waits for it";
  world_.loop->RunOrPost([&] { hold = nullptr; });
  world_.Run();
  EXPECT_EQ(placer_.ended.size(), 1u);
}

TEST_F(ServerPlacementEndsTest, AServerThatStopsAnswersAndGivesTheMemoryBack) {
  std::optional<PlaceReply> later;
  bool keeps = false;
  placer_.place = [&](const IncomingRequest&, PlaceReply reply) {
    if (keeps) later = std::move(reply);
    if (!keeps) placer_.Give(reply);
  };
  for (const bool waits : {false, true}) {
    keeps = waits;
    wire_ = std::make_shared<FakeWire>();
    wire_->loop = world_.loop.get();
    placer_.ended.clear();
    Accept();
    Deliver(Put(1, kBytes), 1, 10);
    const auto session = core_->Sessions().front();
    std::vector<ServerCall*> calls;
    world_.loop->RunOrPost([&] { calls = session->ClaimWaiting(); });
    ASSERT_EQ(calls.size(), 1u);
    calls[0]->Refuse(kLogoff, "the server is stopping");
    calls[0]->Unref();
    EXPECT_EQ(AnswerCode(), kLogoff);
    EXPECT_EQ(placer_.ended.size(), waits ? 0u : 1u);
    CloseAll(absl::CancelledError("the server stopped"));
    world_.Run();
    EXPECT_EQ(AnswerCode(), kLogoff) << "a GOAWAY: each request that was read has its answer";
    EXPECT_EQ(core_->running.count(), 0);
    if (waits) placer_.Give(*later);
    EXPECT_EQ(placer_.ended.size(), 1u);
  }
}

}  // namespace
}  // namespace farcall
