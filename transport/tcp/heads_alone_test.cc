// SPDX-License-Identifier: Apache-2.0

#include "transport/tcp/heads_alone.h"

#include <gtest/gtest.h>

namespace farcall {
namespace {

constexpr size_t kLarge = size_t{1} << 20;
constexpr size_t kRoom = HeadsAlone::kRoom;

// A large message with a place, of which `ahead` bytes were read with its head.
void Lands(HeadsAlone& heads, size_t ahead) {
  EXPECT_EQ(heads.Room(kLarge - ahead, kLarge - ahead), kRoom);
  heads.Came(kLarge - ahead, kLarge - ahead + kRoom);
}

TEST(HeadsAloneTest, AtFirstAllIsRead) {
  HeadsAlone heads;
  EXPECT_EQ(heads.Room(0, 0), SIZE_MAX);
}

TEST(HeadsAloneTest, AfterALargeMessageWithAPlaceHeadsAreReadAlone) {
  HeadsAlone heads;
  for (int i = 0; i < 3; ++i) {
    if (i > 0) {
      EXPECT_EQ(heads.Room(0, 0), kRoom);
      heads.Came(kRoom, kRoom);
    }
    Lands(heads, kRoom - 60);
  }
}

TEST(HeadsAloneTest, AHeadThatComesInPartsIsStillOne) {
  HeadsAlone heads;
  Lands(heads, 0);
  EXPECT_EQ(heads.Room(0, 0), kRoom);
  heads.Came(5, kRoom);
  EXPECT_EQ(heads.Room(7, 0), kRoom);
  heads.Came(kRoom, kRoom + 7);
  Lands(heads, 400);
}

TEST(HeadsAloneTest, ManySmallMessagesEndIt) {
  HeadsAlone heads;
  Lands(heads, 0);
  EXPECT_EQ(heads.Room(0, 0), kRoom);
  heads.Came(kRoom, kRoom);
  EXPECT_EQ(heads.Room(30, 0), SIZE_MAX);
}

TEST(HeadsAloneTest, FewSmallMessagesInBetweenDoNot) {
  HeadsAlone heads;
  Lands(heads, 0);
  EXPECT_EQ(heads.Room(0, 0), kRoom);
  heads.Came(100, kRoom);
  EXPECT_EQ(heads.Room(0, 0), kRoom);
}

TEST(HeadsAloneTest, MessagesTooSmallToBeWorthItEndIt) {
  HeadsAlone heads;
  Lands(heads, 0);
  EXPECT_EQ(heads.Room(0, 0), kRoom);
  heads.Came(kRoom, kRoom);
  EXPECT_EQ(heads.Room(4096 - 450, 4096 - 450), SIZE_MAX);
}

TEST(HeadsAloneTest, ALargeMessageWithoutAPlaceEndsIt) {
  HeadsAlone heads;
  Lands(heads, 0);
  EXPECT_EQ(heads.Room(0, 0), kRoom);
  heads.Came(200, kRoom);
  EXPECT_EQ(heads.Room(kLarge, 0), SIZE_MAX);
}

TEST(HeadsAloneTest, TheEndOfAPlaceDoesNotEndIt) {
  HeadsAlone heads;
  Lands(heads, 0);
  EXPECT_EQ(heads.Room(100, 100), kRoom);
  heads.Came(50, 100 + kRoom);
  EXPECT_EQ(heads.Room(50, 50), kRoom);
}

}  // namespace
}  // namespace farcall
