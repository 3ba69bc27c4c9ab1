// SPDX-License-Identifier: Apache-2.0
//
// Buffer: what it holds.

#include "transport/buffer/buffer.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "transport/buffer/block_testing.h"

namespace farcall {
namespace {

class BufferTest : public testing::Test {
 protected:
  Buffer Of(const std::vector<std::string>& pieces) { return blocks_.BufferOf(pieces); }

  TestBlocks blocks_;
};

TEST_F(BufferTest, StartsEmpty) {
  const Buffer buffer;
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.size(), 0u);
  EXPECT_TRUE(buffer.slices().empty());
  EXPECT_EQ(buffer.ToString(), "");
}

TEST_F(BufferTest, KeepsTheOrderOfWhatIsAppended) {
  Buffer buffer("one ");
  buffer.Append("two ");
  buffer.Append(blocks_.NewSlice("three"));
  EXPECT_EQ(buffer.size(), 13u);
  EXPECT_EQ(buffer.ToString(), "one two three");
}

TEST_F(BufferTest, CopyIsIndependentOfItsSource) {
  std::string text = "abc";
  const Buffer buffer(text);
  text = "xyz";
  EXPECT_EQ(buffer.ToString(), "abc");
}

TEST_F(BufferTest, SmallCopyIsOneSliceOfAnExactBlock) {
  const Buffer buffer(std::string(100, 'x'));
  ASSERT_EQ(buffer.slices().size(), 1u);
  EXPECT_EQ(buffer.slices()[0].block->capacity, 100u);
}

TEST_F(BufferTest, LargeCopyIsCutIntoBlocksOfAtMostOneMebibyte) {
  std::string text(size_t{5} << 19, ' ');  // 2.5 MiB
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 31 % 251);
  const Buffer buffer(text);
  ASSERT_EQ(buffer.slices().size(), 3u);
  for (const Buffer::Slice& slice : buffer.slices()) {
    EXPECT_LE(slice.block->capacity, 1u << 20);
    EXPECT_EQ(slice.block->capacity, slice.length);
  }
  EXPECT_EQ(buffer.ToString(), text);
}

TEST_F(BufferTest, EmptyPiecesLeaveNoSlice) {
  Buffer buffer;
  buffer.Append("");
  buffer.Append(Buffer::Slice{blocks_.New("abc"), 1, 0});
  buffer.Append(Buffer());
  EXPECT_TRUE(buffer.slices().empty());
  EXPECT_EQ(blocks_.live(), 0);
}

TEST_F(BufferTest, MergesASliceThatContinuesTheLastOne) {
  const BlockRef block = blocks_.New("abcdef");
  Buffer buffer;
  buffer.Append(Buffer::Slice{block, 0, 2});
  buffer.Append(Buffer::Slice{block, 2, 3});
  buffer.Append(block, 5, 1);
  ASSERT_EQ(buffer.slices().size(), 1u);
  EXPECT_EQ(buffer.ToString(), "abcdef");
  EXPECT_EQ(block->references, 2u);
}

TEST_F(BufferTest, KeepsSlicesApartThatDoNotContinue) {
  const BlockRef block = blocks_.New("abcdef");
  Buffer buffer;
  buffer.Append(block, 0, 2);
  buffer.Append(block, 3, 2);
  buffer.Append(block, 0, 1);
  EXPECT_EQ(buffer.slices().size(), 3u);
  EXPECT_EQ(buffer.ToString(), "abdea");
}

TEST_F(BufferTest, MergesWhatWasCutApart) {
  Buffer buffer = Of({"abcdef"});
  Buffer front = buffer.CutFront(2);
  front.Append(std::move(buffer));
  EXPECT_EQ(front.slices().size(), 1u);
  EXPECT_EQ(front.ToString(), "abcdef");
}

TEST_F(BufferTest, AppendsABufferWithoutACopy) {
  Buffer head = Of({"ab", "cd"});
  Buffer tail = Of({"ef", "gh", "ij"});
  const Block* const moved = tail.slices()[1].block.get();
  head.Append(std::move(tail));
  EXPECT_EQ(head.ToString(), "abcdefghij");
  EXPECT_EQ(head.slices()[3].block.get(), moved);
  EXPECT_EQ(moved->references, 1u);
  EXPECT_TRUE(tail.empty());
  EXPECT_TRUE(tail.slices().empty());
}

TEST_F(BufferTest, AppendedToBufferCanBeUsedAgain) {
  Buffer head;
  Buffer tail = Of({"ab"});
  head.Append(std::move(tail));
  tail.Append("new");
  EXPECT_EQ(head.ToString(), "ab");
  EXPECT_EQ(tail.ToString(), "new");
}

