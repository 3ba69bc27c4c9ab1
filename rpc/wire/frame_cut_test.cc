// SPDX-License-Identifier: Apache-2.0
//
// CutFrame on valid bytes, however they arrive.

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/frame_testing.h"
#include "rpc/wire/payload.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/block_writer.h"

namespace farcall {
namespace {

using testing::EchoMessage;
using testing::Encode;
using testing::InPieces;
using testing::RequestMeta;

std::string EchoFrame(int64_t correlation_id, absl::string_view message,
                      absl::string_view attachment) {
  wire::RpcMeta meta = RequestMeta(correlation_id);
  const EchoMessage echo = testing::Echo(message);
  return Encode(meta, &echo, attachment);
}

void ExpectEcho(const Frame& frame, int64_t correlation_id, absl::string_view message,
                absl::string_view attachment) {
  EXPECT_EQ(frame.meta.correlation_id(), correlation_id);
  EXPECT_EQ(frame.meta.request().service_name(), "example.EchoService");
  EXPECT_EQ(frame.meta.request().timeout_ms(), 1500);
  EXPECT_EQ(frame.attachment.ToString(), attachment);
  EchoMessage echo;
  ASSERT_TRUE(ParsePayload(frame.payload, echo).ok());
  EXPECT_EQ(echo.message(), message);
}

TEST(FrameCutTest, AsksForTheHeaderThenForTheWholeFrameByteByByte) {
  const std::string bytes = EchoFrame(3, "hello", "attached");
  Buffer input;
  Frame frame;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto needed = CutFrame(input, FrameLimits(), frame);
    ASSERT_TRUE(needed.ok()) << needed.status();
    EXPECT_EQ(*needed, i < kFrameHeaderSize ? kFrameHeaderSize : bytes.size());
    EXPECT_EQ(input.size(), i);
    input.Append(InPieces(bytes.substr(i, 1), 1));
  }
  ASSERT_EQ(*CutFrame(input, FrameLimits(), frame), 0u);
  EXPECT_TRUE(input.empty());
  ExpectEcho(frame, 3, "hello", "attached");
}

TEST(FrameCutTest, EveryPlaceOfASplitGivesTheSameFrames) {
  const std::string bytes =
      absl::StrCat(EchoFrame(1, "first", ""), EchoFrame(2, "", "second attachment"));
  for (size_t at = 0; at <= bytes.size(); ++at) {
    Buffer input = testing::SplitAt(bytes, at);
    Frame frame;
    ASSERT_EQ(*CutFrame(input, FrameLimits(), frame), 0u) << at;
    ExpectEcho(frame, 1, "first", "");
    ASSERT_EQ(*CutFrame(input, FrameLimits(), frame), 0u) << at;
    ExpectEcho(frame, 2, "", "second attachment");
    EXPECT_TRUE(input.empty());
  }
}

TEST(FrameCutTest, EverySizeOfPiecesGivesTheSameFrame) {
  const std::string bytes = EchoFrame(1, std::string(100, 'm'), std::string(50, 'a'));
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    Buffer input = InPieces(bytes, piece);
    Frame frame;
    ASSERT_EQ(*CutFrame(input, FrameLimits(), frame), 0u) << piece;
    ExpectEcho(frame, 1, std::string(100, 'm'), std::string(50, 'a'));
  }
}

TEST(FrameCutTest, IncompleteFrameLeavesInputAndFrameAlone) {
  Buffer first(EchoFrame(1, "kept", "kept too"));
  Frame frame;
  ASSERT_EQ(*CutFrame(first, FrameLimits(), frame), 0u);
  const std::string bytes = EchoFrame(2, "next", "");
  for (size_t size = 0; size < bytes.size(); ++size) {
    Buffer input(bytes.substr(0, size));
    EXPECT_GT(*CutFrame(input, FrameLimits(), frame), size);
    EXPECT_EQ(input.size(), size);
  }
  ExpectEcho(frame, 1, "kept", "kept too");
}

TEST(FrameCutTest, OldContentOfAReusedFrameIsGone) {
  wire::RpcMeta full = RequestMeta(1);
  full.mutable_response()->set_error_text("old text");
  full.mutable_request()->add_request_id("old id");
  full.set_authentication_data("old secret");
  full.add_user_fields()->set_key("old field");
  const EchoMessage echo = testing::Echo("old payload");
  Buffer input(absl::StrCat(Encode(full, &echo, "old attachment"), testing::RawFrame("", "", "")));
  Frame frame;
  ASSERT_EQ(*CutFrame(input, FrameLimits(), frame), 0u);
  ASSERT_EQ(*CutFrame(input, FrameLimits(), frame), 0u);
  EXPECT_EQ(frame.meta.SerializeAsString(), "");
  EXPECT_EQ(frame.meta.request().request_id_size(), 0);
  EXPECT_TRUE(frame.payload.empty());
  EXPECT_TRUE(frame.attachment.empty());
}

