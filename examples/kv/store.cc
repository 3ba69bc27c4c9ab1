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

bool Store::Reserve(size_t bytes, size_t pinned) {
  const size_t held = bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  const size_t used = pinned_bytes_.fetch_add(pinned, std::memory_order_relaxed) + pinned;
  if (held <= max_bytes_ && used <= 2 * max_bytes_) return true;
  GiveBack(bytes, pinned);
  return false;
}

void Store::GiveBack(size_t bytes, size_t pinned) {
  bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  pinned_bytes_.fetch_sub(pinned, std::memory_order_relaxed);
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
  // Before the old value is given back: a full store refuses a replacement too.
  if (!Reserve(key.size() + value.size(), key.size() + value.pinned())) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the store has reached its ", max_bytes_, " bytes (--max_bytes)"));
  }
  // A value that is replaced gives its blocks back without the lock.
  Value old;
  bool replaced = false;
  {
    Shard& shard = ShardOf(HashOf(key));
    const std::lock_guard<std::mutex> lock(shard.mutex);
    const auto [at, added] = shard.values.try_emplace(key);
    old = std::exchange(at->second, std::move(value));
    replaced = !added;
  }
  if (replaced) GiveBack(key.size() + old.size(), key.size() + old.pinned());
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
  GiveBack(key.size() + old.size(), key.size() + old.pinned());
  return true;
}

}  // namespace example
