// SPDX-License-Identifier: Apache-2.0

#include "transport/base/check.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace farcall {
namespace {

TEST(CheckTest, WhatHoldsCostsNothingAndSaysNothing) {
  testing::internal::CaptureStderr();
  Check(true, "one is one");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(CheckDeathTest, WhatDoesNotHoldAbortsWithThePlaceAndTheReason) {
  EXPECT_DEATH(Check(1 > 2, "one is not two"),
               "farcall: check failed at .*check_test.cc:[0-9]+ in .*: one is not two");
}

TEST(CheckDeathTest, AbortsBySignalSoThatACoreIsLeft) {
  EXPECT_EXIT(Check(false, "never"), testing::KilledBySignal(SIGABRT), "never");
}

}  // namespace
}  // namespace farcall
