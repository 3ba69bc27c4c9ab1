// SPDX-License-Identifier: Apache-2.0

#include "transport/carrier/backlog_bound.h"

#include <gtest/gtest.h>

#include <random>

namespace farcall {
namespace {

TEST(BacklogBoundTest, AsksOnlyWhenWhatWasWrittenIsAboveTheMark) {
  BacklogBound bound;
  int asked = 0;
  const auto none_waits = [&] { return ++asked, size_t{0}; };
  bound.Add(10);
  EXPECT_FALSE(bound.Above(10, none_waits));
  EXPECT_EQ(asked, 0);
  bound.Add(1);
  EXPECT_FALSE(bound.Above(10, none_waits));
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(bound.most(), 0u);
}

TEST(BacklogBoundTest, SaysWhatTheConnectionWouldSay) {
  std::mt19937 random(1);
  BacklogBound bound;
  size_t backlog = 0;
  for (int i = 0; i < 100000; ++i) {
    if (random() % 2 == 0) {
      const size_t bytes = random() % 100;
      backlog += bytes;
      bound.Add(bytes);
    } else {
      backlog -= random() % (backlog + 1);
    }
    const size_t mark = random() % 300;
    ASSERT_EQ(bound.Above(mark, [&] { return backlog; }), backlog > mark);
    ASSERT_GE(bound.most(), backlog);
  }
}

}  // namespace
}  // namespace farcall
