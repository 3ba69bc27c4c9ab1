// SPDX-License-Identifier: Apache-2.0

// What many tests include, and takes long to read. Each test still includes what it uses: the
// default configuration reads none first.
#ifndef FARCALL_THIRD_PARTY_PRECOMPILED_TEST_HEADERS_H_
#define FARCALL_THIRD_PARTY_PRECOMPILED_TEST_HEADERS_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "third_party/precompiled/library_headers.h"

#endif  // FARCALL_THIRD_PARTY_PRECOMPILED_TEST_HEADERS_H_