TEST(FrameCutTest, AFrameOfAllZeroSizesIsAFrame) {
  Buffer input(testing::Header(0, 0));
  Frame frame;
  ASSERT_EQ(*CutFrame(input, FrameLimits(), frame), 0u);
  EXPECT_FALSE(frame.meta.has_request());
  EXPECT_FALSE(frame.meta.has_correlation_id());
  EXPECT_EQ(frame.meta_size, 0u);
}

TEST(FrameCutTest, AttachmentMayBeAllOfTheBodyAfterTheMeta) {
  wire::RpcMeta meta = RequestMeta(5);
  Buffer input(Encode(meta, nullptr, "all of it"));
  Frame frame;
  ASSERT_EQ(*CutFrame(input, FrameLimits(), frame), 0u);
  EXPECT_TRUE(frame.payload.empty());
  EXPECT_EQ(frame.attachment.ToString(), "all of it");
}

// With a meta that has nothing unusual.
std::string PlainFrame(size_t text, absl::string_view attachment) {
  PlainMeta meta(PlainMeta::Answer{.correlation_id = 9});
  const EchoMessage echo = testing::Echo(std::string(text, 'm'));
  if (!attachment.empty()) meta.SetAttachmentSize(static_cast<int32_t>(attachment.size()));
  return testing::RawFrame(meta.bytes(), echo.SerializeAsString(), attachment);
}

TEST(FrameCutTest, ASmallMessageIsCutWhereItLies) {
  const std::string bytes = PlainFrame(100, "");
  for (const absl::string_view behind : {"", "PRPC"}) {
    Buffer input(absl::StrCat(bytes, behind));
    const char* const begin = input.slices().front().view().data();
    Frame frame;
    ASSERT_TRUE(CutOrdinaryFrame(input, FrameLimits(), frame, /*in_place=*/true));
    EXPECT_EQ(input.ToString(), std::string(behind));
    EXPECT_TRUE(frame.plain && frame.payload.empty() && frame.held);
    EXPECT_EQ(frame.meta.correlation_id(), 9);
    EXPECT_EQ(frame.in_place.data() + frame.in_place.size(), begin + bytes.size());
    input.Clear();
    EXPECT_EQ(frame.in_place, testing::Echo(std::string(100, 'm')).SerializeAsString())
        << "the block is held";
    EXPECT_EQ(frame.TakePayload().ToString(), std::string(frame.in_place));
    EXPECT_FALSE(frame.held);
  }
}

TEST(FrameCutTest, WhatIsLargeOrHasAnAttachmentIsNotCutInPlace) {
  for (const std::string& bytes : {PlainFrame(kSmallHead, ""), PlainFrame(10, "attachment")}) {
    Buffer input(bytes);
    Frame frame;
    ASSERT_TRUE(CutOrdinaryFrame(input, FrameLimits(), frame, /*in_place=*/true));
    EXPECT_FALSE(frame.held);
    EXPECT_FALSE(frame.payload.empty());
    EXPECT_EQ(frame.payload.size() + frame.attachment.size() + frame.meta_size + kFrameHeaderSize,
              bytes.size());
    const size_t size = frame.payload.size();
    EXPECT_EQ(frame.TakePayload().size(), size);
  }
}

TEST(FrameCutTest, TheNextFrameLetsGoOfTheOneBefore) {
  Buffer input(PlainFrame(1, ""));
  Frame frame;
  ASSERT_TRUE(CutOrdinaryFrame(input, FrameLimits(), frame, /*in_place=*/true));
  for (const size_t piece : {1000, 3}) {
    Buffer next = InPieces(PlainFrame(2, ""), piece);
    ASSERT_EQ(*CutFrame(next, FrameLimits(), frame), 0u);
    EXPECT_FALSE(frame.held);
    EXPECT_EQ(frame.TakePayload().size(), 4u);
  }
}

TEST(FrameCutTest, AMetaThatIsUnusualIsNotCutAsAnOrdinaryFrame) {
  wire::RpcMeta meta = RequestMeta(1);
  meta.add_user_fields()->set_key("key");
  const EchoMessage echo = testing::Echo("first");
  const std::string bytes = Encode(meta, &echo, "");
  Buffer input(bytes);
  Frame frame;
  EXPECT_FALSE(CutOrdinaryFrame(input, FrameLimits(), frame));
  EXPECT_EQ(input.ToString(), bytes);
  ASSERT_EQ(*CutAnyFrame(input, FrameLimits(), frame), 0u);
  EXPECT_FALSE(frame.plain);
  ExpectEcho(frame, 1, "first", "");
}

TEST(FrameCutTest, PayloadAndAttachmentAreNotCopied) {
  Buffer input(EchoFrame(1, std::string(1000, 'm'), std::string(5000, 'a')));
  ASSERT_EQ(input.slices().size(), 1u);
  const Block* const block = input.slices()[0].block.get();
  Frame frame;
  ASSERT_EQ(*CutFrame(input, FrameLimits(), frame), 0u);
  ASSERT_EQ(frame.payload.slices().size(), 1u);
  ASSERT_EQ(frame.attachment.slices().size(), 1u);
  EXPECT_EQ(frame.payload.slices()[0].block.get(), block);
  EXPECT_EQ(frame.attachment.slices()[0].block.get(), block);
}

