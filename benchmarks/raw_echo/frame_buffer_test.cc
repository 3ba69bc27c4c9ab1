// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/raw_echo/frame_buffer.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace farcall::bench {
namespace {

std::string FrameOf(const std::string& body, uint64_t id = 0) {
  FrameHeader header;
  header.length = static_cast<uint32_t>(body.size());
  header.id = id;
  std::string bytes(sizeof(header), '\0');
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes + body;
}

// As a socket would: at most `step` bytes at once, and no more than there is room for.
std::vector<std::string> Feed(FrameBuffer& buffer, const std::string& bytes, size_t step) {
  std::vector<std::string> bodies;
  size_t at = 0;
  while (at < bytes.size()) {
    const absl::Span<char> space = buffer.Space();
    EXPECT_FALSE(space.empty());
    const size_t size = std::min({space.size(), step, bytes.size() - at});
    std::memcpy(space.data(), bytes.data() + at, size);
    buffer.Commit(size);
    at += size;
    Frame frame;
    while (buffer.Next(frame)) {
      bodies.emplace_back(frame.body.data(), frame.body.size());
    }
    buffer.Drop(buffer.whole().size());
  }
  return bodies;
}

void Read(FrameBuffer& buffer, const std::string& bytes) {
  const absl::Span<char> space = buffer.Space();
  std::memcpy(space.data(), bytes.data(), bytes.size());
  buffer.Commit(bytes.size());
}

TEST(FrameBufferTest, FramesComeOutHoweverTheBytesAreSplit) {
  const std::vector<std::string> bodies = {
      "", "a", std::string(700, 'b'), "cc", std::string(3000, 'd'), ""};
  std::string bytes;
  for (const std::string& body : bodies) {
    bytes += FrameOf(body);
  }
  for (size_t step = 1; step <= bytes.size(); step += 1 + step / 7) {
    FrameBuffer buffer(256);
    EXPECT_EQ(Feed(buffer, bytes, step), bodies) << step;
  }
}

TEST(FrameBufferTest, HeaderFieldsArrive) {
  FrameBuffer buffer(1024);
  Read(buffer, FrameOf("xyz", 77));
  Frame frame;
  ASSERT_TRUE(buffer.Next(frame));
  EXPECT_EQ(frame.header.id, 77U);
  EXPECT_EQ(frame.header.kind, FrameHeader::kEcho);
  EXPECT_EQ(frame.header.length, 3U);
  EXPECT_FALSE(buffer.Next(frame));
}

TEST(FrameBufferTest, WholeIsTheBytesAsTheyCameWithoutThePartAtTheEnd) {
  FrameBuffer buffer(1024);
  const std::string whole = FrameOf("one") + FrameOf("two");
  Read(buffer, whole + FrameOf("three").substr(0, 18));
  Frame frame;
  while (buffer.Next(frame)) {
  }
  EXPECT_EQ(std::string(buffer.whole().data(), buffer.whole().size()), whole);
  buffer.Drop(5);
  EXPECT_EQ(std::string(buffer.whole().data(), buffer.whole().size()), whole.substr(5));
  buffer.Drop(buffer.whole().size());
  Read(buffer, FrameOf("three").substr(18));
  ASSERT_TRUE(buffer.Next(frame));
  EXPECT_EQ(std::string(frame.body.data(), frame.body.size()), "three");
}

TEST(FrameBufferTest, BodiesCanBeWrittenInPlace) {
  FrameBuffer buffer(1024);
  Read(buffer, FrameOf("abc"));
  Frame frame;
  ASSERT_TRUE(buffer.Next(frame));
  frame.body[0] = 'X';
  EXPECT_EQ(buffer.whole()[sizeof(FrameHeader)], 'X');
}

TEST(FrameBufferTest, ALargeFrameIsReadToItsEndAndNoFurther) {
  FrameBuffer buffer(1024);
  const std::string frame_bytes = FrameOf(std::string(10'000, 'x'));
  Read(buffer, frame_bytes.substr(0, 100));
  Frame frame;
  EXPECT_FALSE(buffer.Next(frame));
  EXPECT_EQ(buffer.Space().size(), frame_bytes.size() - 100);
}

TEST(FrameBufferTest, ALengthBeyondTheBoundIsAnError) {
  FrameBuffer buffer(1024);
  FrameHeader header;
  header.length = static_cast<uint32_t>(FrameHeader::kMaxBody) + 1;
  Read(buffer, std::string(reinterpret_cast<const char*>(&header), sizeof(header)));
  Frame frame;
  EXPECT_FALSE(buffer.Next(frame));
  EXPECT_FALSE(buffer.bad().ok());
}

}  // namespace
}  // namespace farcall::bench
