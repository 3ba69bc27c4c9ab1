// SPDX-License-Identifier: Apache-2.0

#include "rpc/wire/oversized_frame.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "rpc/wire/frame_testing.h"

namespace farcall {
namespace {

using testing::Encode;
using testing::Header;
using testing::InPieces;
using testing::RequestMeta;

constexpr FrameLimits kLimits{.max_body_size = 1000, .max_meta_size = 500};

std::string FrameOf(int64_t correlation_id, size_t attachment) {
  wire::RpcMeta meta = RequestMeta(correlation_id);
  return Encode(meta, nullptr, std::string(attachment, 'a'));
}

// Reads frames as a receiver does that goes on behind those that are too large; their ids, those
// of the latter negative.
std::string Read(Buffer& input, OversizedFrame& oversized) {
  std::string ids;
  Frame frame;
  while (oversized.Skip(input)) {
    absl::StatusOr<size_t> need = CutFrame(input, kLimits, frame);
    const bool large = absl::IsResourceExhausted(need.status());
    if (large) need = oversized.Meet(input, kLimits, frame);
    if (!need.ok()) return ids + need.status().ToString();
    if (*need != 0) return ids;
    ids += (large ? "-" : "") + std::to_string(frame.meta.correlation_id()) + " ";
  }
  return ids;
}

TEST(OversizedFrameTest, TheFramesBehindItAreReadWhateverThePieces) {
  const std::string bytes = FrameOf(1, 10) + FrameOf(2, 2000) + FrameOf(3, 3000) + FrameOf(4, 900);
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{100}, size_t{2500}, bytes.size()}) {
    Buffer input;
    OversizedFrame oversized;
    std::string ids;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      input.Append(InPieces(bytes.substr(at, piece), piece));
      ids += Read(input, oversized);
      EXPECT_LE(input.size(), kFrameHeaderSize + kLimits.max_body_size + piece) << "none is kept";
    }
    EXPECT_EQ(ids, "1 -2 -3 4 ");
    EXPECT_TRUE(input.empty());
    EXPECT_FALSE(oversized.skipping());
  }
}

TEST(OversizedFrameTest, ItIsKnownWhoseItIsAsSoonAsItsMetaHasCome) {
  const std::string bytes = FrameOf(5, 2000);
  const size_t meta_end = bytes.size() - 2000;
  Buffer input(bytes.substr(0, meta_end - 1));
  OversizedFrame oversized;
  Frame frame;
  EXPECT_EQ(*oversized.Meet(input, kLimits, frame), meta_end);
  EXPECT_FALSE(oversized.skipping());
  input.Append(absl::string_view(bytes).substr(meta_end - 1, 1));
  EXPECT_EQ(*oversized.Meet(input, kLimits, frame), 0u);
  EXPECT_EQ(frame.meta.correlation_id(), 5);
  EXPECT_EQ(frame.body_size, bytes.size() - kFrameHeaderSize);
  EXPECT_EQ(input.size(), meta_end) << "it is taken off by Skip";
  EXPECT_FALSE(oversized.Skip(input));
  EXPECT_TRUE(input.empty());
}

TEST(OversizedFrameTest, WhatIsMalformedToo) {
  OversizedFrame oversized;
  Frame frame;
  const auto meet = [&](const std::string& bytes) {
    return oversized.Meet(Buffer(absl::string_view(bytes)), kLimits, frame).status();
  };
  EXPECT_EQ(meet(Header(2000, 2001)).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(meet(Header(2000, 501)).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(meet(Header(2000, 4) + "\xff\xff\xff\xff").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(oversized.skipping());
}

TEST(OversizedFrameTest, WhichAreNotWorthReading) {
  const auto worth = [](size_t body_size, size_t limit) {
    const std::string meta = RequestMeta(1).SerializeAsString();
    const Buffer input(
        Header(static_cast<uint32_t>(body_size), static_cast<uint32_t>(meta.size())) + meta);
    OversizedFrame oversized;
    Frame frame;
    EXPECT_EQ(*oversized.Meet(input, {.max_body_size = limit}, frame), 0u);
    return oversized.worth_skipping();
  };
  constexpr size_t kMiB = size_t{1} << 20;
  EXPECT_TRUE(worth(64 * kMiB, kMiB)) << "every peer may send so much by default";
  EXPECT_FALSE(worth(64 * kMiB + 1, kMiB));
  EXPECT_TRUE(worth(256 * kMiB, 64 * kMiB));
  EXPECT_FALSE(worth(256 * kMiB + 1, 64 * kMiB));
}

}  // namespace
}  // namespace farcall
