// SPDX-License-Identifier: Apache-2.0
//
// Attachments of requests that come to lie where the service wants them: where the bytes go, and
// what is refused before.

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "rpc/session/server/server_placement_testing.h"

namespace farcall {
namespace {

const std::string kBytes = "the attachment of a request";

TEST_F(ServerPlacementTest, WhateverTheCutsAllBytesComeToTheirPlace) {
  Accept();
  const std::string put = Put(1, kBytes);
  for (size_t step = 1; step <= put.size(); ++step) {
    placer_.memory.assign(40, '.');
    const uint64_t copied = NotLanded();
    wire_->landed = 0;
    Deliver(put, step);
    EXPECT_EQ(AnswerCode(), 0);
    ASSERT_EQ(attachments_.size(), 1u);
    EXPECT_EQ(attachments_.back().ToString(), kBytes);
    EXPECT_EQ(static_cast<const void*>(attachments_.back().slices()[0].view().data()),
              placer_.memory.data());
    EXPECT_EQ(placer_.memory, kBytes + std::string(40 - kBytes.size(), '.'));
    EXPECT_EQ(wire_->landed + NotLanded() - copied, kBytes.size());
    if (step == 1) {
      EXPECT_EQ(wire_->landed, kBytes.size());
    }
    if (step == put.size()) {
      EXPECT_EQ(wire_->landed, 0u);
    }
    EXPECT_EQ(placer_.ended.back(), absl::OkStatus());
    EXPECT_EQ(placer_.ended.size(), step);
    attachments_.clear();
  }
}

TEST_F(ServerPlacementTest, ThePlacerKnowsTheHead) {
  placer_.place = [&](const IncomingRequest& request, PlaceReply reply) {
    EXPECT_EQ(request.method.full_name(), "farcall.one.Lone.Say");
    EXPECT_EQ(request.attachment_bytes, kBytes.size());
    EXPECT_EQ(request.message_bytes, one::Ping().ByteSizeLong() + 7);
    EXPECT_EQ(request.message, nullptr);
    EXPECT_EQ(*request.controller.request_user_fields().Find("key"), "value");
    EXPECT_EQ(request.controller.log_id(), 77);
    EXPECT_EQ(request.controller.remote_side(), "192.0.2.1:80");
    placer_.Give(reply);
  };
  Accept();
  wire::RpcMeta meta = RequestMeta(1);
  meta.mutable_request()->set_log_id(77);
  wire::UserField& field = *meta.add_user_fields();
  field.set_key("key");
  field.set_value("value");
  Deliver(Put(1, kBytes, meta));
  EXPECT_EQ(AnswerCode(), 0);
  EXPECT_EQ(placer_.asked, 1);
}

TEST_F(ServerPlacementTest, InThePoolItIsAsWithoutAPlacer) {
  bool drops = false;
  placer_.place = [&](const IncomingRequest&, PlaceReply reply) {
    if (!drops) reply.Pool();
  };
  Accept();
  for (int i = 0; i < 4; ++i) {
    drops = i % 2 == 1;
    Deliver(Put(i, kBytes), i < 2 ? 1 : 1000);
    EXPECT_EQ(AnswerCode(), 0);
    EXPECT_EQ(attachments_.back().ToString(), kBytes);
  }
  EXPECT_EQ(NotLanded(), 0u);
  EXPECT_EQ(wire_->landed, 0u);
}

TEST_F(ServerPlacementTest, RequestsWithoutAnAttachmentAreNotAsked) {
  Accept();
  Deliver(Request(1, "hello"), 1);
  EXPECT_EQ(AnswerCode(), 0);
  EXPECT_EQ(placer_.asked, 0);
}

TEST_F(ServerPlacementTest, ARequestWhoseHeadCameFirstIsForItsOwnMethod) {
  Accept();
  Deliver(Request(1, "hello"));
  EXPECT_EQ(AnswerCode(), 0);
  wire::RpcMeta meta = RequestMeta(2);
  meta.mutable_request()->set_method_name("Whisper");
  for (const std::string& attachment : {std::string(), kBytes}) {
    Deliver(Put(2, attachment, meta));
    EXPECT_EQ(AnswerCode(), kNoMethod);
  }
}

TEST_F(ServerPlacementTest, WhatIsPlacedLaterWaitsAndHoldsUpNoAnswers) {
  std::optional<PlaceReply> later;
  placer_.place = [&](const IncomingRequest&, PlaceReply reply) { later = std::move(reply); };
  service_.say = [&](Controller&, google::protobuf::Closure* done) { closures_.push_back(done); };
  Accept();
  wire_->Deliver(Request(9));
  world_.Run();
  const std::string put = Put(1, kBytes);
  Deliver(put, 1, kBytes.size());
  ASSERT_TRUE(later);
  EXPECT_TRUE(wire_->paused) << "what is read now is copied later";
  AnswerOldest();
  EXPECT_EQ(wire_->TakeFrames().size(), 1u) << "another call goes on";
  std::thread([&] { placer_.Give(*later); }).join();
  world_.Run();
  EXPECT_FALSE(wire_->paused);
  DeliverRest(put, kBytes.size());
  EXPECT_EQ(wire_->landed, kBytes.size());
  EXPECT_EQ(placer_.memory.substr(0, kBytes.size()), kBytes);
  AnswerOldest();
  EXPECT_EQ(AnswerCode(), 0);
}

TEST_F(ServerPlacementTest, WhatHasComeWholeWaitsForItsPlaceAndHoldsUpNothing) {
  std::optional<PlaceReply> later;
  placer_.place = [&](const IncomingRequest&, PlaceReply reply) { later = std::move(reply); };
  Accept();
  wire_->Deliver(Put(1, kBytes) + Request(2));
  EXPECT_EQ(Answer().meta.correlation_id(), 2);
  placer_.Give(*later);
  EXPECT_EQ(Answer().meta.correlation_id(), 1);
  EXPECT_EQ(placer_.memory.substr(0, kBytes.size()), kBytes);
  EXPECT_EQ(NotLanded(), kBytes.size());
}

TEST_F(ServerPlacementTest, OneCallAtATimeIsEnough) {
  core_->options.max_concurrency_per_connection = 1;
  Accept();
  Deliver(Put(1, kBytes));
  EXPECT_EQ(AnswerCode(), 0);
  Deliver(Put(2, kBytes));
  EXPECT_EQ(AnswerCode(), 0);
  EXPECT_EQ(placer_.ended.size(), 2u);
}

// --- What is refused.

TEST_F(ServerPlacementTest, ARefusalIsAnsweredAtOnceAndTheRestIsDropped) {
  placer_.place = [](const IncomingRequest&, PlaceReply reply) { reply.Refuse(28, "disk full"); };
  Accept();
  const std::string put = Put(1, kBytes);
  Deliver(put, 1, kBytes.size());
  const Frame refused = Answer();
  EXPECT_EQ(refused.meta.correlation_id(), 1);
  EXPECT_EQ(refused.meta.response().error_code(), 28);
  EXPECT_EQ(refused.meta.response().error_text(), "disk full");
  DeliverRest(put, kBytes.size());
  EXPECT_TRUE(wire_->input.empty());
  Deliver(Put(2, kBytes), 1000);
  EXPECT_EQ(AnswerCode(), 28);
  EXPECT_TRUE(service_.heard.empty());
}

TEST_F(ServerPlacementTest, LimitsHoldBeforeThePlacerIsAsked) {
  Keep();
  Accept();
  core_->limit.Set(1);
  wire_->Deliver(Request(1));
  world_.Run();
  const std::string put = Put(2, kBytes);
  Deliver(put, 1, kBytes.size());
  EXPECT_EQ(AnswerCode(), kLimit);
  DeliverRest(put, kBytes.size());
  core_->limit.Set(0);
  core_->stopping = true;
  Deliver(put, 1, kBytes.size());
  EXPECT_EQ(AnswerCode(), kLogoff);
  DeliverRest(put, kBytes.size());
  core_->stopping = false;
  EXPECT_EQ(placer_.asked, 0);
  AnswerOldest();
}

TEST_F(ServerPlacementTest, TheSizeIsLimitedBeforeThePlacerIsAsked) {
  core_->options.max_body_size = 50;
  Accept();
  Deliver(Put(1, std::string(40, 'a')));
  EXPECT_EQ(AnswerCode(), kBadRequest);
  EXPECT_EQ(placer_.asked, 0);
}

TEST_F(ServerPlacementTest, TooLittleMemoryFailsTheRequest) {
  placer_.memory = "short";
  Accept();
  Deliver(Put(1, kBytes));
  EXPECT_EQ(AnswerCode(), kInternal);
  EXPECT_EQ(placer_.memory, "short");
  EXPECT_TRUE(absl::IsInternal(placer_.ended.at(0))) << placer_.ended.at(0);
  EXPECT_TRUE(Logged("has for it only 5"));
}

TEST_F(ServerPlacementTest, WhatAPlacerThrowsFailsTheRequest) {
  for (const bool answers : {false, true}) {
    placer_.place = [&](const IncomingRequest&, PlaceReply reply) {
      if (answers) placer_.Give(reply);
      throw std::runtime_error("no map");
    };
    if (wire_->handler == nullptr) Accept();
    Deliver(Put(1, kBytes));
    const Frame answer = Answer();
    EXPECT_EQ(answer.meta.response().error_code(), kInternal);
    EXPECT_EQ(answer.meta.response().error_text(), "the attachment placer threw: no map");
    EXPECT_EQ(placer_.ended.size(), answers ? 1u : 0u);
  }
  placer_.throws = true;
  Deliver(Put(2, kBytes));
  EXPECT_EQ(Answer().meta.response().error_text(), "the attachment placer threw: no table");
}

}  // namespace
}  // namespace farcall
