// SPDX-License-Identifier: Apache-2.0

#include "examples/kv/bench_calls.h"

#include "gtest/gtest.h"

namespace example {
namespace {

TEST(BenchDataTest, KeysHaveTheirNumberInSixteenBytes) {
  // One string for all, as the benchmark has.
  std::string key = "what was there before, and longer";
  BenchData::WriteKey(0, key);
  EXPECT_EQ(key, "key-000000000000");
  BenchData::WriteKey(99'999, key);
  EXPECT_EQ(key, "key-000000099999");
  BenchData::WriteKey(100'000, key);
  EXPECT_EQ(key, "key-000000100000");
  BenchData::WriteKey(999'999'999'999, key);
  EXPECT_EQ(key, "key-999999999999");
}

TEST(BenchDataTest, ValuesHaveTheirSizeAndTellTheirNumber) {
  const BenchData data{.keys = 100, .value_bytes = 7};
  EXPECT_EQ(data.ValueOf(0), "aaaaaaa");
  EXPECT_EQ(data.ValueOf(25), "zzzzzzz");
  EXPECT_EQ(data.ValueOf(26), "aaaaaaa");
}

}  // namespace
}  // namespace example
