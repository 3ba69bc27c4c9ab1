// SPDX-License-Identifier: Apache-2.0
//
// Random metas, messages, attachments and pieces: what goes in comes out.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/frame_testing.h"
#include "rpc/wire/payload.h"
#include "transport/buffer/block_pool.h"

namespace farcall {
namespace {

using google::protobuf::util::MessageDifferencer;
using testing::EchoMessage;

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  uint64_t Below(uint64_t limit) { return engine_() % limit; }
  bool Coin() { return Below(2) == 1; }
  int64_t Int64() { return static_cast<int64_t>(engine_() >> Below(64)); }
  int32_t Int32() { return static_cast<int32_t>(Int64()); }
  std::string Bytes(size_t limit) {
    std::string bytes(Below(limit), '\0');
    for (char& byte : bytes) byte = static_cast<char>(engine_());
    return bytes;
  }

 private:
  std::mt19937_64 engine_;
};

void FillRequest(Random& random, wire::RpcRequestMeta& request) {
  if (random.Coin()) request.set_service_name(random.Bytes(60));
  if (random.Coin()) request.set_method_name(random.Bytes(60));
  if (random.Coin()) request.set_log_id(random.Int64());
  if (random.Coin()) request.set_trace_id(random.Int64());
  if (random.Coin()) request.set_span_id(random.Int64());
  if (random.Coin()) request.set_parent_span_id(random.Int64());
  for (uint64_t i = random.Below(3); i > 0; --i) request.add_request_id(random.Bytes(20));
  if (random.Coin()) request.set_timeout_ms(random.Int32());
}

wire::RpcMeta AnyMeta(Random& random) {
  wire::RpcMeta meta;
  if (random.Coin()) FillRequest(random, *meta.mutable_request());
  if (random.Coin()) meta.mutable_response();
  if (random.Coin()) meta.mutable_response()->set_error_code(random.Int32());
  if (random.Coin()) meta.mutable_response()->set_error_text(random.Bytes(300));
  if (random.Coin()) meta.set_compress_type(random.Int32());
  if (random.Coin()) meta.set_correlation_id(random.Int64());
  if (random.Coin()) meta.mutable_chunk_info()->set_chunk_id(random.Int64());
  if (random.Coin()) meta.set_authentication_data(random.Bytes(100));
  if (random.Coin()) meta.mutable_stream_settings()->add_extra_stream_ids(random.Int64());
  for (uint64_t i = random.Below(3); i > 0; --i) {
    wire::UserField& field = *meta.add_user_fields();
    field.set_key(random.Bytes(10));
    field.set_value(random.Bytes(30));
  }
  if (random.Coin()) meta.set_content_type(random.Int32());
  if (random.Coin()) meta.set_checksum_value(random.Bytes(5));
  if (random.Coin()) meta.set_checksum_with_attachment(random.Coin());
  return meta;
}

EchoMessage AnyMessage(Random& random) {
  EchoMessage message;
  // Any bytes, but letters in what is declared as text.
  message.set_message(std::string(random.Below(200), 'm'));
  for (uint64_t i = random.Below(4); i > 0; --i) message.add_bulk(random.Bytes(500));
  return message;
}

struct Sent {
  wire::RpcMeta meta;
  EchoMessage message;
  bool has_message = false;
  std::string attachment;
};

Sent AnySent(Random& random) {
  Sent sent;
  sent.meta = AnyMeta(random);
  sent.message = AnyMessage(random);
  sent.has_message = random.Coin();
  if (random.Coin()) sent.attachment = random.Bytes(1000);
  return sent;
}

void AppendFrame(Random& random, BlockPool& pool, Sent& sent, Buffer& out) {
  const EchoMessage* message = sent.has_message ? &sent.message : nullptr;
  if (random.Coin()) {
    out.Append(testing::Encode(sent.meta, message, sent.attachment));
    return;
  }
  const auto encoder = FrameEncoder::Create(sent.meta, message, sent.attachment.size());
  ASSERT_TRUE(encoder.ok());
  ASSERT_TRUE(encoder->AppendTo(pool, out));
  out.Append(sent.attachment);
}

void ExpectReceived(const Sent& sent, const Frame& frame) {
  EXPECT_TRUE(MessageDifferencer::Equals(frame.meta, sent.meta))
      << frame.meta.DebugString() << "\ninstead of\n"
      << sent.meta.DebugString();
  EXPECT_TRUE(frame.attachment.ToString() == sent.attachment);
  EXPECT_EQ(frame.payload.empty(), !sent.has_message);
  if (!sent.has_message) return;
  EchoMessage message;
  ASSERT_TRUE(ParsePayload(frame.payload, message).ok());
  EXPECT_TRUE(MessageDifferencer::Equals(message, sent.message));
}

class FrameRoundTripTest : public ::testing::TestWithParam<uint64_t> {};

TEST_P(FrameRoundTripTest, WhatIsSentInAnyPiecesIsReceived) {
  Random random(GetParam());
  auto pool = *BlockPool::Create(BlockPoolOptions());
  std::vector<Sent> sent;
  Buffer stream;
  for (int i = 0; i < 100; ++i) {
    sent.push_back(AnySent(random));
    AppendFrame(random, *pool, sent.back(), stream);
  }

  const std::string bytes = stream.ToString();
  Buffer input;
  Frame frame;  // one for all
  size_t fed = 0;
  for (const Sent& expected : sent) {
    for (;;) {
      const auto needed = CutFrame(input, FrameLimits(), frame);
      ASSERT_TRUE(needed.ok()) << needed.status();
      if (*needed == 0) break;
      ASSERT_GT(*needed, input.size());
      ASSERT_LT(fed, bytes.size());
      const size_t piece = 1 + random.Below(2 * (*needed - input.size()));
      input.Append(testing::InPieces(bytes.substr(fed, piece), 1 + random.Below(100)));
      fed = std::min(bytes.size(), fed + piece);
    }
    ExpectReceived(expected, frame);
  }
  EXPECT_TRUE(input.empty());
  EXPECT_EQ(fed, bytes.size());
}

INSTANTIATE_TEST_SUITE_P(Seeds, FrameRoundTripTest, ::testing::Range<uint64_t>(1, 11));

}  // namespace
}  // namespace farcall
