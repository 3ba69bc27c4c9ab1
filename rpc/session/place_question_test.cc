// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/place_question.h"

#include <gtest/gtest.h>

#include <optional>

namespace farcall {
namespace {

using Verdict = PlaceQuestion::Verdict;

Placement Refusal(int code) { return {.refused = code}; }

TEST(PlaceQuestionTest, AnAnswerAtOnceIsKeptForWhoAsked) {
  PlaceQuestion question;
  Placement answer = Refusal(7);
  EXPECT_EQ(question.Answer(answer), Verdict::kKept);
  const std::optional<Placement> found = question.Asked();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->refused, 7);
  EXPECT_FALSE(question.Withdraw()) << "it has it";
}

TEST(PlaceQuestionTest, ALaterOneIsBroughtToWhoAsked) {
  PlaceQuestion question;
  EXPECT_FALSE(question.Asked().has_value());
  Placement answer = Refusal(7);
  EXPECT_EQ(question.Answer(answer), Verdict::kDeliver);
  EXPECT_EQ(answer.refused, 7) << "by who answers";
  EXPECT_FALSE(question.Withdraw()) << "it is on its way";
}

TEST(PlaceQuestionTest, WhatWasWithdrawnIsNobodysAnswer) {
  PlaceQuestion question;
  EXPECT_FALSE(question.Asked().has_value());
  EXPECT_TRUE(question.Withdraw());
  Placement answer = Refusal(7);
  EXPECT_EQ(question.Answer(answer), Verdict::kLate);
}

}  // namespace
}  // namespace farcall
