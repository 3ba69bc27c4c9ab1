// SPDX-License-Identifier: Apache-2.0

#include "rpc/call/answer_place.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace farcall {
namespace {

// The caller's memory, in slices of three.
class AnswerPlaceTest : public testing::Test {
 protected:
  AnswerPlaceTest() {
    Buffer memory;
    for (size_t at = 0; at < memory_.size(); at += 3) {
      memory.AppendUserData(&memory_[at], std::min<size_t>(3, memory_.size() - at), nullptr);
    }
    place_.Set(std::move(memory));
  }

  std::string memory_ = std::string(10, '.');
  AnswerPlace place_;
  const int first_ = 1;
  const int second_ = 2;
  uint64_t copied_ = 0;
};

TEST(AnswerPlaceUnsetTest, HasNoRoom) {
  AnswerPlace place;
  EXPECT_FALSE(place.is_set());
  EXPECT_TRUE(place.Lend(&place, 1, 0, 1).empty());
}

TEST_F(AnswerPlaceTest, LendsAnyPartOfItself) {
  for (size_t begin = 0; begin <= 10; ++begin) {
    for (size_t end = begin; end <= 10; ++end) {
      memory_ = "0123456789";
      EXPECT_EQ(place_.Lend(&first_, 10, begin, end - begin).ToString(),
                memory_.substr(begin, end - begin));
    }
  }
}

TEST_F(AnswerPlaceTest, IsNotLentToWhatDoesNotFit) {
  EXPECT_TRUE(place_.Lend(&first_, 11, 0, 1).empty());
  EXPECT_EQ(place_.Lend(&first_, 10, 0, 10).size(), 10u);
}

TEST_F(AnswerPlaceTest, OneAttemptHasItAtATime) {
  EXPECT_EQ(place_.Lend(&first_, 5, 0, 5).size(), 5u);
  EXPECT_TRUE(place_.Lend(&second_, 5, 0, 5).empty());
  place_.TakeBack(&second_);
  EXPECT_TRUE(place_.Lend(&second_, 5, 0, 5).empty()) << "who never had it gives nothing back";
  EXPECT_EQ(place_.Lend(&first_, 5, 2, 3).size(), 3u);
  place_.TakeBack(&first_);
  EXPECT_EQ(place_.Lend(&second_, 5, 0, 5).size(), 5u);
  EXPECT_TRUE(place_.Lend(&first_, 5, 0, 5).empty());
}

TEST_F(AnswerPlaceTest, WhatCameElsewhereIsCopiedAndCounted) {
  Buffer came(absl::string_view("ab"));
  came.Append("cdefg");
  const Buffer landed = place_.Gather(came, copied_);
  EXPECT_EQ(landed.ToString(), "abcdefg");
  EXPECT_EQ(memory_, "abcdefg...");
  EXPECT_EQ(copied_, 7u);
}

TEST_F(AnswerPlaceTest, WhatLiesAtItsPlaceIsNotCopied) {
  Buffer came(absl::string_view("abcd"));
  memory_ = "____efgh__";
  came.Append(place_.Lend(&first_, 8, 4, 4));
  const Buffer landed = place_.Gather(came, copied_);
  EXPECT_EQ(landed.ToString(), "abcdefgh");
  EXPECT_EQ(memory_, "abcdefgh__");
  EXPECT_EQ(copied_, 4u);
  EXPECT_EQ(static_cast<const void*>(landed.slices()[0].view().data()), memory_.data());
}

TEST_F(AnswerPlaceTest, NothingThatCameIsNothing) {
  EXPECT_TRUE(place_.Gather(Buffer(), copied_).empty());
  EXPECT_EQ(copied_, 0u);
  EXPECT_EQ(memory_, "..........");
}

// As when the peer is in this process and sent from the same memory.
TEST_F(AnswerPlaceTest, BytesMayComeFromTheMemoryItself) {
  memory_ = "0123456789";
  Buffer came;
  came.AppendUserData(&memory_[2], 6, nullptr);
  place_.Gather(came, copied_);
  EXPECT_EQ(memory_.substr(0, 3), "234");
}

TEST_F(AnswerPlaceTest, WhatADeviceStillWritesToIsLentToNobodyElse) {
  EXPECT_EQ(place_.Lend(&first_, 5, 0, 5).size(), 5u);
  place_.Hold();
  place_.Hold();
  place_.TakeBack(&first_);
  EXPECT_TRUE(place_.Lend(&second_, 5, 0, 5).empty());
  place_.Drop();
  EXPECT_TRUE(place_.held());
  EXPECT_TRUE(place_.Lend(&second_, 5, 0, 5).empty());
  place_.Drop();
  EXPECT_FALSE(place_.held());
  EXPECT_EQ(place_.Lend(&second_, 5, 0, 5).size(), 5u);
}

}  // namespace
}  // namespace farcall
