// SPDX-License-Identifier: Apache-2.0
//
// Parts of a Buffer: as places for system calls, and by numbers that a peer chose.

#include <gtest/gtest.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "transport/buffer/block_testing.h"
#include "transport/buffer/buffer.h"

namespace farcall {
namespace {

std::string TextOf(std::span<const iovec> parts) {
  std::string text;
  for (const iovec& part : parts) {
    text.append(static_cast<const char*>(part.iov_base), part.iov_len);
  }
  return text;
}

class BufferPartsTest : public testing::Test {
 protected:
  TestBlocks blocks_;
  Buffer buffer_ = blocks_.BufferOf({"abc", "defg", "h", "ij"});
  const std::string text_ = "abcdefghij";
  std::array<iovec, 8> parts_{};
};

TEST_F(BufferPartsTest, PartsAreTheSlicesFromAnyOffsetOn) {
  EXPECT_EQ(buffer_.Iovecs(parts_), 4u);
  for (size_t from = 0; from <= text_.size(); ++from) {
    const size_t count = buffer_.Iovecs(parts_, from);
    EXPECT_EQ(TextOf(std::span(parts_).first(count)), text_.substr(from)) << from;
  }
  EXPECT_EQ(buffer_.Iovecs(parts_, text_.size()), 0u);
  EXPECT_EQ(Buffer().Iovecs(parts_), 0u);
  EXPECT_DEATH(buffer_.Iovecs(parts_, text_.size() + 1), "start inside the Buffer");
}

TEST_F(BufferPartsTest, NoMorePartsAreGivenThanThereIsRoomFor) {
  EXPECT_EQ(buffer_.Iovecs({}, 0), 0u);
  EXPECT_EQ(buffer_.Iovecs(std::span(parts_).first(2), 1), 2u);
  EXPECT_EQ(TextOf(std::span(parts_).first(2)), "bcdefg");
  // As who writes them out does.
  std::string all;
  for (size_t from = 0; from < buffer_.size(); from = all.size()) {
    all += TextOf(std::span(parts_).first(buffer_.Iovecs(std::span(parts_).first(2), from)));
  }
  EXPECT_EQ(all, text_);
}

TEST_F(BufferPartsTest, SlicesAreSpansToo) {
  const std::span<const std::byte> bytes = buffer_.slices()[1].bytes();
  ASSERT_EQ(bytes.size(), 4u);
  EXPECT_EQ(bytes[0], std::byte{'d'});
}

TEST_F(BufferPartsTest, AFileIsWrittenAndReadBackInPlace) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  const int fd = fileno(file);
  EXPECT_EQ(::pwritev(fd, parts_.data(), static_cast<int>(buffer_.Iovecs(parts_)), 0), 10);
  Buffer back = blocks_.BufferOf({"......", "...."});
  EXPECT_EQ(::preadv(fd, parts_.data(), static_cast<int>(back.WritableIovecs(parts_)), 0), 10);
  EXPECT_EQ(back.ToString(), text_);
  std::fclose(file);
}

TEST_F(BufferPartsTest, OnlyWhoIsAloneWrites) {
  buffer_.CopyFrom("XY", 2, 2);
  EXPECT_EQ(buffer_.ToString(), "abXYefghij");
  buffer_.CopyFrom("", 0, 10);
  {
    const Buffer reader = buffer_.Share();
    EXPECT_DEATH(buffer_.CopyFrom("Z", 1), "alone refers");
    EXPECT_DEATH(buffer_.WritableIovecs(parts_), "alone refers");
  }
  buffer_.CopyFrom("0123456789", 10);
  EXPECT_EQ(buffer_.ToString(), "0123456789");
  EXPECT_DEATH(buffer_.CopyFrom("Z", 1, 10), "inside the Buffer");
  EXPECT_DEATH(buffer_.CopyFrom("Z", SIZE_MAX, 1), "inside the Buffer");
}

TEST_F(BufferPartsTest, MoreSlicesThanAreWrittenAtOnceAreAllWritten) {
  Buffer many = blocks_.BufferOf(std::vector<std::string>(100, "--"));
  std::string text;
  for (int i = 0; i < 195; ++i) text += static_cast<char>('a' + i % 26);
  many.CopyFrom(text.data(), text.size(), 3);
  EXPECT_EQ(many.ToString(), "---" + text + "--");
}

TEST_F(BufferPartsTest, APartThatIsThereIsSharedAndAnyOtherIsRefused) {
  for (size_t from = 0; from <= text_.size(); ++from) {
    for (size_t bytes = 0; bytes <= text_.size() - from; ++bytes) {
      const auto part = buffer_.TrySlice(from, bytes);
      ASSERT_TRUE(part.ok()) << part.status();
      EXPECT_EQ(part->ToString(), text_.substr(from, bytes));
      EXPECT_EQ(part->size(), bytes);
    }
    EXPECT_EQ(buffer_.TrySlice(from, text_.size() - from + 1).status().code(),
              absl::StatusCode::kOutOfRange);
    EXPECT_FALSE(buffer_.TrySlice(from, SIZE_MAX).ok()) << "no sum of the two overflows";
    EXPECT_FALSE(buffer_.TrySlice(SIZE_MAX, from).ok());
  }
  EXPECT_EQ(buffer_.TrySlice(8, 3).status().message(), "3 bytes from offset 8 on are asked of 10");
  EXPECT_EQ(buffer_.ToString(), text_);
}

TEST_F(BufferPartsTest, AFrontIsCutOffToTheEndOfAnother) {
  for (size_t bytes = 0; bytes <= text_.size(); ++bytes) {
    for (const std::string before : {"", "x"}) {
      Buffer from = buffer_.Share();
      Buffer to{absl::string_view(before)};
      from.CutFrontTo(bytes, to);
      EXPECT_EQ(to.ToString(), before + text_.substr(0, bytes));
      EXPECT_EQ(to.size(), before.size() + bytes);
      EXPECT_EQ(from.ToString(), text_.substr(bytes));
      EXPECT_EQ(from.size(), text_.size() - bytes);
    }
  }
}

TEST_F(BufferPartsTest, WhatCannotBeCutOffStays) {
  EXPECT_EQ(buffer_.TryCutFront(11).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(buffer_.size(), 10u);
  EXPECT_EQ(buffer_.TryCutFront(4)->ToString(), "abcd");
  EXPECT_EQ(buffer_.TryCutFront(6)->ToString(), "efghij");
  EXPECT_TRUE(buffer_.TryCutFront(0)->empty());
  EXPECT_FALSE(buffer_.TryCutFront(1).ok());
}

TEST_F(BufferPartsTest, ABlockIsPinnedOnceAndAsAWhole) {
  EXPECT_EQ(Buffer().pinned_bytes(), 0u);
  EXPECT_EQ(buffer_.pinned_bytes(), 10u);
  buffer_.RemoveFront(1);
  EXPECT_EQ(buffer_.pinned_bytes(), 10u);
  Buffer parted = buffer_.CutFront(1);
  buffer_.RemoveFront(1);
  parted.Append(buffer_.CutFront(1));
  EXPECT_EQ(parted.ToString(), "bd");
  EXPECT_EQ(parted.pinned_bytes(), 7u);
  buffer_.RemoveFront(1);
  parted.Append(buffer_.CutFront(1));
  EXPECT_EQ(parted.slices().size(), 3u) << "two of one block";
  EXPECT_EQ(parted.pinned_bytes(), 7u);
  EXPECT_EQ(buffer_.pinned_bytes(), 7u) << "what both have counts for both";
}

TEST_F(BufferPartsTest, OfMemoryOfTheProgramOnlyTheSlicesCount) {
  Buffer own;
  own.AppendUserData(text_.data(), text_.size(), nullptr);
  own.RemoveFront(3);
  EXPECT_EQ(own.pinned_bytes(), 7u);
}

}  // namespace
}  // namespace farcall
