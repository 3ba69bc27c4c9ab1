// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_EXAMPLES_KV_STORE_H_
#define FARCALL_EXAMPLES_KV_STORE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "farcall/buffer.h"

namespace example {

// One of the two is empty: values of more than kLargeValue bytes are kept in blocks, and are
// answered by references to them.
struct Value {
  std::string small;
  farcall::Buffer large;  // farcall::Runtime::RightSized: it pins less than twice its size
  size_t size() const { return small.size() + large.size(); }
};

// Values by key, in shards of their own locks. Nothing is written to a value that is kept: Put
// has another one in its place, and who got the old one before has it, whole, for as long as he
// refers to it. So an answer needs neither lock nor copy while it is sent. Any thread.
class Store {
 public:
  static constexpr size_t kLongestKey = 1024;
  static constexpr size_t kLargeValue = 4096;
  static constexpr size_t kLargestValue = size_t{8} << 20;

  // `max_bytes`: of keys and values together, exactly. They pin less than twice as much.
  explicit Store(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Replaces the value that was there, which counts no more. kInvalidArgument: key or value has no
  // allowed size; kResourceExhausted: the store is full, and keeps what it had.
  absl::Status Put(absl::string_view key, Value value);
  // False: there is none.
  bool Get(absl::string_view key, Value& value) const;
  bool Delete(absl::string_view key);

  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kShards = 64;
  using Values = absl::flat_hash_map<std::string, Value>;
  struct Shard {
    mutable std::mutex mutex;
    Values values;  // guarded by mutex
  };

  // Counts `bytes` in place of `replaced`. False: the store is full.
  bool Count(size_t bytes, size_t replaced);
  // A key is hashed once: for its shard, and for the map in it.
  static size_t HashOf(absl::string_view key) { return Values::hasher()(key); }
  const Shard& ShardOf(size_t hash) const;
  Shard& ShardOf(size_t hash);

  const size_t max_bytes_;
  std::atomic<size_t> bytes_{0};
  std::array<Shard, kShards> shards_;
};

}  // namespace example

#endif  // FARCALL_EXAMPLES_KV_STORE_H_
