// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/server/request_place.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace farcall {
namespace {

class RequestPlaceTest : public testing::Test {
 protected:
  Buffer Memory(size_t bytes) {
    memory_.assign(bytes, '.');
    Buffer memory;
    memory.AppendUserData(memory_.data(), memory_.size(), nullptr);
    return memory;
  }

  std::string memory_;
  RequestPlace place_{10};
  uint64_t copied_ = 0;
};

TEST_F(RequestPlaceTest, IsDueOnceWhenItIsWholeAndItsPlaceIsKnown) {
  place_.Came();
  EXPECT_FALSE(place_.TakeDue()) << "the service has not answered";
  place_.Answer(Memory(12));
  EXPECT_TRUE(place_.TakeDue());
  EXPECT_FALSE(place_.TakeDue());
  EXPECT_EQ(place_.Gather(Buffer("0123456789"), copied_).ToString(), "0123456789");
  EXPECT_EQ(memory_, "0123456789..");
  EXPECT_EQ(copied_, 10u);
}

TEST_F(RequestPlaceTest, LendsOnlyWhileBytesAreAwaited) {
  EXPECT_TRUE(place_.Lend(0, 10).empty()) << "not known yet";
  place_.Answer(Memory(10));
  EXPECT_EQ(place_.Lend(3, 7).size(), 7u);
  place_.Came();
  EXPECT_TRUE(place_.Lend(0, 10).empty());
}

TEST_F(RequestPlaceTest, WhatHasFailedIsNotWrittenTo) {
  place_.Answer(Memory(10));
  place_.Fail(/*answer_comes=*/false);
  EXPECT_TRUE(place_.Lend(0, 10).empty());
  place_.Came();
  EXPECT_TRUE(place_.failed());
  EXPECT_TRUE(place_.TakeDue());
}

TEST_F(RequestPlaceTest, InThePoolNothingIsCopied) {
  place_.Answer(Buffer());
  EXPECT_TRUE(place_.Lend(0, 10).empty());
  place_.Came();
  ASSERT_TRUE(place_.TakeDue());
  const Buffer came(absl::string_view("0123456789"));
  const char* const where = came.slices().front().view().data();
  const Buffer landed = place_.Gather(came.Share(), copied_);
  EXPECT_EQ(static_cast<const void*>(landed.slices().front().view().data()), where);
  EXPECT_EQ(copied_, 0u);
}

TEST_F(RequestPlaceTest, WaitsForWhoStillWrites) {
  place_.Answer(Memory(10));
  EXPECT_EQ(place_.Lend(0, 5).size(), 5u);
  place_.Hold();
  place_.Hold();
  place_.Fail(/*answer_comes=*/false);
  EXPECT_FALSE(place_.TakeDue());
  place_.Drop();
  EXPECT_FALSE(place_.TakeDue());
  place_.Drop();
  EXPECT_TRUE(place_.TakeDue());
}

TEST_F(RequestPlaceTest, WhatFailsWhileItsPlaceIsOnTheWayWaitsForIt) {
  place_.Fail(/*answer_comes=*/true);
  EXPECT_FALSE(place_.TakeDue());
  place_.Answer(Memory(10));
  EXPECT_TRUE(place_.Lend(0, 10).empty());
  EXPECT_TRUE(place_.TakeDue());
}

TEST_F(RequestPlaceTest, WhatIsDueFailsNoMore) {
  place_.Answer(Memory(10));
  place_.Came();
  EXPECT_TRUE(place_.TakeDue());
  place_.Fail(/*answer_comes=*/false);
  EXPECT_FALSE(place_.failed());
}

TEST_F(RequestPlaceTest, KnowsWhatLiesThereAlready) {
  place_.Answer(Memory(10));
  Buffer input(absl::string_view("head01"));
  input.Append(place_.Lend(2, 5));
  EXPECT_EQ(place_.Lying(input, 4), 5u);
  EXPECT_EQ(place_.Lying(Buffer("head01"), 4), 0u);
}

TEST_F(RequestPlaceTest, TooLittleMemoryIsNoPlace) {
  EXPECT_DEATH(place_.Answer(Memory(9)), "room");
}

}  // namespace
}  // namespace farcall
