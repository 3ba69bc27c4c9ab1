// SPDX-License-Identifier: Apache-2.0

#include "transport/carrier/framed_backlog.h"

#include <algorithm>
#include <string>

#include "gtest/gtest.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

TEST(FramedBacklogTest, CountsTheCallersBytesAlone) {
  FramedBacklog backlog;
  EXPECT_EQ(backlog.Own(0), 0u);
  backlog.Add(/*own=*/10, /*bytes=*/34, /*waiting=*/0);
  backlog.Add(/*own=*/0, /*bytes=*/32, /*waiting=*/34);
  backlog.Add(/*own=*/5, /*bytes=*/29, /*waiting=*/66);
  EXPECT_EQ(backlog.given(), 95u);
  EXPECT_EQ(backlog.Own(95), 15u);
  EXPECT_EQ(backlog.Own(71), 15u) << "the first header has left";
  EXPECT_EQ(backlog.Own(62), 6u) << "and nine bytes behind it";
  EXPECT_EQ(backlog.Own(61), 5u);
  EXPECT_EQ(backlog.Own(30), 5u);
  EXPECT_EQ(backlog.Own(2), 2u);
  EXPECT_EQ(backlog.Own(0), 0u);
}

TEST(FramedBacklogTest, WhatWasWrittenBelowBeforeIsNotTheCallers) {
  FramedBacklog backlog;
  EXPECT_EQ(backlog.Own(64), 0u);
  backlog.Add(/*own=*/1, /*bytes=*/25, /*waiting=*/64);
  EXPECT_EQ(backlog.Own(89), 1u);
  EXPECT_EQ(backlog.Own(24), 1u);
}

TEST(FramedBacklogTest, WhatHasLeftAtOnceWaitsNowhere) {
  FramedBacklog backlog;
  backlog.Add(/*own=*/1, /*bytes=*/25, /*waiting=*/0);
  backlog.Pass(/*own=*/2, /*bytes=*/26);
  EXPECT_EQ(backlog.given(), 51u);
  EXPECT_EQ(backlog.Own(0), 0u);
  backlog.Add(/*own=*/4, /*bytes=*/28, /*waiting=*/0);
  EXPECT_EQ(backlog.Own(28), 4u);
}

TEST(FramedBacklogTest, ATrailerHoldsUpTheLastBytes) {
  FramedBacklog backlog;
  backlog.Add(/*own=*/100, /*bytes=*/122, /*waiting=*/0);
  EXPECT_EQ(backlog.Own(16), 16u) << "a record without its end is not readable";
  EXPECT_EQ(backlog.Own(1), 1u);
}

TEST(FramedBacklogTest, WhatGoesByAnotherWayCountsNoMore) {
  FramedBacklog backlog;
  backlog.Add(/*own=*/100, /*bytes=*/122, /*waiting=*/0);
  backlog.Forget();
  EXPECT_EQ(backlog.Own(122), 0u);
  EXPECT_EQ(backlog.given(), 122u);
  backlog.Add(/*own=*/10, /*bytes=*/32, /*waiting=*/122);
  EXPECT_EQ(backlog.Own(154), 10u);
  EXPECT_EQ(backlog.Own(5), 5u);
}

// Against a string of the bytes below: 'h' of frames, 'o' of the caller.
TEST(FramedBacklogTest, AgreesWithTheBytesThatWait) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    TestRandom random(seed);
    FramedBacklog backlog;
    std::string below(random.Below(3) * 40, 'h');
    for (int step = 0; step < 200; ++step) {
      if (random.Chance(0.6)) {
        const size_t own = random.Chance(0.3) ? 0 : 1 + random.Below(50);
        const size_t header = 1 + random.Below(24);
        backlog.Add(own, header + own, below.size());
        below.append(header, 'h').append(own, 'o');
      } else {
        below.erase(0, random.Chance(0.2) ? below.size() : random.Below(below.size() + 1));
      }
      const auto expected = static_cast<size_t>(std::count(below.begin(), below.end(), 'o'));
      ASSERT_EQ(backlog.Own(below.size()), expected) << "seed " << seed << " step " << step;
    }
  }
}

}  // namespace
}  // namespace farcall
