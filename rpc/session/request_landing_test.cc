// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/request_landing.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace farcall {
namespace {

class RequestLandingTest : public testing::Test {
 protected:
  Buffer Memory(size_t bytes) {
    memory_.assign(bytes, '.');
    Buffer memory;
    memory.AppendUserData(memory_.data(), memory_.size(), nullptr);
    return memory;
  }

  std::string memory_;
  RequestLanding landing_{10};
  uint64_t copied_ = 0;
};

TEST_F(RequestLandingTest, IsDueOnceWhenItIsWholeAndItsPlaceIsKnown) {
  landing_.Came();
  EXPECT_FALSE(landing_.TakeDue()) << "nobody has said where";
  landing_.Answer(Memory(12));
  EXPECT_TRUE(landing_.TakeDue());
  EXPECT_FALSE(landing_.TakeDue());
  EXPECT_EQ(landing_.Land(Buffer("0123456789"), copied_).ToString(), "0123456789");
  EXPECT_EQ(memory_, "0123456789..");
  EXPECT_EQ(copied_, 10u);
}

TEST_F(RequestLandingTest, LendsOnlyWhileBytesAreAwaited) {
  EXPECT_TRUE(landing_.Lend(0, 10).empty()) << "not known yet";
  landing_.Answer(Memory(10));
  EXPECT_EQ(landing_.Lend(3, 7).size(), 7u);
  landing_.Came();
  EXPECT_TRUE(landing_.Lend(0, 10).empty());
}

TEST_F(RequestLandingTest, WhatHasFailedIsNotWrittenTo) {
  landing_.Answer(Memory(10));
  landing_.Fail(/*answer_comes=*/false);
  EXPECT_TRUE(landing_.Lend(0, 10).empty());
  landing_.Came();
  EXPECT_TRUE(landing_.failed());
  EXPECT_TRUE(landing_.TakeDue());
}

TEST_F(RequestLandingTest, InThePoolNothingIsCopied) {
  landing_.Answer(Buffer());
  EXPECT_TRUE(landing_.Lend(0, 10).empty());
  landing_.Came();
  ASSERT_TRUE(landing_.TakeDue());
  const Buffer came(absl::string_view("0123456789"));
  const char* const where = came.slices().front().view().data();
  const Buffer landed = landing_.Land(came.Share(), copied_);
  EXPECT_EQ(static_cast<const void*>(landed.slices().front().view().data()), where);
  EXPECT_EQ(copied_, 0u);
}

TEST_F(RequestLandingTest, WaitsForWhoStillWrites) {
  landing_.Answer(Memory(10));
  EXPECT_EQ(landing_.Lend(0, 5).size(), 5u);
  landing_.Hold();
  landing_.Hold();
  landing_.Fail(/*answer_comes=*/false);
  EXPECT_FALSE(landing_.TakeDue());
  landing_.Drop();
  EXPECT_FALSE(landing_.TakeDue());
  landing_.Drop();
  EXPECT_TRUE(landing_.TakeDue());
}

TEST_F(RequestLandingTest, WhatFailsWhileItsPlaceIsOnTheWayWaitsForIt) {
  landing_.Fail(/*answer_comes=*/true);
  EXPECT_FALSE(landing_.TakeDue());
  landing_.Answer(Memory(10));
  EXPECT_TRUE(landing_.Lend(0, 10).empty());
  EXPECT_TRUE(landing_.TakeDue());
}

TEST_F(RequestLandingTest, WhatIsDueFailsNoMore) {
  landing_.Answer(Memory(10));
  landing_.Came();
  EXPECT_TRUE(landing_.TakeDue());
  landing_.Fail(/*answer_comes=*/false);
  EXPECT_FALSE(landing_.failed());
}

TEST_F(RequestLandingTest, KnowsWhatLiesThereAlready) {
  landing_.Answer(Memory(10));
  Buffer input(absl::string_view("head01"));
  input.Append(landing_.Lend(2, 5));
  EXPECT_EQ(landing_.Lying(input, 4), 5u);
  EXPECT_EQ(landing_.Lying(Buffer("head01"), 4), 0u);
}

TEST_F(RequestLandingTest, TooLittleMemoryIsNoPlace) {
  EXPECT_DEATH(landing_.Answer(Memory(9)), "room");
}

}  // namespace
}  // namespace farcall
