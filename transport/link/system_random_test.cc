// SPDX-License-Identifier: Apache-2.0

#include "transport/link/system_random.h"

#include <algorithm>
#include <array>
#include <set>

#include "gtest/gtest.h"

namespace farcall {
namespace {

TEST(SystemRandomTest, IsAnotherEachTime) {
  std::set<std::array<uint8_t, 16>> seen;
  for (int i = 0; i < 1000; ++i) {
    std::array<uint8_t, 16> token{};
    SystemRandom(token);
    seen.insert(token);
  }
  EXPECT_EQ(seen.size(), 1000u);
}

TEST(SystemRandomTest, FillsAllBytes) {
  std::array<bool, 256> filled{};
  for (int i = 0; i < 100; ++i) {
    std::array<uint8_t, 256> bytes{};
    SystemRandom(bytes);
    for (size_t k = 0; k < bytes.size(); ++k) filled[k] |= bytes[k] != 0;
  }
  EXPECT_TRUE(std::all_of(filled.begin(), filled.end(), [](bool is) { return is; }));
}

}  // namespace
}  // namespace farcall
