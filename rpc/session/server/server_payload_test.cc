// SPDX-License-Identifier: Apache-2.0
//
// Compression, checksums, and what goes beside the messages.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "rpc/session/server/server_session_testing.h"
#include "rpc/wire/pack.h"

namespace farcall {
namespace {

class ServerPayloadTest : public ServerSessionTest {
 protected:
  // A request that is packed.
  std::string Packed(wire::RpcMeta meta, const std::string& text, const Packing& packing,
                     const std::string& attachment = "") {
    one::Ping ping;
    ping.set_text(text);
    Buffer beside;
    if (!attachment.empty()) beside.Append(absl::string_view(attachment));
    auto payload = Pack(ping, packing, beside, *world_.pool, meta);
    EXPECT_TRUE(payload.ok()) << payload.status();
    const auto encoder = FrameEncoder::Create(meta, *payload, attachment.size());
    std::string bytes(encoder->head_size(), '\0');
    encoder->WriteTo(bytes.data());
    return bytes + payload->ToString() + attachment;
  }
  std::string TextOf(const Frame& answer) {
    one::Ping pong;
    const absl::Status unpacked = Unpack(PayloadInfo::Of(answer.meta), answer.payload,
                                         answer.attachment, size_t{1} << 20, *world_.pool, pong);
    EXPECT_TRUE(unpacked.ok()) << unpacked;
    return pong.text();
  }
  const std::string text_ = std::string(3000, 'a');
};

TEST_F(ServerPayloadTest, AnswersAreCompressedAsTheirRequests) {
  Accept();
  for (const CompressType type : {COMPRESS_TYPE_NONE, COMPRESS_TYPE_SNAPPY, COMPRESS_TYPE_GZIP,
                                  COMPRESS_TYPE_ZLIB, COMPRESS_TYPE_LZ4}) {
    SCOPED_TRACE(type);
    wire_->Deliver(Packed(RequestMeta(1), text_, {.compress = type}));
    const Frame answer = Answer();
    EXPECT_EQ(answer.meta.response().error_code(), 0) << answer.meta.response().error_text();
    EXPECT_EQ(answer.meta.compress_type(), type);
    EXPECT_EQ(TextOf(answer), text_);
    EXPECT_EQ(answer.payload.size() < text_.size() / 2, type != COMPRESS_TYPE_NONE);
  }
}

TEST_F(ServerPayloadTest, TheHandlerMayChoose) {
  service_.say = [](Controller& controller, auto* done) {
    controller.set_response_compress_type(COMPRESS_TYPE_SNAPPY);
    controller.set_response_checksum_type(CHECKSUM_TYPE_CRC32C);
    controller.response_attachment().Append(absl::string_view("beside"));
    done->Run();
  };
  Accept();
  wire_->Deliver(Packed(RequestMeta(1), text_, {.compress = COMPRESS_TYPE_GZIP}));
  Frame answer = Answer();
  EXPECT_EQ(answer.meta.compress_type(), COMPRESS_TYPE_SNAPPY);
  EXPECT_EQ(answer.meta.checksum_type(), CHECKSUM_TYPE_CRC32C);
  EXPECT_TRUE(answer.meta.checksum_with_attachment());
  EXPECT_EQ(TextOf(answer), text_);
  EXPECT_EQ(answer.attachment.ToString(), "beside");

  service_.say = [](Controller& controller, auto* done) {
    controller.set_response_compress_type(COMPRESS_TYPE_NONE);
    controller.set_response_checksum_type(CHECKSUM_TYPE_NONE);
    done->Run();
  };
  wire_->Deliver(Packed(RequestMeta(2), text_,
                        {.compress = COMPRESS_TYPE_GZIP, .checksum = CHECKSUM_TYPE_CRC32C}));
  answer = Answer();
  EXPECT_FALSE(answer.meta.has_compress_type());
  EXPECT_FALSE(answer.meta.has_checksum_type());
}

TEST_F(ServerPayloadTest, ChecksumsAreVerifiedAndAnsweredInKind) {
  Accept();
  const Packing summed{.checksum = CHECKSUM_TYPE_CRC32C};
  const std::string good = Packed(RequestMeta(1), text_, summed, "attachment");
  wire_->Deliver(good);
  Frame answer = Answer();
  EXPECT_EQ(answer.meta.response().error_code(), 0) << answer.meta.response().error_text();
  EXPECT_EQ(answer.meta.checksum_type(), CHECKSUM_TYPE_CRC32C);
  EXPECT_EQ(TextOf(answer), text_);

  // A flipped bit at the end, which is in the attachment.
  std::string bad = good;
  bad.back() ^= 1;
  wire_->Deliver(bad);
  answer = Answer();
  EXPECT_EQ(answer.meta.response().error_code(), kBadRequest);
  EXPECT_TRUE(absl::StrContains(answer.meta.response().error_text(), "checksum"));
  EXPECT_EQ(service_.heard.size(), 1u);
  wire_->Deliver(good);
  EXPECT_EQ(Answer().meta.response().error_code(), 0) << "the connection goes on";
}

TEST_F(ServerPayloadTest, WhatIsLargerThanTheLimitWhenItIsUnpackedIsRefused) {
  core_->options.max_body_size = 64 << 10;
  Accept();
  const std::string zeros(size_t{4} << 20, '\0');
  for (const CompressType type :
       {COMPRESS_TYPE_SNAPPY, COMPRESS_TYPE_GZIP, COMPRESS_TYPE_ZLIB, COMPRESS_TYPE_LZ4}) {
    SCOPED_TRACE(type);
    const std::string small = Packed(RequestMeta(1), zeros, {.compress = type});
    if (small.size() > core_->options.max_body_size) continue;  // snappy: a 20th at best
    wire_->Deliver(small);
    const Frame answer = Answer();
    EXPECT_EQ(answer.meta.response().error_code(), kBadRequest);
    EXPECT_TRUE(service_.heard.empty());
  }
  EXPECT_LT(world_.pool->stats().used_bytes, size_t{1} << 20);
}

TEST_F(ServerPayloadTest, ABrokenCompressionIsAnswered) {
  Accept();
  for (const int type : {1, 2, 3, 4, 5, 99, -1}) {
    SCOPED_TRACE(type);
    wire::RpcMeta meta = RequestMeta(1);
    meta.set_compress_type(type);
    wire_->Deliver(Encoded(meta, "this is not compressed"));
    EXPECT_EQ(Answer().meta.response().error_code(), kBadRequest);
  }
  EXPECT_TRUE(service_.heard.empty());
}

TEST_F(ServerPayloadTest, OnlyProtobufIsTaken) {
  Accept();
  wire::RpcMeta meta = RequestMeta(1);
  meta.set_content_type(wire::CONTENT_JSON);
  wire_->Deliver(Encoded(meta, "hello"));
  const Frame answer = Answer();
  EXPECT_EQ(answer.meta.response().error_code(), kBadRequest);
  EXPECT_TRUE(absl::StrContains(answer.meta.response().error_text(), "content"))
      << answer.meta.response().error_text();
}

TEST_F(ServerPayloadTest, FieldsGoBothWays) {
  service_.say = [](Controller& controller, auto* done) {
    EXPECT_EQ(controller.log_id(), 99);
    EXPECT_EQ(controller.request_id(), "r-1");
    const std::string* const tenant = controller.request_user_fields().Find("tenant");
    ASSERT_NE(tenant, nullptr);
    EXPECT_EQ(*tenant, "second") << "of equal keys the last counts";
    controller.response_user_fields().Set("cost", "3");
    done->Run();
  };
  Accept();
  wire::RpcMeta meta = RequestMeta(1);
  meta.mutable_request()->set_log_id(99);
  meta.mutable_request()->add_request_id("r-1");
  for (const char* value : {"first", "second"}) {
    wire::UserField& field = *meta.add_user_fields();
    field.set_key("tenant");
    field.set_value(value);
  }
  wire_->Deliver(Encoded(meta, "hello"));
  const Frame answer = Answer();
  ASSERT_EQ(answer.meta.user_fields_size(), 1);
  EXPECT_EQ(answer.meta.user_fields(0).key(), "cost");
  EXPECT_EQ(answer.meta.user_fields(0).value(), "3");
}

TEST_F(ServerPayloadTest, WhatIsNoPlainTextIsNoRequestId) {
  service_.say = [](Controller& controller, auto* done) {
    EXPECT_EQ(controller.request_id(), "");
    done->Run();
  };
  Accept();
  wire::RpcMeta meta = RequestMeta(1);
  meta.mutable_request()->add_request_id("\n\x03key\x12\x05value");
  wire_->Deliver(Encoded(meta, "hello"));
  EXPECT_EQ(Answer().meta.response().error_code(), 0);
  meta.mutable_request()->clear_request_id();
  meta.mutable_request()->add_request_id("one");
  meta.mutable_request()->add_request_id("two");
  wire_->Deliver(Encoded(meta, "hello"));
  EXPECT_EQ(Answer().meta.response().error_code(), 0);
  EXPECT_EQ(service_.heard.size(), 2u);
}

TEST_F(ServerPayloadTest, TooManyFieldsAreRefused) {
  Accept();
  wire::RpcMeta meta = RequestMeta(1);
  for (int i = 0; i < 20'000; ++i) meta.add_user_fields()->set_key(std::to_string(i));
  wire_->Deliver(Encoded(meta, "hello"));
  EXPECT_EQ(Answer().meta.response().error_code(), kBadRequest);
  EXPECT_TRUE(service_.heard.empty());
}

TEST_F(ServerPayloadTest, TooLargeFieldsAreRefused) {
  Accept();
  wire::RpcMeta meta = RequestMeta(1);
  meta.add_user_fields()->set_value(std::string(65'537, 'x'));
  wire_->Deliver(Encoded(meta, "hello"));
  const Frame answer = Answer();
  EXPECT_EQ(answer.meta.response().error_code(), kBadRequest);
  EXPECT_TRUE(absl::StrContains(answer.meta.response().error_text(), "65537 bytes"))
      << answer.meta.response().error_text();
  EXPECT_TRUE(service_.heard.empty());
}

TEST_F(ServerPayloadTest, TooManyFieldsOfAnAnswerFailIt) {
  service_.say = [](Controller& controller, auto* done) {
    for (int i = 0; i < 257; ++i) controller.response_user_fields().Set(std::to_string(i), "");
    done->Run();
  };
  Accept();
  wire_->Deliver(Encoded(RequestMeta(1), "hello"));
  EXPECT_EQ(Answer().meta.response().error_code(), kBadResponse);
}

TEST_F(ServerPayloadTest, TooLargeFieldsOfAnAnswerFailIt) {
  service_.say = [](Controller& controller, auto* done) {
    controller.response_user_fields().Set("large", std::string(size_t{1} << 20, 'x'));
    done->Run();
  };
  Accept();
  wire_->Deliver(Request(1));
  const Frame answer = Answer();
  EXPECT_EQ(answer.meta.response().error_code(), kBadResponse);
  EXPECT_TRUE(absl::StrContains(answer.meta.response().error_text(), "response_user_fields"));
}

// Unlike what is larger than the limit, it may be sent again.
TEST_F(ServerPayloadTest, ARequestForWhichThereIsNoMemoryIsOvercrowded) {
  Accept();
  for (const CompressType type :
       {COMPRESS_TYPE_SNAPPY, COMPRESS_TYPE_GZIP, COMPRESS_TYPE_ZLIB, COMPRESS_TYPE_LZ4}) {
    SCOPED_TRACE(type);
    const std::string request = Packed(RequestMeta(1), text_, {.compress = type});
    std::vector<BlockRef> all;
    for (const uint32_t size : {BlockPool::kSmall, BlockPool::kMedium, BlockPool::kLarge}) {
      while (BlockRef block = world_.pool->Allocate(size)) all.push_back(std::move(block));
    }
    service_.heard.clear();
    wire_->Deliver(request);
    const Frame refused = Answer();
    EXPECT_EQ(refused.meta.response().error_code(), kOvercrowded);
    EXPECT_TRUE(absl::StrContains(refused.meta.response().error_text(), "pool.max_bytes"))
        << refused.meta.response().error_text();
    EXPECT_TRUE(service_.heard.empty());
    all.clear();
    wire_->Deliver(request);
    EXPECT_EQ(Answer().meta.response().error_code(), 0);
  }
}

}  // namespace
}  // namespace farcall
