// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/flow/memory_window_ring.h"

#include <cstdint>
#include <deque>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transport/testing/seeds_here.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

TEST(MemoryWindowRingTest, AWindowGoesRound) {
  MemoryWindowRing ring(2);
  EXPECT_TRUE(ring.available());
  EXPECT_EQ(ring.Bind(), 0u);
  EXPECT_EQ(ring.Bind(), 1u);
  EXPECT_FALSE(ring.available());
  EXPECT_EQ(ring.open(), 2u);
  EXPECT_EQ(ring.NextToClose(), std::nullopt);

  EXPECT_TRUE(ring.OnRead(1).ok());
  EXPECT_EQ(ring.open(), 1u);
  EXPECT_TRUE(ring.close_due());
  EXPECT_EQ(ring.NextToClose(), 0u);
  EXPECT_EQ(ring.NextToClose(), std::nullopt);
  // The peer's word is not enough.
  EXPECT_FALSE(ring.available());
  ring.OnClosed(0);
  EXPECT_TRUE(ring.available());
  EXPECT_EQ(ring.Bind(), 0u);
}

TEST(MemoryWindowRingTest, WithoutWindowsNothingIsReferredTo) {
  MemoryWindowRing ring(0);
  EXPECT_FALSE(ring.available());
  EXPECT_TRUE(ring.OnRead(0).ok());
  EXPECT_FALSE(ring.OnRead(1).ok());
}

TEST(MemoryWindowRingTest, APeerThatHasReadWhatWasNotSentBreaksTheProtocol) {
  MemoryWindowRing ring(4);
  ring.Bind();
  EXPECT_THAT(ring.OnRead(2).message(), ::testing::HasSubstr("has read 2 references more"));
  EXPECT_TRUE(ring.OnRead(1).ok());
  EXPECT_FALSE(ring.OnRead(0).ok()) << "fewer than before";
  EXPECT_TRUE(ring.OnRead(1).ok());
}

TEST(MemoryWindowRingDeathTest, MisuseIsNoticed) {
  MemoryWindowRing ring(1);
  EXPECT_DEATH(ring.OnClosed(0), "closed in order");
  ring.Bind();
  EXPECT_DEATH(ring.Bind(), "when it is free");
  EXPECT_DEATH(MemoryWindowRing(MemoryWindowRing::kMax + 1), "16 bits");
}

// Against sets of what is where, long enough for the count to wrap.
TEST(MemoryWindowRingTest, NoWindowIsInTwoPlaces) {
  for (uint64_t seed = 0; seed < SeedsHere(10); ++seed) {
    SCOPED_TRACE(seed);
    TestRandom random(seed);
    const auto windows = static_cast<uint32_t>(1 + random.Below(MemoryWindowRing::kMax));
    MemoryWindowRing ring(windows);
    std::deque<uint32_t> open;
    std::deque<uint32_t> closing;
    std::set<uint32_t> used;
    uint64_t read = 0;
    for (int step = 0; step < 400'000; ++step) {
      switch (random.Below(3)) {
        case 0:
          ASSERT_EQ(ring.available(), used.size() < windows);
          if (!ring.available()) break;
          open.push_back(ring.Bind());
          ASSERT_TRUE(used.insert(open.back()).second);
          break;
        case 1: {
          const uint64_t some = random.Below(open.size() + 1);
          read += some;
          ASSERT_TRUE(ring.OnRead(static_cast<uint16_t>(read)).ok());
          for (uint64_t i = 0; i < some; ++i) {
            ASSERT_EQ(ring.NextToClose(), open.front());
            closing.push_back(open.front());
            open.pop_front();
          }
          ASSERT_EQ(ring.NextToClose(), std::nullopt);
          break;
        }
        default:
          if (closing.empty()) break;
          ring.OnClosed(closing.front());
          used.erase(closing.front());
          closing.pop_front();
      }
      ASSERT_EQ(ring.open(), open.size());
    }
    EXPECT_TRUE(read > 65536 || windows < 8) << "the count has wrapped";
  }
}

}  // namespace
}  // namespace farcall
