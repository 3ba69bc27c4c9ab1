// SPDX-License-Identifier: Apache-2.0

#include "transport/testing/test_pattern.h"

#include <string>

#include "gtest/gtest.h"

namespace farcall {
namespace {

std::string Bytes(const TestPattern& pattern, uint64_t offset, size_t count) {
  std::string bytes;
  while (bytes.size() < count) {
    const absl::string_view part = pattern.At(offset + bytes.size(), count - bytes.size());
    bytes.append(part.data(), part.size());
  }
  return bytes;
}

TEST(TestPatternTest, MatchesItselfWhereverItIsCut) {
  const TestPattern pattern(5);
  const std::string bytes = Bytes(pattern, 0, size_t{3} << 20);
  EXPECT_EQ(pattern.Matching(0, bytes), bytes.size());
  EXPECT_EQ(pattern.Matching(12345, absl::string_view(bytes).substr(12345)), bytes.size() - 12345);
}

TEST(TestPatternTest, SeesAWrongByteAMissingOneAndAnotherStream) {
  const TestPattern pattern(5);
  std::string bytes = Bytes(pattern, 100, 1000);
  bytes[700] = static_cast<char>(bytes[700] + 1);
  EXPECT_EQ(pattern.Matching(100, bytes), 700u);
  EXPECT_LT(pattern.Matching(101, Bytes(pattern, 100, 1000)), 20u);
  EXPECT_LT(TestPattern(6).Matching(100, Bytes(pattern, 100, 1000)), 20u);
}

}  // namespace
}  // namespace farcall
