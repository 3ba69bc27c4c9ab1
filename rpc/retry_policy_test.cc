// SPDX-License-Identifier: Apache-2.0

#include "rpc/retry_policy.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "rpc/errors.h"

namespace farcall {
namespace {

FailedAttempt Failed(int code, bool may_have_run) { return {code, "", may_have_run, 1}; }

TEST(RetryPolicyTest, TheDefaultTriesAgainWhatConnectionsAndFullServersDo) {
  for (const int code :
       {int{kFailedSocket}, int{kSsl}, int{kEof}, int{kLogoff}, int{kLimit}, int{kOvercrowded},
        int{kRdma}, EHOSTDOWN, ECONNREFUSED, ECONNRESET, EPIPE, ETIMEDOUT}) {
    EXPECT_TRUE(RetryPolicy::Default()->ShouldRetry(Failed(code, true))) << code;
    EXPECT_TRUE(RetryPolicy::Default()->ShouldRetry(Failed(code, false))) << code;
  }
}

TEST(RetryPolicyTest, WhatWouldFailAgainIsNotTriedAgain) {
  for (const int code : {int{kNoService}, int{kNoMethod}, int{kBadRequest}, int{kAuthFailed},
                         int{kInternal}, int{kBadResponse}, int{kRpcTimedOut}, ECANCELED, 777}) {
    EXPECT_FALSE(RetryPolicy::Default()->ShouldRetry(Failed(code, false))) << code;
    EXPECT_FALSE(RetryPolicy::OnlyIfNotRun()->ShouldRetry(Failed(code, false))) << code;
  }
}

TEST(RetryPolicyTest, WhatMayHaveRunIsNotTriedAgainWhereItMustNotRunTwice) {
  EXPECT_FALSE(RetryPolicy::OnlyIfNotRun()->ShouldRetry(Failed(kFailedSocket, true)));
  EXPECT_TRUE(RetryPolicy::OnlyIfNotRun()->ShouldRetry(Failed(kFailedSocket, false)));
  EXPECT_TRUE(RetryPolicy::OnlyIfNotRun()->ShouldRetry(Failed(kLogoff, false)));
}

}  // namespace
}  // namespace farcall
