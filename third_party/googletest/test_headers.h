// SPDX-License-Identifier: Apache-2.0

// What many tests include, and takes long to read. Each test still includes what it uses:
// only the sanitizers' builds read this first.
#ifndef FARCALL_THIRD_PARTY_GOOGLETEST_TEST_HEADERS_H_
#define FARCALL_THIRD_PARTY_GOOGLETEST_TEST_HEADERS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#endif  // FARCALL_THIRD_PARTY_GOOGLETEST_TEST_HEADERS_H_
