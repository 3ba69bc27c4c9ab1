// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/flow/completion_queue_budget.h"

#include <gtest/gtest.h>

namespace farcall {
namespace {

TEST(CompletionQueueBudgetTest, WhatIsTakenIsGoneUntilItIsGivenBack) {
  CompletionQueueBudget room(10);
  EXPECT_TRUE(room.Take(4));
  EXPECT_TRUE(room.Take(6));
  EXPECT_EQ(room.free(), 0u);
  EXPECT_FALSE(room.Take(1));
  EXPECT_TRUE(room.Take(0));
  room.Give(3);
  EXPECT_EQ(room.free(), 3u);
  EXPECT_EQ(room.entries(), 10u);
}

TEST(CompletionQueueBudgetTest, WhatIsNotThereIsNotTakenInPart) {
  CompletionQueueBudget room(10);
  EXPECT_FALSE(room.Take(11));
  EXPECT_EQ(room.free(), 10u);
}

TEST(CompletionQueueBudgetDeathTest, NoMoreIsGivenBackThanWasTaken) {
  CompletionQueueBudget room(10);
  EXPECT_TRUE(room.Take(4));
  EXPECT_DEATH(room.Give(5), "only what was taken");
}

}  // namespace
}  // namespace farcall
