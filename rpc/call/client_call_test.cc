// SPDX-License-Identifier: Apache-2.0

#include "rpc/call/client_call.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "rpc/call/client_call_testing.h"

namespace farcall {
namespace {

using std::chrono::microseconds;

TEST_F(ClientCallTest, AClosureRunsWithTheAnswerInPlace) {
  Answer(Message("hello", "beside"));
  EXPECT_FALSE(controller_.Failed()) << controller_.ErrorText();
  EXPECT_EQ(response_.message(), "hello");
  EXPECT_EQ(controller_.response_attachment().ToString(), "beside");
}

TEST_F(ClientCallTest, TheClosureMayDestroyControllerAndResponse) {
  struct Both {
    Controller controller;
    EchoMessage response;
  };
  auto* const both = new Both;
  std::string got;
  auto* const call = new ClientCall(environment_, Method(), both->controller, &both->response,
                                    NewClosure([&got, both] {
                                      got = both->response.message();
                                      delete both;
                                    }));
  loop_->RunOrPost([&] {
    Frame frame = Message("short life");
    call->Answer(frame);
    call->Complete(*loop_);
  });
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_EQ(got, "short life");
}

TEST_F(ClientCallTest, ASynchronousCallerWaitsForTheEndFromAnotherThread) {
  for (int round = 0; round < 200; ++round) {
    // On the stack, and gone as soon as the wait is over.
    auto call =
        std::make_unique<ClientCall>(environment_, Method(), controller_, &response_, nullptr);
    EXPECT_TRUE(call->synchronous());
    std::thread answerer([this, raw = call.get()] {
      loop_->RunOrPost([this, raw] {
        Frame frame = Message("from afar");
        raw->Answer(frame);
        raw->Complete(*loop_);
      });
    });
    call->Wait(*loop_);
    call.reset();
    EXPECT_EQ(response_.message(), "from afar");
    answerer.join();
  }
}

TEST_F(ClientCallTest, ASynchronousCallMayHaveEndedBeforeTheWait) {
  ClientCall call(environment_, Method(), controller_, &response_, nullptr);
  call.Fail(kOvercrowded, "full");
  loop_->RunOrPost([&] { call.Complete(*loop_); });
  call.Wait(*loop_);
  EXPECT_EQ(controller_.ErrorCode(), kOvercrowded);
  EXPECT_EQ(controller_.ErrorText(), "full");
}

TEST_F(ClientCallTest, FailureTellsCodeAndTextAndLeavesTheResponse) {
  response_.set_message("as it was");
  Frame frame = Message("not wanted", "nor this");
  frame.meta.mutable_response()->set_error_code(42);
  frame.meta.mutable_response()->set_error_text("the service says no");
  Answer(std::move(frame));
  EXPECT_EQ(controller_.ErrorCode(), 42);
  EXPECT_EQ(controller_.ErrorText(), "the service says no");
  EXPECT_EQ(response_.message(), "as it was");
  EXPECT_TRUE(controller_.response_attachment().empty());
}

TEST_F(ClientCallTest, AnErrorBelowZeroIsAnErrorToo) {
  Frame frame = Message("x");
  frame.meta.mutable_response()->set_error_code(-7);
  Answer(std::move(frame));
  EXPECT_TRUE(controller_.Failed());
  EXPECT_EQ(controller_.ErrorCode(), -7);
}

TEST_F(ClientCallTest, APayloadThatDoesNotParseIsABadResponse) {
  Answer(Response("\xff\xff\xff"));
  EXPECT_EQ(controller_.ErrorCode(), kBadResponse);
  EXPECT_EQ(controller_.ErrorText(),
            "the response does not parse: payload of 3 bytes is not a "
            "farcall.testing.EchoMessage: do both sides use the same .proto file?");
}

TEST_F(ClientCallTest, MissingRequiredFieldsAreNamed) {
  Answer(Response("", "an attachment"));
  EXPECT_EQ(controller_.ErrorCode(), kBadResponse);
  EXPECT_NE(controller_.ErrorText().find("lacks required fields: message"), std::string::npos)
      << controller_.ErrorText();
  EXPECT_TRUE(controller_.response_attachment().empty());
}

TEST_F(ClientCallTest, APackedResponseIsUnpackedAsItsMetaSays) {
  EchoMessage message;
  message.set_message(std::string(10'000, 'a'));
  Frame frame = Response("", "beside");
  const Packing packing{COMPRESS_TYPE_GZIP, CHECKSUM_TYPE_CRC32C};
  frame.payload = *Pack(message, packing, frame.attachment, *pool_, frame.meta);
  EXPECT_LT(frame.payload.size(), 1000u);
  Answer(std::move(frame));
  EXPECT_FALSE(controller_.Failed()) << controller_.ErrorText();
  EXPECT_EQ(response_.message(), message.message());
  EXPECT_EQ(controller_.response_attachment().ToString(), "beside");
}

TEST_F(ClientCallTest, WhatIsNotWhatItsMetaSaysIsABadResponse) {
  Frame compressed = Message("x");
  compressed.meta.set_compress_type(wire::COMPRESS_GZIP);
  Answer(std::move(compressed));
  EXPECT_EQ(controller_.ErrorCode(), kBadResponse);
  EXPECT_NE(controller_.ErrorText().find("gzip"), std::string::npos) << controller_.ErrorText();

  Controller other;
  ClientCall call(environment_, Method(), other, &response_, nullptr);
  Frame json = Message("x");
  json.meta.set_content_type(wire::CONTENT_JSON);
  call.Answer(json);
  loop_->RunOrPost([&] { call.Complete(*loop_); });
  call.Wait(*loop_);
  EXPECT_NE(other.ErrorText().find("content_type 1"), std::string::npos) << other.ErrorText();
}

TEST_F(ClientCallTest, UserFieldsComeWithSuccessAndWithErrors) {
  for (const int code : {0, 42}) {
    Frame frame = Message("x");
    frame.meta.mutable_response()->set_error_code(code);
    wire::UserField& field = *frame.meta.add_user_fields();
    field.set_key("trace");
    field.set_value("7");
    Answer(std::move(frame));
    EXPECT_EQ(controller_.ErrorCode(), code);
    ASSERT_NE(controller_.response_user_fields().Find("trace"), nullptr);
    EXPECT_EQ(*controller_.response_user_fields().Find("trace"), "7");
    controller_.Reset();
  }
}

TEST_F(ClientCallTest, MoreUserFieldsThanAreLookedAtAreABadResponse) {
  Frame frame = Message("x");
  for (int i = 0; i < 257; ++i) frame.meta.add_user_fields()->set_key(std::to_string(i));
  Answer(std::move(frame));
  EXPECT_EQ(controller_.ErrorCode(), kBadResponse);
  EXPECT_EQ(controller_.ErrorText(), "the response has 257 user_fields, over the limit, 256");
}

TEST_F(ClientCallTest, WithoutAMessageThePayloadIsNotLookedAt) {
  ClientCall call(environment_, Method(), controller_, nullptr, nullptr);
  Frame frame = Response("\xff\xff\xff", "only this");
  call.Answer(frame);
  loop_->RunOrPost([&] { call.Complete(*loop_); });
  call.Wait(*loop_);
  EXPECT_FALSE(controller_.Failed()) << controller_.ErrorText();
  EXPECT_EQ(controller_.response_attachment().ToString(), "only this");
}

TEST_F(ClientCallTest, TheControllerLearnsLatencyAndConnection) {
  ClientCall call(environment_, Method(), controller_, &response_, nullptr);
  EXPECT_EQ(call.started(), clock_.Now());
  auto info = std::make_shared<ConnectionInfo>();
  info->peer = Address::Ipv4({10, 0, 0, 7}, 8002);
  call.set_connection(info);
  call.Fail(ECANCELED, "enough");
  clock_.Advance(microseconds(1234));
  loop_->RunOrPost([&] { call.Complete(*loop_); });
  call.Wait(*loop_);
  EXPECT_EQ(controller_.latency_us(), 1234);
  EXPECT_EQ(controller_.remote_side(), "10.0.0.7:8002");
}

TEST_F(ClientCallTest, KnowsOfACancellation) {
  ClientCall call(environment_, Method(), controller_, &response_, nullptr);
  EXPECT_FALSE(call.canceled());
  controller_.StartCancel();
  EXPECT_TRUE(call.canceled());
}

TEST_F(ClientCallTest, AResponseForWhichThereIsNoMemoryIsNoBadOne) {
  const std::unique_ptr<BlockPool> small =
      *BlockPool::Create({.region_bytes = size_t{2} << 20, .max_bytes = size_t{6} << 20});
  environment_ = std::make_shared<const CallEnvironment>(
      CallEnvironment{&clock_, small.get(), size_t{64} << 20, {}});
  EchoMessage message;
  message.set_message(std::string(size_t{8} << 20, 'a'));
  for (const CompressType type : {COMPRESS_TYPE_GZIP, COMPRESS_TYPE_SNAPPY}) {
    Frame frame = Response("");
    frame.payload =
        *Pack(message, {type, CHECKSUM_TYPE_NONE}, frame.attachment, *pool_, frame.meta);
    Answer(std::move(frame));
    EXPECT_EQ(controller_.ErrorCode(), kOvercrowded);
    EXPECT_NE(controller_.ErrorText().find("pool.max_bytes"), std::string::npos)
        << controller_.ErrorText();
    controller_.Reset();
  }
}

}  // namespace
}  // namespace farcall
