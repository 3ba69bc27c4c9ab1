// SPDX-License-Identifier: Apache-2.0

#include "transport/buffer/slice_list.h"

#include <deque>
#include <random>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "transport/buffer/block_testing.h"

namespace farcall {
namespace {

BufferSlice Numbered(TestBlocks& blocks, int i) { return blocks.NewSlice(std::to_string(i)); }

std::string Text(const SliceList& list) {
  std::string text;
  for (const BufferSlice& slice : list.all()) {
    text.append(slice.view().data(), slice.view().size());
    text += ' ';
  }
  return text;
}

class SliceListOfSizeTest : public testing::TestWithParam<int> {
 protected:
  SliceList Filled() {
    SliceList list;
    for (int i = 0; i < GetParam(); ++i) list.push_back(Numbered(blocks_, i));
    return list;
  }
  std::string Expected(int from = 0) const {
    std::string text;
    for (int i = from; i < GetParam(); ++i) text += std::to_string(i) + ' ';
    return text;
  }

  TestBlocks blocks_;
};

TEST_P(SliceListOfSizeTest, HoldsWhatWasPushedInOrder) {
  SliceList list = Filled();
  EXPECT_EQ(list.size(), static_cast<size_t>(GetParam()));
  EXPECT_EQ(list.empty(), GetParam() == 0);
  EXPECT_EQ(Text(list), Expected());
}

TEST_P(SliceListOfSizeTest, AMoveTakesAllAndLeavesAnEmptyListThatCanBeUsed) {
  SliceList from = Filled();
  SliceList to = std::move(from);
  EXPECT_EQ(Text(to), Expected());
  EXPECT_TRUE(from.empty());
  from.push_back(Numbered(blocks_, 7));
  EXPECT_EQ(Text(from), "7 ");
  EXPECT_EQ(Text(to), Expected());
}

TEST_P(SliceListOfSizeTest, AMoveFromAPartlySpentListTakesTheRest) {
  if (GetParam() == 0) return;
  SliceList from = Filled();
  from.pop_front();
  const SliceList to = std::move(from);
  EXPECT_EQ(Text(to), Expected(1));
}

TEST_P(SliceListOfSizeTest, AssignmentDropsWhatWasThere) {
  for (const int before : {0, 1, 2, 3, 9}) {
    SliceList to;
    for (int i = 0; i < before; ++i) to.push_back(Numbered(blocks_, 100 + i));
    SliceList from = Filled();
    to = std::move(from);
    EXPECT_EQ(Text(to), Expected());
    EXPECT_EQ(blocks_.live(), GetParam());
  }
}

TEST_P(SliceListOfSizeTest, MovingAListIntoItselfChangesNothing) {
  SliceList list = Filled();
  SliceList& same = list;
  list = std::move(same);
  EXPECT_EQ(Text(list), Expected());
}

INSTANTIATE_TEST_SUITE_P(Sizes, SliceListOfSizeTest, testing::Values(0, 1, 2, 3, 4, 5, 64, 200));

TEST(SliceListTest, ALongQueueUsesItsSpentFrontAgain) {
  TestBlocks blocks;
  SliceList list;
  for (int i = 0; i < 4; ++i) list.push_back(Numbered(blocks, i));
  const BufferSlice* const memory = list.all().data();
  for (int i = 4; i < 100; ++i) {
    list.pop_front();
    list.pop_front();
    list.push_back(Numbered(blocks, i));
    list.push_back(Numbered(blocks, ++i));
    EXPECT_GE(list.all().data(), memory);
    EXPECT_LT(list.all().data(), memory + 4);
  }
  EXPECT_EQ(list.size(), 4u);
}

TEST(SliceListTest, BehavesAsADeque) {
  std::minstd_rand random(1);
  TestBlocks blocks;
  SliceList list;
  std::deque<std::string> model;
  const auto text = [&] {
    std::string all;
    for (const std::string& one : model) all += one + ' ';
    return all;
  };
  for (int i = 0; i < 20000; ++i) {
    // Runs of one kind, so that it gets long and empty.
    const bool grows = (i / 97) % 2 == 0;
    if (random() % 4 < (grows ? 3u : 1u)) {
      list.push_back(Numbered(blocks, i));
      model.push_back(std::to_string(i));
    } else if (!model.empty()) {
      list.pop_front();
      model.pop_front();
    }
    if (random() % 16 == 0) {
      SliceList moved = std::move(list);
      list = std::move(moved);
    }
    ASSERT_EQ(list.size(), model.size());
    ASSERT_EQ(blocks.live(), static_cast<int>(model.size()));
    if (!model.empty()) {
      ASSERT_EQ(std::string(list.front().view()), model.front());
      ASSERT_EQ(std::string(list.back().view()), model.back());
      ASSERT_EQ(std::string(list[model.size() / 2].view()), model[model.size() / 2]);
    }
    if (i % 64 == 0) {
      ASSERT_EQ(Text(list), text());
    }
  }
}

}  // namespace
}  // namespace farcall
