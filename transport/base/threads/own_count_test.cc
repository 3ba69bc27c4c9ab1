// SPDX-License-Identifier: Apache-2.0

#include "transport/base/threads/own_count.h"

#include <gtest/gtest.h>

#include <thread>

namespace farcall {
namespace {

TEST(OwnCountTest, OneCountsAndAnyReads) {
  OwnCount count;
  std::thread reader([&] {
    uint64_t before = 0;
    for (int i = 0; i < 1000; ++i) {
      const uint64_t now = count.value();
      EXPECT_GE(now, before);
      before = now;
    }
  });
  for (int i = 0; i < 1000; ++i) count.Add(2);
  reader.join();
  EXPECT_EQ(count.value(), 2000u);
  count.Set(7);
  EXPECT_EQ(count.value(), 7u);
}

}  // namespace
}  // namespace farcall
