// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/server/pending_placement.h"

#include <gtest/gtest.h>

#include <optional>

namespace farcall {
namespace {

using Verdict = PendingPlacement::Verdict;

Placement Refusal(int code) { return {.refused = code}; }

TEST(PendingPlacementTest, AnAnswerAtOnceIsKeptForWhoAsked) {
  PendingPlacement pending;
  Placement answer = Refusal(7);
  EXPECT_EQ(pending.Answer(answer), Verdict::kKept);
  const std::optional<Placement> found = pending.TakeIfAnswered();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->refused, 7);
  EXPECT_FALSE(pending.Withdraw()) << "it has it";
}

TEST(PendingPlacementTest, ALaterOneIsBroughtToWhoAsked) {
  PendingPlacement pending;
  EXPECT_FALSE(pending.TakeIfAnswered().has_value());
  Placement answer = Refusal(7);
  EXPECT_EQ(pending.Answer(answer), Verdict::kDeliver);
  EXPECT_EQ(answer.refused, 7) << "by who answers";
  EXPECT_FALSE(pending.Withdraw()) << "it is on its way";
}

TEST(PendingPlacementTest, WhatWasWithdrawnIsNobodysAnswer) {
  PendingPlacement pending;
  EXPECT_FALSE(pending.TakeIfAnswered().has_value());
  EXPECT_TRUE(pending.Withdraw());
  Placement answer = Refusal(7);
  EXPECT_EQ(pending.Answer(answer), Verdict::kLate);
}

}  // namespace
}  // namespace farcall
