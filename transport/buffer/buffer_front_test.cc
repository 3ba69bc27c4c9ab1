// SPDX-License-Identifier: Apache-2.0
//
// Buffer: taking from its front, and reading.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "transport/buffer/block_testing.h"
#include "transport/buffer/buffer.h"

namespace farcall {
namespace {

class BufferFrontTest : public testing::Test {
 protected:
  Buffer Of(const std::vector<std::string>& pieces) { return blocks_.BufferOf(pieces); }

  TestBlocks blocks_;
};

TEST_F(BufferFrontTest, CutFrontMovesNoByte) {
  Buffer buffer = Of({"abcd", "efgh"});
  const char* const first = buffer.slices()[0].view().data();
  const char* const second = buffer.slices()[1].view().data();
  const Buffer front = buffer.CutFront(6);
  ASSERT_EQ(front.slices().size(), 2u);
  EXPECT_EQ(front.slices()[0].view().data(), first);
  EXPECT_EQ(front.slices()[1].view().data(), second);
  ASSERT_EQ(buffer.slices().size(), 1u);
  EXPECT_EQ(buffer.slices()[0].view().data(), second + 2);
  EXPECT_EQ(front.ToString(), "abcdef");
  EXPECT_EQ(buffer.ToString(), "gh");
}

TEST_F(BufferFrontTest, CutInsideASliceSharesItsBlock) {
  Buffer buffer = Of({"abcd"});
  Buffer front = buffer.CutFront(1);
  EXPECT_EQ(front.slices()[0].block, buffer.slices()[0].block);
  EXPECT_EQ(buffer.slices()[0].block->references, 2u);
  buffer.Clear();
  EXPECT_EQ(blocks_.live(), 1);
  EXPECT_EQ(front.ToString(), "a");
  front.Clear();
  EXPECT_EQ(blocks_.live(), 0);
}

TEST_F(BufferFrontTest, CutBetweenSlicesSharesNothing) {
  Buffer buffer = Of({"ab", "cd"});
  const Buffer front = buffer.CutFront(2);
  EXPECT_TRUE(front.slices()[0].block.unique());
  EXPECT_TRUE(buffer.slices()[0].block.unique());
}

TEST_F(BufferFrontTest, CutsNothingAndAll) {
  Buffer buffer = Of({"ab", "cd", "ef"});
  EXPECT_TRUE(buffer.CutFront(0).empty());
  EXPECT_EQ(buffer.CutFront(6).ToString(), "abcdef");
  EXPECT_TRUE(buffer.empty());
  EXPECT_TRUE(buffer.slices().empty());
  EXPECT_TRUE(buffer.CutFront(0).empty());
}

TEST_F(BufferFrontTest, RemoveFrontDropsBlocksAtOnce) {
  Buffer buffer = Of({"ab", "cd", "ef", "gh", "ij"});
  buffer.RemoveFront(5);
  EXPECT_EQ(buffer.ToString(), "fghij");
  EXPECT_EQ(blocks_.live(), 3);
  buffer.RemoveFront(0);
  EXPECT_EQ(buffer.size(), 5u);
  buffer.RemoveFront(5);
  EXPECT_EQ(blocks_.live(), 0);
}

TEST_F(BufferFrontTest, ClearDropsAllAndLeavesItUsable) {
  Buffer buffer = Of(std::vector<std::string>(500, "ab"));
  buffer.RemoveFront(7);
  buffer.Clear();
  EXPECT_TRUE(buffer.empty());
  EXPECT_TRUE(buffer.slices().empty());
  EXPECT_EQ(blocks_.live(), 0);
  buffer.Append("x");
  EXPECT_EQ(buffer.ToString(), "x");
}

// With a move of all that is left at each removal this would not end in its time.
TEST_F(BufferFrontTest, FrontRemovalOfManySlicesDoesNotMoveTheRest) {
  constexpr uint32_t kSlices = 400'000;
  const BlockRef block = blocks_.New("ab");
  Buffer buffer;
  for (uint32_t i = 0; i < kSlices; ++i) buffer.Append(block, i % 2, 1);
  // Every other slice continues the one before it.
  ASSERT_EQ(buffer.slices().size(), kSlices / 2);
  size_t steps = 0;
  while (!buffer.empty()) {
    buffer.RemoveFront(1);
    const Buffer front = buffer.CutFront(std::min<size_t>(2, buffer.size()));
    ++steps;
  }
  EXPECT_EQ(steps, (kSlices + 2) / 3);
}

TEST_F(BufferFrontTest, AQueueThatNeverEmptiesStaysSmall) {
  const BlockRef block = blocks_.New("ab");
  Buffer queue;
  for (int i = 0; i < 10; ++i) queue.Append(block, 0, 2);
  // Where its front has been: a list that only grows would move through new memory.
  std::set<const Buffer::Slice*> places;
  for (int i = 0; i < 100'000; ++i) {
    queue.Append(block, 0, 2);
    queue.RemoveFront(2);
    ASSERT_EQ(queue.slices().size(), 10u);
    places.insert(queue.slices().data());
  }
  EXPECT_LT(places.size(), 100u);
  // One reference for each slice that is left, none for spent ones, and `block`.
  EXPECT_EQ(block->references, 11u);
}

TEST_F(BufferFrontTest, CopyToCopiesFromAnyOffset) {
  Buffer buffer = Of({"x", "abc", "d", "efgh"});
  buffer.RemoveFront(1);
  const std::string all = "abcdefgh";
  for (size_t from = 0; from <= all.size(); ++from) {
    for (size_t bytes = 0; bytes <= all.size() + 1; ++bytes) {
      char out[16] = {};
      const size_t copied = buffer.CopyTo(out, bytes, from);
      EXPECT_EQ(std::string(out, copied), all.substr(from, bytes));
      EXPECT_EQ(out[copied], 0);
    }
  }
}

TEST_F(BufferFrontTest, FrontIsAViewWhereTheFirstSliceHoldsIt) {
  Buffer buffer = Of({"abc", "def"});
  char scratch[6];
  EXPECT_EQ(buffer.Front(3, scratch).data(), buffer.slices()[0].view().data());
  const absl::string_view across = buffer.Front(5, scratch);
  EXPECT_EQ(across.data(), scratch);
  EXPECT_EQ(across, "abcde");
  EXPECT_EQ(buffer.Front(0, scratch), "");
  EXPECT_EQ(Buffer().Front(0, scratch), "");
}

}  // namespace
}  // namespace farcall
