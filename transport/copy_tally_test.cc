// SPDX-License-Identifier: Apache-2.0

#include "transport/copy_tally.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace farcall {
namespace {

TEST(CopiedBytesTest, EveryCauseHasANameOfItsOwn) {
  std::set<absl::string_view> names;
  for (size_t i = 0; i < kCopyCauses; ++i) names.insert(ToString(static_cast<CopyCause>(i)));
  EXPECT_EQ(names.size(), kCopyCauses);
  EXPECT_EQ(names.count("unknown"), 0u);
}

TEST(CopiedBytesTest, AreSentOrReceived) {
  CopiedBytes bytes;
  bytes[CopyCause::kSentUnregistered] = 1;
  bytes[CopyCause::kSentSmall] = 10;
  bytes[CopyCause::kReceivedSmall] = 100;
  bytes[CopyCause::kNotLanded] = 1000;
  EXPECT_EQ(bytes.sent(), 11u);
  EXPECT_EQ(bytes.received(), 1100u);
  CopiedBytes twice = bytes;
  twice += bytes;
  EXPECT_EQ(twice.sent(), 22u);
  EXPECT_EQ(twice.received(), 2200u);
  EXPECT_NE(twice, bytes);
}

TEST(CopyTallyTest, NothingWasCopiedAtFirst) { EXPECT_EQ(CopyTally().Sum(), CopiedBytes()); }

TEST(CopyTallyTest, AddsUpWhatAllThreadsCopied) {
  CopyTally tally;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&tally] {
      for (int n = 0; n < 1000; ++n) {
        tally.Add(CopyCause::kSentSmall, 3);
        tally.Add(CopyCause::kNotLanded, 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CopiedBytes expected;
  expected[CopyCause::kSentSmall] = 12'000;
  expected[CopyCause::kNotLanded] = 4000;
  EXPECT_EQ(tally.Sum(), expected);
}

}  // namespace
}  // namespace farcall
