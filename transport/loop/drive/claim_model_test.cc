// SPDX-License-Identifier: Apache-2.0
//
// The hand-over of a loop, over every interleaving of the model. In each state one thread drives at
// most; from each state the end can be reached, where all user code has run, all output is flushed
// and the monitor sleeps.

#include <gtest/gtest.h>

#include <string>

#include "transport/loop/drive/claim_model_testing.h"

namespace farcall {
namespace {

// Waits for its own output, before and after the drive is taken, and for the piece behind it.
const ClaimScript kBlocksOnTheLoop = {{{ClaimOp::kWrite, 0},
                                       {ClaimOp::kAwaitFlush, 0},
                                       {ClaimOp::kAwaitRun, 1},
                                       {ClaimOp::kWrite, 1},
                                       {ClaimOp::kAwaitFlush, 1}},
                                      {{ClaimOp::kWrite, 2}}};
// The first says that it blocks, and may be taken at the same moment.
const ClaimScript kSaysSo = {{{ClaimOp::kWrite, 0},
                              {ClaimOp::kBlock},
                              {ClaimOp::kAwaitRun, 1},
                              {ClaimOp::kWrite, 1},
                              {ClaimOp::kAwaitFlush, 1}},
                             {{ClaimOp::kWrite, 2}, {ClaimOp::kBlock}}};
const ClaimScript kWritesTwice = {{{ClaimOp::kWrite, 0},
                                   {ClaimOp::kAwaitFlush, 0},
                                   {ClaimOp::kWrite, 1},
                                   {ClaimOp::kAwaitFlush, 1}}};
const ClaimScript kQuick = {{{ClaimOp::kWrite, 0}}, {}, {{ClaimOp::kWrite, 1}}};
const ClaimScript kAllBlock = {
    {{ClaimOp::kAwaitRun, 1}}, {{ClaimOp::kAwaitRun, 2}}, {{ClaimOp::kWrite, 0}}};
const ClaimScript kWaitsForTheOthersOutput = {{{ClaimOp::kWrite, 0}, {ClaimOp::kAwaitRun, 1}},
                                              {{ClaimOp::kAwaitFlush, 0}}};

template <typename TestedClaim>
std::string Explore(const ClaimScript& script, size_t seats,
                    ClaimMistake broken = ClaimMistake::kNone) {
  ClaimModel<TestedClaim> model(script, seats, broken);
  const std::string found = model.Explore();
  testing::Test::RecordProperty("states", static_cast<int>(model.states()));
  EXPECT_GT(model.states(), 50u);
  return found;
}

TEST(ClaimModelTest, NoInterleavingBreaksARule) {
  for (const ClaimScript& script :
       {kBlocksOnTheLoop, kSaysSo, kWritesTwice, kQuick, kWaitsForTheOthersOutput}) {
    EXPECT_EQ(Explore<DriverClaim>(script, 2), "");
  }
  for (const ClaimScript& script : {kSaysSo, kWaitsForTheOthersOutput, kAllBlock}) {
    EXPECT_EQ(Explore<DriverClaim>(script, 3), "");
  }
  EXPECT_EQ(Explore<DriverClaim>(kQuick, 1), "") << "with no spare thread";
}

TEST(ClaimModelTest, WithTooFewThreadsThatWaitForEachOtherStandStill) {
  EXPECT_NE(Explore<DriverClaim>(kAllBlock, 2), "");
}

struct NeverLost : DriverClaim {
  bool Has(Piece) const { return true; }
  bool End(Piece) { return true; }
};
struct TakesWhateverRuns : DriverClaim {
  bool Take(Piece) { return DriverClaim::Take(state()); }
};
struct DefersForEver : DriverClaim {
  Piece Begin(Thread driver, bool watched) {
    began = driver;
    return DriverClaim::Begin(driver, watched);
  }
  bool DefersOutput(Thread thread) const { return began == thread; }
  Thread began = nullptr;
};

TEST(ClaimModelTest, FindsEachRuleThatIsBroken) {
  EXPECT_NE(Explore<NeverLost>(kBlocksOnTheLoop, 2), "");
  EXPECT_NE(Explore<TakesWhateverRuns>(kQuick, 2), "");
  EXPECT_NE(Explore<DefersForEver>(kWritesTwice, 2), "");
  EXPECT_NE(Explore<DriverClaim>(kBlocksOnTheLoop, 2, ClaimMistake::kSleepsWithoutALook), "");
  EXPECT_NE(
      Explore<DriverClaim>(kWaitsForTheOthersOutput, 2, ClaimMistake::kNextDriverDoesNotFlush), "");
}

}  // namespace
}  // namespace farcall
