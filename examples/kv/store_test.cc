// SPDX-License-Identifier: Apache-2.0

#include "examples/kv/store.h"

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace example {
namespace {

Value Small(std::string text) {
  Value value;
  value.small = std::move(text);
  return value;
}

Value Large(size_t bytes, char fill) {
  Value value;
  value.large = farcall::Buffer(std::string(bytes, fill));
  return value;
}

TEST(StoreTest, KeepsReplacesAndDeletes) {
  Store store(1000);
  Value value;
  EXPECT_FALSE(store.Get("key", value));
  ASSERT_TRUE(store.Put("key", Small("first")).ok());
  ASSERT_TRUE(store.Get("key", value));
  EXPECT_EQ(value.small, "first");
  ASSERT_TRUE(store.Put("key", Small("second one")).ok());
  ASSERT_TRUE(store.Get("key", value));
  EXPECT_EQ(value.small, "second one");
  EXPECT_EQ(store.bytes(), 13u);
  EXPECT_TRUE(store.Delete("key"));
  EXPECT_FALSE(store.Delete("key"));
  EXPECT_FALSE(store.Get("key", value));
  EXPECT_EQ(store.bytes(), 0u);
}

TEST(StoreTest, ValuesMayBeEmpty) {
  Store store(1000);
  Value value = Small("left over");
  ASSERT_TRUE(store.Put("key", Value()).ok());
  ASSERT_TRUE(store.Get("key", value));
  EXPECT_EQ(value.size(), 0u);
}

TEST(StoreTest, ALargeValueThatWasReadOutlivesItsReplacement) {
  Store store(100'000);
  ASSERT_TRUE(store.Put("key", Large(10'000, 'a')).ok());
  Value value;
  ASSERT_TRUE(store.Get("key", value));
  ASSERT_TRUE(store.Put("key", Large(10'000, 'b')).ok());
  ASSERT_TRUE(store.Delete("key"));
  EXPECT_EQ(value.large.ToString(), std::string(10'000, 'a'));
}

TEST(StoreTest, KeysAndValuesHaveLimits) {
  Store store(size_t{1} << 30);
  EXPECT_EQ(store.Put("", Small("x")).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(store.Put(std::string(Store::kLongestKey, 'k'), Small("x")).ok());
  EXPECT_EQ(store.Put(std::string(Store::kLongestKey + 1, 'k'), Small("x")).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(store.Put("k", Large(Store::kLargestValue, 'v')).ok());
  EXPECT_EQ(store.Put("k", Large(Store::kLargestValue + 1, 'v')).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(StoreTest, AFullStoreRefusesAndKeepsWhatItHas) {
  Store store(20);
  ASSERT_TRUE(store.Put("one", Small("1234567")).ok());
  ASSERT_TRUE(store.Put("two", Small("1234567")).ok());
  EXPECT_EQ(store.bytes(), 20u);
  const absl::Status full = store.Put("k", Value());
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(store.bytes(), 20u);
  Value value;
  EXPECT_TRUE(store.Get("one", value));
  EXPECT_TRUE(store.Delete("two"));
  EXPECT_TRUE(store.Put("k", Value()).ok());
}

TEST(StoreTest, AFullStoreReplacesWhatIsNoSmaller) {
  Store store(20);
  ASSERT_TRUE(store.Put("one", Small("1234567")).ok());
  ASSERT_TRUE(store.Put("two", Small("1234567")).ok());
  EXPECT_TRUE(store.Put("two", Small("7654321")).ok());
  EXPECT_FALSE(store.Put("two", Small("12345678")).ok());
  EXPECT_TRUE(store.Put("two", Small("")).ok());
  EXPECT_EQ(store.bytes(), 13u);
  EXPECT_TRUE(store.Put("one", Small("12345678901234")).ok());
  EXPECT_EQ(store.bytes(), 20u);
}

TEST(StoreTest, ThreadsFillItToItsLastByte) {
  constexpr int kThreads = 4;
  constexpr int kEach = 2000;
  Store store(kThreads * kEach * 10);
  std::atomic<int> refused{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      // 11 bytes each: a tenth of them find no room.
      for (int i = 0; i < kEach; ++i) {
        const std::string key = absl::StrCat(thread, "-", 1000 + i);
        if (!store.Put(key, Small(std::string(11 - key.size(), 'v'))).ok()) ++refused;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store.bytes(), size_t{kThreads * kEach * 10 / 11 * 11});
  EXPECT_EQ(refused, kThreads * kEach - kThreads * kEach * 10 / 11);
}

TEST(StoreTest, ThreadsSeeWholeValuesOnly) {
  Store store(size_t{1} << 20);
  constexpr int kKeys = 10;
  std::atomic<int> torn{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 2000; ++i) {
        const std::string key = absl::StrCat("key ", i % kKeys);
        const char fill = static_cast<char>('a' + (thread + i) % 26);
        if (i % 3 == 0) store.Delete(key);
        if (!store.Put(key, i % 2 == 0 ? Small(std::string(100, fill)) : Large(5000, fill)).ok()) {
          ++torn;
        }
        Value value;
        if (!store.Get(key, value)) continue;
        const std::string bytes = value.small + value.large.ToString();
        if (bytes.size() != 100 && bytes.size() != 5000) ++torn;
        if (bytes.find_first_not_of(bytes.front()) != std::string::npos) ++torn;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(torn, 0);
  for (int i = 0; i < kKeys; ++i) store.Delete(absl::StrCat("key ", i));
  EXPECT_EQ(store.bytes(), 0u);
}

}  // namespace
}  // namespace example
