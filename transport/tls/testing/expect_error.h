// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TLS_TESTING_EXPECT_ERROR_H_
#define FARCALL_TRANSPORT_TLS_TESTING_EXPECT_ERROR_H_

#include <initializer_list>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace farcall {

// `status` has `code`, and a message with each of `parts` in it.
inline void ExpectError(const absl::Status& status, absl::StatusCode code,
                        std::initializer_list<std::string> parts) {
  EXPECT_EQ(status.code(), code) << status;
  for (const std::string& part : parts) {
    EXPECT_TRUE(absl::StrContains(status.message(), part)) << part << " is not in: " << status;
  }
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TLS_TESTING_EXPECT_ERROR_H_
