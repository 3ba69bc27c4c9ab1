// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/raw_echo/frame_ring.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "benchmarks/raw_echo/frame_buffer.h"
#include "gtest/gtest.h"

namespace farcall::bench {
namespace {

// Sends all that is unsent, at most `step` bytes at once.
std::string Drain(FrameRing& ring, size_t step) {
  std::string bytes;
  while (!ring.Unsent().empty()) {
    const absl::Span<const char> unsent = ring.Unsent();
    const size_t size = std::min(step, unsent.size());
    bytes.append(unsent.data(), size);
    ring.Sent(size);
  }
  return bytes;
}

uint64_t IdAt(const std::string& bytes, size_t at) {
  FrameHeader header;
  std::memcpy(&header, bytes.data() + at, sizeof(header));
  return header.id;
}

TEST(FrameRingTest, NothingIssuedIsNothingToSend) {
  const FrameRing ring(32, 4);
  EXPECT_TRUE(ring.Unsent().empty());
}

TEST(FrameRingTest, FramesGoRoundAndBearTheirIds) {
  FrameRing ring(32, 4);
  EXPECT_EQ(ring.frame_bytes(), 48U);
  std::string bytes;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 3; ++i) {
      ring.Issue();
    }
    bytes += Drain(ring, 7);
  }
  ASSERT_EQ(bytes.size(), 15 * 48U);
  for (uint64_t call = 0; call < 15; ++call) {
    EXPECT_EQ(IdAt(bytes, call * 48), ring.IdOf(call)) << call;
  }
}

TEST(FrameRingTest, AllThatIsInFlightIsOnePieceWhereItFits) {
  FrameRing ring(32, 64);
  for (int i = 0; i < 64; ++i) {
    ring.Issue();
  }
  EXPECT_EQ(ring.Unsent().size(), 64 * 48U);
}

TEST(FrameRingTest, LargeFramesShareFewerPlaces) {
  FrameRing ring(size_t{1} << 20, 8);
  for (int i = 0; i < 8; ++i) {
    ring.Issue();
  }
  EXPECT_EQ(ring.Unsent().size(), ring.frame_bytes());
  EXPECT_EQ(Drain(ring, size_t{1} << 20).size(), 8 * ring.frame_bytes());
}

TEST(FrameRingTest, WhatIsSentParsesAsFrames) {
  FrameRing ring(5, 3);
  for (int i = 0; i < 3; ++i) {
    ring.Issue();
  }
  const std::string bytes = Drain(ring, 1000);
  FrameBuffer buffer(1024);
  std::memcpy(buffer.Space().data(), bytes.data(), bytes.size());
  buffer.Commit(bytes.size());
  Frame frame;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(buffer.Next(frame));
    EXPECT_EQ(std::string(frame.body.data(), frame.body.size()), "xxxxx");
  }
  EXPECT_FALSE(buffer.Next(frame));
}

TEST(FrameRingTest, AnEmptyBodyIsAHeader) {
  FrameRing ring(0, 1);
  ring.Issue();
  EXPECT_EQ(ring.Unsent().size(), sizeof(FrameHeader));
}

}  // namespace
}  // namespace farcall::bench
