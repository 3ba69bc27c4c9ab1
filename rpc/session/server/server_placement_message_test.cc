// SPDX-License-Identifier: Apache-2.0
//
// Attachments that come to lie where the service wants them: what is known of a request before
// they come, to the interceptors and to the placer.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "rpc/interceptor.h"
#include "rpc/session/server/server_placement_testing.h"

namespace farcall {
namespace {

const std::string kBytes = "the attachment of a request";

class Doorman final : public ServerInterceptor {
 public:
  bool OnIncoming(const google::protobuf::MethodDescriptor& method, Controller& controller,
                  size_t attachment_bytes) override {
    ++asked;
    EXPECT_EQ(method.name(), "Say");
    EXPECT_EQ(attachment_bytes, kBytes.size());
    if (opens) return true;
    controller.SetFailed(13, "not today");
    return false;
  }
  bool OnRequest(const google::protobuf::MethodDescriptor&, Controller&,
                 const google::protobuf::Message&) override {
    ++requests;
    return true;
  }
  void OnAnswer(const google::protobuf::MethodDescriptor&, Controller&,
                const google::protobuf::Message*) override {
    ++answers;
  }

  bool opens = false;
  int asked = 0;
  int requests = 0;
  int answers = 0;
};

TEST_F(ServerPlacementTest, AnInterceptorRefusesBeforeAByteIsWritten) {
  const auto doorman = std::make_shared<Doorman>();
  core_->options.interceptors.push_back(doorman);
  Accept();
  Deliver(Put(1, kBytes));
  const Frame refused = Answer();
  EXPECT_EQ(refused.meta.response().error_code(), 13);
  EXPECT_EQ(refused.meta.response().error_text(), "not today");
  EXPECT_EQ(placer_.asked + doorman->requests + doorman->answers, 0);
  doorman->opens = true;
  Deliver(Put(2, kBytes));
  EXPECT_EQ(AnswerCode(), 0);
  EXPECT_EQ(doorman->asked, 2);
  EXPECT_EQ(doorman->requests, 1);
  EXPECT_EQ(doorman->answers, 1);
}

TEST_F(ServerPlacementTest, TheMessageIsShownToWhoWantsIt) {
  placer_.wants = true;
  placer_.place = [&](const IncomingRequest& request, PlaceReply reply) {
    ASSERT_NE(request.message, nullptr);
    EXPECT_EQ(dynamic_cast<const one::Ping&>(*request.message).text(), "put 5");
    placer_.Give(reply);
  };
  Accept();
  for (const CompressType compress : {COMPRESS_TYPE_NONE, COMPRESS_TYPE_GZIP}) {
    for (const ChecksumType checksum : {CHECKSUM_TYPE_NONE, CHECKSUM_TYPE_CRC32C}) {
      for (const size_t step : {1, 1000}) {
        Deliver(Put(5, kBytes, RequestMeta(5), {compress, checksum}), step);
        EXPECT_EQ(AnswerCode(), 0);
      }
    }
  }
  EXPECT_EQ(placer_.asked, 8);
  EXPECT_EQ(placer_.ended, std::vector<absl::Status>(8));
}

TEST_F(ServerPlacementTest, AMessageThatDoesNotParseIsRefusedAtOnce) {
  placer_.wants = true;
  Accept();
  wire::RpcMeta meta = RequestMeta(1);
  const Buffer payload(absl::string_view("\x0a\xffgarbage"));
  const auto encoder = FrameEncoder::Create(meta, payload, kBytes.size());
  std::string head(encoder->head_size(), '\0');
  encoder->WriteTo(head.data());
  Deliver(head + payload.ToString());
  EXPECT_EQ(AnswerCode(), kBadRequest);
  Deliver(kBytes);
  Deliver(Put(2, kBytes));
  EXPECT_EQ(AnswerCode(), 0);
  EXPECT_EQ(placer_.asked, 1);
}

TEST_F(ServerPlacementTest, ALargeMessageIsNotParsedOnTheLoop) {
  placer_.wants = true;
  placer_.place = [&](const IncomingRequest& request, PlaceReply reply) {
    EXPECT_EQ(request.message, nullptr);
    placer_.Give(reply);
  };
  Accept();
  one::Ping ping;
  ping.set_text(std::string(IncomingRequest::kMaxMessage, 'x'));
  for (const CompressType compress : {COMPRESS_TYPE_NONE, COMPRESS_TYPE_GZIP}) {
    wire::RpcMeta meta = RequestMeta(1);
    const auto payload = Pack(ping, {.compress = compress}, Buffer(kBytes), *world_.pool, meta);
    const auto encoder = FrameEncoder::Create(meta, *payload, kBytes.size());
    std::string head(encoder->head_size(), '\0');
    encoder->WriteTo(head.data());
    Deliver(head + payload->ToString() + kBytes, 4096);
    EXPECT_EQ(AnswerCode(), 0);
  }
  EXPECT_EQ(placer_.asked, 2);
}

TEST_F(ServerPlacementTest, AWrongChecksumIsAnErrorForBoth) {
  Accept();
  for (const size_t step : {1, 1000}) {
    std::string put = Put(1, kBytes, RequestMeta(1), {.checksum = CHECKSUM_TYPE_CRC32C});
    put.back() ^= 1;
    Deliver(put, step);
    EXPECT_EQ(AnswerCode(), kBadRequest);
    EXPECT_FALSE(placer_.ended.back().ok());
  }
  EXPECT_EQ(placer_.ended.size(), 2u);
  EXPECT_TRUE(service_.heard.empty());
}

TEST_F(ServerPlacementTest, WhatLiesInTheServicesMemoryDoesNotCountAsHeldForThePeer) {
  placer_.memory.assign(size_t{256} << 10, '.');
  Accept();
  const std::string put = Put(1, std::string(size_t{256} << 10, 'a'));
  Deliver(put.substr(0, 100), 100);
  Deliver(put.substr(100), 4096, 10);
  const auto session = core_->Sessions().front();
  world_.loop->RunOrPost([&] { EXPECT_LT(session->protocol()->Held(wire_->input), 200u); });
  DeliverRest(put, 10);
  EXPECT_EQ(AnswerCode(), 0);
}

}  // namespace
}  // namespace farcall