TEST_F(BufferTest, MoveLeavesTheOtherEmptyAndUsable) {
  for (const size_t slices : {1, 2, 3, 50}) {
    Buffer one = Of(std::vector<std::string>(slices, "ab"));
    one.RemoveFront(1);
    Buffer two = std::move(one);
    EXPECT_EQ(two.size(), 2 * slices - 1);
    EXPECT_TRUE(one.empty());
    EXPECT_TRUE(one.slices().empty());
    one.Append("x");
    EXPECT_EQ(one.ToString(), "x");
    two = std::move(one);
    EXPECT_EQ(two.ToString(), "x");
    EXPECT_TRUE(one.slices().empty());
    EXPECT_EQ(blocks_.live(), 0);
  }
}

TEST_F(BufferTest, MoveToItselfKeepsTheBytes) {
  Buffer buffer = Of({"ab", "cd"});
  Buffer& same = buffer;
  buffer = std::move(same);
  EXPECT_EQ(buffer.ToString(), "abcd");
}

TEST_F(BufferTest, ShareRefersToTheSameBytes) {
  Buffer buffer = Of({"ab", "cd", "ef"});
  buffer.RemoveFront(3);
  Buffer copy = buffer.Share();
  EXPECT_EQ(copy.ToString(), "def");
  EXPECT_EQ(copy.slices()[0].view().data(), buffer.slices()[0].view().data());
  copy.Append("x");
  copy.RemoveFront(1);
  EXPECT_EQ(buffer.ToString(), "def");
  EXPECT_EQ(copy.ToString(), "efx");
  buffer.Clear();
  EXPECT_EQ(copy.ToString(), "efx");
}

TEST_F(BufferTest, UserDataIsNotCopiedAndReleasedOnce) {
  const std::string data = "user data";
  int released = 0;
  {
    Buffer buffer("head ");
    buffer.AppendUserData(data.data(), data.size(), [&released] { ++released; });
    EXPECT_EQ(buffer.ToString(), "head user data");
    EXPECT_EQ(buffer.slices()[1].view().data(), data.data());
    Buffer copy = buffer.Share();
    const Buffer front = buffer.CutFront(8);
    buffer.Clear();
    copy.Clear();
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST_F(BufferTest, UserDataOfNoBytesIsReleasedAtOnce) {
  int released = 0;
  Buffer buffer;
  buffer.AppendUserData(nullptr, 0, [&released] { ++released; });
  EXPECT_EQ(released, 1);
  EXPECT_TRUE(buffer.slices().empty());
}

TEST_F(BufferTest, UserDataNeedsNoRelease) {
  static const char kText[] = "static";
  Buffer buffer;
  buffer.AppendUserData(kText, 6, nullptr);
  EXPECT_EQ(buffer.ToString(), "static");
}

using BufferDeathTest = BufferTest;

TEST_F(BufferDeathTest, RefusesMoreThanThereIs) {
  Buffer buffer("abc");
  char out[8];
  EXPECT_DEATH(buffer.CutFront(4), "no more is cut off");
  EXPECT_DEATH(buffer.RemoveFront(4), "no more is removed");
  EXPECT_DEATH(buffer.CopyTo(out, 1, 4), "starts inside");
  EXPECT_DEATH(buffer.Front(4, out), "no more is looked at");
}

TEST_F(BufferDeathTest, RefusesASliceOutsideItsBlock) {
  Buffer buffer;
  EXPECT_DEATH(buffer.Append(Buffer::Slice{blocks_.New("abc"), 2, 2}), "inside its block");
  EXPECT_DEATH(buffer.Append(Buffer::Slice{blocks_.New("abc"), 4, 1}), "inside its block");
  EXPECT_DEATH(buffer.Append(Buffer::Slice{blocks_.New("abc"), 2, ~0u}), "inside its block");
  EXPECT_DEATH(buffer.Append(Buffer::Slice{BlockRef(), 0, 1}), "inside its block");
}

TEST_F(BufferDeathTest, RefusesItselfAsATail) {
  Buffer buffer("abc");
  EXPECT_DEATH(buffer.Append(std::move(buffer)), "not appended to itself");
}

TEST_F(BufferDeathTest, RefusesUserDataOfFourGibibytes) {
  Buffer buffer;
  char byte = 0;
  EXPECT_DEATH(buffer.AppendUserData(&byte, size_t{1} << 32, nullptr), "at most 4 GiB");
}

}  // namespace
}  // namespace farcall
