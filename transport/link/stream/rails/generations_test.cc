// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/rails/generations.h"

#include "gtest/gtest.h"

namespace farcall {
namespace {

TEST(GenerationsTest, BeginOneAfterTheOther) {
  Generations generations;
  EXPECT_FALSE(generations.enough());
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
  EXPECT_EQ(generations.Dying(3), 1u);
  generations.Kill(3);
  EXPECT_EQ(generations.Find(2), nullptr);
  EXPECT_NE(generations.Find(4), nullptr);
  EXPECT_EQ(generations.Dying(3), 0u);
  EXPECT_EQ(generations.Dying(4), 4u);
  generations.Kill(1);
  EXPECT_NE(generations.Find(4), nullptr);
}

TEST(GenerationsTest, ThePeerGivesEachUpOnceAndInOrder) {
  Generations generations;
  for (int i = 0; i < 3; ++i) generations.Start();
  EXPECT_FALSE(generations.Resume(4));
  EXPECT_TRUE(generations.Resume(2));
  EXPECT_FALSE(generations.Resume(2));
  EXPECT_FALSE(generations.Resume(1));
  EXPECT_TRUE(generations.Resume(3));
}

TEST(GenerationsTest, OfSeveralEachDiesForItself) {
  Generations generations(3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(generations.enough());
    generations.Start();
  }
  EXPECT_TRUE(generations.full());
  EXPECT_EQ(generations.Dying(2), 2u);
  generations.Kill(2);
  EXPECT_NE(generations.Find(1), nullptr);
  EXPECT_EQ(generations.Find(2), nullptr);
  EXPECT_NE(generations.Find(3), nullptr);
  EXPECT_EQ(generations.Dying(2), 0u);
}

TEST(GenerationsTest, OfSeveralEachCountsUntilBothEndsHaveGivenItUp) {
  Generations generations(2);
  generations.Start();
  generations.Start();
  generations.Kill(1);
  EXPECT_TRUE(generations.enough());
  EXPECT_TRUE(generations.Resume(1));
  EXPECT_FALSE(generations.Resume(1));
  EXPECT_FALSE(generations.enough());
  EXPECT_TRUE(generations.Resume(2));
  EXPECT_FALSE(generations.Resume(2));
  generations.Kill(2);
  EXPECT_FALSE(generations.Resume(2));
  EXPECT_EQ(generations.Start(), 3u);
  EXPECT_FALSE(generations.full());
}

}  // namespace
}  // namespace farcall
