// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/client/relink_pace.h"

#include <gtest/gtest.h>

namespace farcall {
namespace {

using std::chrono::seconds;

TEST(RelinkPaceTest, AServerIsAskedMoreAndMoreSlowly) {
  RelinkPace pace(1);
  Duration whole = RelinkPace::kFirst;
  for (int i = 0; i < 10; ++i) {
    const Duration pause = pace.Next(WhyNotRdma::kPeerSilent);
    EXPECT_GE(pause, whole / 2);
    EXPECT_LE(pause, whole);
    whole = std::min<Duration>(2 * whole, RelinkPace::kLongest);
  }
  EXPECT_EQ(whole, RelinkPace::kLongest);
  pace.OnLinked();
  EXPECT_LE(pace.Next(WhyNotRdma::kPeerSilent), RelinkPace::kFirst);
}

TEST(RelinkPaceTest, ThisHostIsLookedAtAgainSoonHoweverOften) {
  RelinkPace pace(1);
  for (int i = 0; i < 10; ++i) {
    EXPECT_LE(pace.Next(WhyNotRdma::kNoDevice), RelinkPace::kFirst);
  }
}

TEST(RelinkPaceTest, WhatPassesWithTheConnectionOnlyOrNeverIsLeftAlone) {
  for (const WhyNotRdma why : {WhyNotRdma::kNoDevice, WhyNotRdma::kNoActivePort,
                               WhyNotRdma::kPeerSilent, WhyNotRdma::kPeerHasNone}) {
    EXPECT_TRUE(RelinkPace::MayPass(why)) << Name(why);
  }
  for (const WhyNotRdma why : {WhyNotRdma::kNotAsked, WhyNotRdma::kNotForThisAddress,
                               WhyNotRdma::kPeerOff, WhyNotRdma::kNotBuiltIn, WhyNotRdma::kTls}) {
    EXPECT_FALSE(RelinkPace::MayPass(why)) << Name(why);
  }
}

}  // namespace
}  // namespace farcall
