// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/generations.h"

#include "gtest/gtest.h"

namespace farcall {
namespace {

TEST(GenerationsTest, BeginOneAfterTheOther) {
  Generations generations;
  EXPECT_FALSE(generations.any());
  EXPECT_EQ(generations.Find(1), nullptr);
  EXPECT_EQ(generations.Start(), 1u);
  EXPECT_EQ(generations.Start(), 2u);
  EXPECT_NE(generations.Find(2), nullptr);
  EXPECT_EQ(generations.started(), 2u);
  EXPECT_FALSE(generations.full());
}

TEST(GenerationsTest, TheNewestThatIsReadyIsUsed) {
  Generations generations;
  for (int i = 0; i < 3; ++i) generations.Start();
  EXPECT_EQ(generations.Usable(), nullptr);
  generations.Find(1)->ready = true;
  EXPECT_EQ(generations.Usable()->number, 1u);
  generations.Find(2)->ready = true;
  EXPECT_EQ(generations.Usable()->number, 2u);
}

TEST(GenerationsTest, DeathTakesAllBelow) {
  Generations generations;
  for (int i = 0; i < 4; ++i) generations.Start();
  EXPECT_TRUE(generations.full());
  EXPECT_EQ(generations.Oldest(3), 1u);
  generations.Kill(3);
  EXPECT_EQ(generations.dead(), 3u);
  EXPECT_EQ(generations.Find(2), nullptr);
  EXPECT_NE(generations.Find(4), nullptr);
  EXPECT_EQ(generations.Oldest(3), 0u);
  EXPECT_EQ(generations.Oldest(4), 4u);
  generations.Kill(1);
  EXPECT_EQ(generations.dead(), 3u);
}

}  // namespace
}  // namespace farcall