TEST(FrameCutTest, FramesThatSpanBlocksOfAPoolAreCut) {
  auto pool = *BlockPool::Create(BlockPoolOptions());
  BlockWriter writer(*pool);
  Buffer input;
  for (int64_t id = 0; id < 50; ++id) {
    ASSERT_TRUE(writer.Append(EchoFrame(id, std::string(300, 'm'), std::string(100, 'a')), input));
  }
  ASSERT_GT(input.slices().size(), 1u);
  Frame frame;
  for (int64_t id = 0; id < 50; ++id) {
    ASSERT_EQ(*CutFrame(input, FrameLimits(), frame), 0u);
    ExpectEcho(frame, id, std::string(300, 'm'), std::string(100, 'a'));
  }
  EXPECT_TRUE(input.empty());
}

TEST(FrameCutTest, LimitsAreInclusive) {
  const std::string bytes = EchoFrame(1, "hello", "");
  Buffer measured(bytes);
  Frame frame;
  ASSERT_EQ(*CutFrame(measured, FrameLimits(), frame), 0u);
  const FrameLimits exact{.max_body_size = bytes.size() - kFrameHeaderSize,
                          .max_meta_size = frame.meta_size};
  Buffer input(bytes);
  EXPECT_EQ(*CutFrame(input, exact, frame), 0u);
}

TEST(FrameCutTest, ALargeMetaInPiecesIsCut) {
  wire::RpcMeta large = RequestMeta(1);
  large.set_authentication_data(std::string(100'000, 's'));
  Buffer input = InPieces(Encode(large, nullptr, "attachment"), 1000);
  Frame frame;
  ASSERT_EQ(*CutFrame(input, FrameLimits(), frame), 0u);
  EXPECT_TRUE(frame.meta.authentication_data() == large.authentication_data());
  EXPECT_EQ(frame.attachment.ToString(), "attachment");
}

TEST(FrameCutTest, AnUnusuallyLargeMetaDoesNotStayInMemory) {
  wire::RpcMeta large = RequestMeta(1);
  large.set_authentication_data(std::string(100'000, 's'));
  Buffer input(absl::StrCat(Encode(large, nullptr, ""), EchoFrame(2, "small", "")));
  Frame frame;
  ASSERT_EQ(*CutFrame(input, FrameLimits(), frame), 0u);
  EXPECT_GT(frame.meta.SpaceUsedLong(), 100'000u);
  ASSERT_EQ(*CutFrame(input, FrameLimits(), frame), 0u);
  EXPECT_LT(frame.meta.SpaceUsedLong(), 2'000u);
  ExpectEcho(frame, 2, "small", "");
}

TEST(FramePeekTest, TheMetaIsReadBeforeTheRestHasComeAndStaysWhereItIs) {
  wire::RpcMeta meta = RequestMeta(3);
  const size_t meta_end = kFrameHeaderSize + meta.ByteSizeLong() + 2;  // with attachment_size
  const std::string bytes = EchoFrame(3, "hello", "attached");
  Buffer input;
  Frame frame;
  for (size_t i = 0; i < meta_end; ++i) {
    EXPECT_EQ(*PeekMeta(input, FrameLimits(), frame),
              i < kFrameHeaderSize ? kFrameHeaderSize : meta_end);
    input.Append(InPieces(bytes.substr(i, 1), 1));
  }
  for (size_t i = meta_end; i < bytes.size(); ++i) {
    Frame front;
    ASSERT_EQ(*PeekMeta(input, FrameLimits(), front), 0u);
    EXPECT_EQ(front.meta.correlation_id(), 3);
    EXPECT_EQ(front.meta_size, meta_end - kFrameHeaderSize);
    EXPECT_EQ(input.size(), i);
    input.Append(InPieces(bytes.substr(i, 1), 1));
  }
  ASSERT_EQ(*PeekMeta(input, FrameLimits(), frame), 0u);
  ASSERT_EQ(*CutFrame(input, FrameLimits(), frame), 0u);
  ExpectEcho(frame, 3, "hello", "attached");
}

TEST(FramePeekTest, WhatCannotBeCutIsRefusedAtOnce) {
  const FrameLimits limits{.max_body_size = 1000, .max_meta_size = 100};
  const auto code = [&](const std::string& bytes) {
    Frame frame;
    return PeekMeta(Buffer(bytes), limits, frame).status().code();
  };
  EXPECT_EQ(code("GET"), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(testing::Header(1001, 0)), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code(testing::Header(1000, 101)), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code(testing::Header(10, 11)), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(testing::Header(1000, 3) + "\xff\xff\xff"), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace farcall
