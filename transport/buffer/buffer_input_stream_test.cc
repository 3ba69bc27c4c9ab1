// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <limits>
#include <string>
#include <vector>

#include "transport/buffer/block_testing.h"
#include "transport/buffer/message_testing.h"
#include "transport/buffer/zero_copy_stream.h"

namespace farcall {
namespace {

class BufferInputStreamTest : public testing::Test {
 protected:
  Buffer Of(const std::vector<std::string>& pieces) { return blocks_.BufferOf(pieces); }

  // What the next Next gives, or "(end)".
  static std::string NextOf(BufferInputStream& stream) {
    const void* data = nullptr;
    int size = 0;
    if (!stream.Next(&data, &size)) return "(end)";
    return std::string(static_cast<const char*>(data), static_cast<size_t>(size));
  }

  TestBlocks blocks_;
};

TEST_F(BufferInputStreamTest, GivesTheSlicesInOrderWithoutACopy) {
  const Buffer buffer = Of({"abc", "de"});
  BufferInputStream stream(buffer);
  const void* data = nullptr;
  int size = 0;
  ASSERT_TRUE(stream.Next(&data, &size));
  EXPECT_EQ(data, buffer.slices()[0].view().data());
  EXPECT_EQ(size, 3);
  EXPECT_EQ(NextOf(stream), "de");
  EXPECT_EQ(stream.ByteCount(), 5);
  EXPECT_EQ(NextOf(stream), "(end)");
  EXPECT_EQ(NextOf(stream), "(end)");
}

TEST_F(BufferInputStreamTest, GivesNothingOfAnEmptyBuffer) {
  const Buffer buffer;
  BufferInputStream stream(buffer);
  EXPECT_TRUE(stream.Skip(0));
  EXPECT_FALSE(stream.Skip(1));
  EXPECT_EQ(NextOf(stream), "(end)");
  EXPECT_EQ(stream.ByteCount(), 0);
}

TEST_F(BufferInputStreamTest, GivesAgainWhatWasBackedUp) {
  const Buffer buffer = Of({"abc", "de"});
  BufferInputStream stream(buffer);
  EXPECT_EQ(NextOf(stream), "abc");
  stream.BackUp(2);
  EXPECT_EQ(stream.ByteCount(), 1);
  EXPECT_EQ(NextOf(stream), "bc");
  stream.BackUp(2);
  EXPECT_EQ(NextOf(stream), "bc");
  EXPECT_EQ(NextOf(stream), "de");
  stream.BackUp(2);
  EXPECT_EQ(NextOf(stream), "de");
  stream.BackUp(0);
  EXPECT_EQ(NextOf(stream), "(end)");
}

TEST_F(BufferInputStreamTest, BacksUpAcrossSlices) {
  for (int back = 0; back <= 6; ++back) {
    const Buffer buffer = Of({"abc", "de", "f"});
    BufferInputStream stream(buffer);
    EXPECT_FALSE(stream.Skip(7));
    stream.BackUp(back);
    EXPECT_EQ(stream.ByteCount(), 6 - back);
    std::string rest;
    for (std::string piece = NextOf(stream); piece != "(end)"; piece = NextOf(stream)) {
      rest += piece;
    }
    EXPECT_EQ(rest, std::string("abcdef").substr(static_cast<size_t>(6 - back)));
  }
}

TEST_F(BufferInputStreamTest, SkipsAcrossSlices) {
  for (int skip = 0; skip <= 6; ++skip) {
    const Buffer buffer = Of({"abc", "de", "f"});
    BufferInputStream stream(buffer);
    ASSERT_TRUE(stream.Skip(skip));
    EXPECT_EQ(stream.ByteCount(), skip);
    std::string rest;
    for (std::string piece = NextOf(stream); piece != "(end)"; piece = NextOf(stream)) {
      rest += piece;
    }
    EXPECT_EQ(rest, std::string("abcdef").substr(static_cast<size_t>(skip)));
    EXPECT_EQ(stream.ByteCount(), 6);
  }
}

TEST_F(BufferInputStreamTest, SkippingPastTheEndStopsThere) {
  const Buffer buffer = Of({"abc", "de"});
  BufferInputStream stream(buffer);
  EXPECT_FALSE(stream.Skip(6));
  EXPECT_EQ(stream.ByteCount(), 5);
  EXPECT_EQ(NextOf(stream), "(end)");
}

TEST_F(BufferInputStreamTest, ParsesAMessageCutAnywhere) {
  const google::protobuf::ListValue message = SomeList(20);
  const std::string bytes = message.SerializeAsString();
  for (size_t piece = 1; piece < 40; ++piece) {
    Buffer buffer;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      buffer.Append(blocks_.NewSlice(bytes.substr(at, piece)));
    }
    BufferInputStream stream(buffer);
    google::protobuf::ListValue parsed;
    ASSERT_TRUE(parsed.ParseFromZeroCopyStream(&stream));
    EXPECT_EQ(parsed.DebugString(), message.DebugString());
  }
}

TEST_F(BufferInputStreamTest, ASliceLargerThanAnIntIsGivenInPieces) {
  constexpr size_t kSize = size_t{3} << 30;
  // Never touched: only addresses are handed out.
  void* const memory =
      mmap(nullptr, kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Buffer buffer;
  buffer.AppendUserData(memory, kSize, [memory] { munmap(memory, kSize); });
  BufferInputStream stream(buffer);
  const void* data = nullptr;
  int size = 0;
  ASSERT_TRUE(stream.Next(&data, &size));
  EXPECT_EQ(size, std::numeric_limits<int>::max());
  ASSERT_TRUE(stream.Next(&data, &size));
  EXPECT_EQ(static_cast<const char*>(data),
            static_cast<const char*>(memory) + std::numeric_limits<int>::max());
  EXPECT_EQ(stream.ByteCount(), static_cast<int64_t>(kSize));
  EXPECT_FALSE(stream.Next(&data, &size));
}

using BufferInputStreamDeathTest = BufferInputStreamTest;

TEST_F(BufferInputStreamDeathTest, RefusesToBackUpBeforeItsStart) {
  const Buffer buffer = Of({"abc"});
  BufferInputStream stream(buffer);
  NextOf(stream);
  EXPECT_DEATH(stream.BackUp(4), "backs up at most");
  EXPECT_DEATH(stream.BackUp(-1), "backs up at most");
  EXPECT_DEATH(stream.Skip(-1), "skips forward");
}

}  // namespace
}  // namespace farcall
