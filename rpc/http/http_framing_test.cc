// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/http_framing.h"

#include <string>

#include "gtest/gtest.h"

namespace farcall {
namespace {

struct Sample {
  const char* bytes;
  bool first;
  size_t size;
};

TEST(HttpChunkHeadTest, IsFoundWhole) {
  const Sample samples[] = {
      {"5\r\nhello", true, 3},
      {"\r\n5\r\nhello", false, 5},
      {"0A;b=\"c d\"\r\n", true, 12},
      {"0\r\n\r\nGET", true, 5},
      {"\r\n000;x\r\nA: b\r\nC: d\r\n\r\n", false, 23},
  };
  for (const Sample& sample : samples) {
    const absl::string_view bytes = sample.bytes;
    const ChunkHead head = FindChunkHead(bytes, sample.first);
    EXPECT_TRUE(head.well_formed) << bytes;
    EXPECT_EQ(head.size, sample.size) << bytes;
    for (size_t cut = 0; cut < sample.size; ++cut) {
      const ChunkHead part = FindChunkHead(bytes.substr(0, cut), sample.first);
      EXPECT_TRUE(part.well_formed) << bytes.substr(0, cut);
      EXPECT_EQ(part.size, 0u) << bytes.substr(0, cut);
    }
  }
}

TEST(HttpChunkHeadTest, SaysWhatFollowsAndWhatSaysNothing) {
  ChunkHead head = FindChunkHead("\r\n1a ;x\r\n", false);
  EXPECT_FALSE(head.well_formed) << "space before an extension";
  head = FindChunkHead("\r\n01A;x; y = z;w=\"a\\\"; b\"\r\n", false);
  EXPECT_TRUE(head.well_formed);
  EXPECT_EQ(head.data, 26u);
  EXPECT_EQ(head.extra, 20u);
  head = FindChunkHead("0;x\r\nA: b\r\n\r\n", true);
  EXPECT_EQ(head.data, 0u);
  EXPECT_EQ(head.extra, 2u + 6u);
  EXPECT_EQ(FindChunkHead("ffffffffffffffff\r\n", true).data, UINT64_MAX);
  EXPECT_FALSE(FindChunkHead("10000000000000000\r\n", true).well_formed);
}

TEST(HttpChunkHeadTest, WhatIsMalformedStaysSo) {
  const Sample samples[] = {
      {"\r\n5\r\n", true, 0}, {"5\r\n", false, 0},
      {"x\r\n", true, 0},     {"5 \r\n", true, 0},
      {"5\n", true, 0},       {"5\rx", true, 0},
      {"5;\x7f", true, 0},    {"0\r\n A: b\r\n", true, 0},
      {"0\r\nA\n", true, 0},  {";a\r\n", true, 0},
      {"\n5\r\n", false, 0},
  };
  for (const Sample& sample : samples) {
    EXPECT_FALSE(FindChunkHead(sample.bytes, sample.first).well_formed) << sample.bytes;
    const std::string longer = std::string(sample.bytes) + "5\r\nabc\r\n\r\n";
    EXPECT_FALSE(FindChunkHead(longer, sample.first).well_formed) << longer;
  }
}

}  // namespace
}  // namespace farcall
