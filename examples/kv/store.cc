// SPDX-License-Identifier: Apache-2.0

#include "examples/kv/store.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace example {
namespace {

// By other bits than those that the map goes by first.
size_t ShardNumber(size_t hash, size_t shards) { return (hash >> 32) % shards; }

}  // namespace

const Store::Shard& Store::ShardOf(size_t hash) const {
  return shards_[ShardNumber(hash, kShards)];
}

Store::Shard& Store::ShardOf(size_t hash) { return shards_[ShardNumber(hash, kShards)]; }

bool Store::Count(size_t bytes, size_t replaced) {
  size_t held = bytes_.load(std::memory_order_relaxed);
  do {
    if (bytes > replaced && bytes - replaced > max_bytes_ - held) return false;
  } while (!bytes_.compare_exchange_weak(held, held - replaced + bytes, std::memory_order_relaxed));
  return true;
}

absl::Status Store::Put(absl::string_view key, Value value) {
  if (key.empty() || key.size() > kLongestKey) {
    return absl::InvalidArgumentError(
        absl::StrCat("keys have 1 to ", kLongestKey, " bytes, not ", key.size()));
  }
  if (value.size() > kLargestValue) {
    return absl::InvalidArgumentError(
        absl::StrCat("values have up to ", kLargestValue, " bytes, not ", value.size()));
  }
  // A value that is replaced gives its blocks back without the lock.
  Value old;
  const size_t hash = HashOf(key);
  Shard& shard = ShardOf(hash);
  const std::lock_guard<std::mutex> lock(shard.mutex);
  const auto found = shard.values.find(key, hash);
  const bool there = found != shard.values.end();
  if (!Count(key.size() + value.size(), there ? key.size() + found->second.size() : 0)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the store has reached its ", max_bytes_, " bytes (--max_bytes)"));
  }
  if (there) {
    old = std::exchange(found->second, std::move(value));
  } else {
    shard.values.emplace(key, std::move(value));
  }
  return absl::OkStatus();
}

bool Store::Get(absl::string_view key, Value& value) const {
  const size_t hash = HashOf(key);
  const Shard& shard = ShardOf(hash);
  const std::lock_guard<std::mutex> lock(shard.mutex);
  const auto found = shard.values.find(key, hash);
  if (found == shard.values.end()) return false;
  value.small = found->second.small;
  // Under the lock, since a Buffer is shared by one thread at a time.
  value.large = found->second.large.Share();
  return true;
}

bool Store::Delete(absl::string_view key) {
  Value old;
  {
    const size_t hash = HashOf(key);
    Shard& shard = ShardOf(hash);
    const std::lock_guard<std::mutex> lock(shard.mutex);
    const auto found = shard.values.find(key, hash);
    if (found == shard.values.end()) return false;
    old = std::move(found->second);
    shard.values.erase(found);
  }
  Count(0, key.size() + old.size());
  return true;
}

}  // namespace example
