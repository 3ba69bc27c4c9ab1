// SPDX-License-Identifier: Apache-2.0

#include "rpc/stats/sample_ring.h"

#include <chrono>

#include "gtest/gtest.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TimePoint At(double when) {
  return TimePoint(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(when)));
}

class SampleRingTest : public testing::Test {
 protected:
  SampleRing<int> ring_{3, seconds(2)};
};

TEST_F(SampleRingTest, KeepsTheLastOnes) {
  EXPECT_TRUE(ring_.empty());
  for (int i = 0; i < 5; ++i) ring_.Add(At(i), 10 * i);
  ASSERT_EQ(ring_.size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(ring_.at(i).when, At(static_cast<double>(i) + 2));
    EXPECT_EQ(ring_.at(i).counts, 10 * (static_cast<int>(i) + 2));
  }
  EXPECT_EQ(ring_.last().counts, 40);
}

TEST_F(SampleRingTest, ReckonsFromTheLastSampleBefore) {
  ring_.Add(At(1), 10);
  ring_.Add(At(2), 20);
  ring_.Add(At(3), 30);
  const auto base = ring_.Before(At(2.5), 35);
  EXPECT_EQ(base.when, At(2));
  EXPECT_EQ(*base.counts, 20);
  EXPECT_EQ(*ring_.Before(At(3), 35).counts, 30) << "a sample of that time counts";
}

TEST_F(SampleRingTest, ReckonsFromTheOldestWhereItDoesNotReach) {
  ring_.Add(At(5), 50);
  ring_.Add(At(6), 60);
  const auto base = ring_.Before(At(-100), 65);
  EXPECT_EQ(base.when, At(5));
  EXPECT_EQ(*base.counts, 50);
}

TEST_F(SampleRingTest, AfterAPauseNothingWasCountedInIt) {
  ring_.Add(At(1), 10);
  ring_.Add(At(100), 12);
  const int now = 500;
  const auto base = ring_.Before(At(99), now);
  EXPECT_EQ(base.when, At(99));
  EXPECT_EQ(*base.counts, 12) << "what came after the pause is recent, what came before is not";
}

TEST_F(SampleRingTest, WhileItIsQuietNothingIsRecent) {
  ring_.Add(At(1), 10);
  const int now = 14;
  const auto base = ring_.Before(At(99), now);
  EXPECT_EQ(base.when, At(99));
  EXPECT_EQ(base.counts, &now);
  EXPECT_EQ(*ring_.Before(At(2.9), now).counts, 10) << "not so long is not quiet";
}

TEST_F(SampleRingTest, TwoSamplesMayHaveOneTime) {
  ring_.Add(At(1), 10);
  ring_.Add(At(1), 11);
  EXPECT_EQ(*ring_.Before(At(1), 15).counts, 11);
}

}  // namespace
}  // namespace farcall
