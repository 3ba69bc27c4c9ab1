// SPDX-License-Identifier: Apache-2.0

#include "transport/buffer/registration_cache.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"

namespace farcall {
namespace {

constexpr size_t kMin = 4096;
constexpr size_t kMax = size_t{1} << 30;
// Half of what a registrar keeps (RdmaRegistrar::kMaxUserRegions).
constexpr size_t kMaxEntries = 2048;

}  // namespace

absl::Status RegistrationCacheOptions::Validate() const {
  if (min_bytes == 0) return absl::OkStatus();
  if (min_bytes < kMin || min_bytes > kMax) {
    return absl::InvalidArgumentError(absl::StrCat("RegistrationCacheOptions.min_bytes is ",
                                                   min_bytes, "; it must be 0, or ", kMin, " to ",
                                                   kMax));
  }
  if (max_bytes < min_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("RegistrationCacheOptions.max_bytes is ",
                                                   max_bytes, "; it must be min_bytes (", min_bytes,
                                                   ") or more"));
  }
  if (max_entries < 1 || max_entries > kMaxEntries) {
    return absl::InvalidArgumentError(absl::StrCat("RegistrationCacheOptions.max_entries is ",
                                                   max_entries, "; it must be 1 to ", kMaxEntries));
  }
  return absl::OkStatus();
}

Buffer RegistrationCache::Adopt(Buffer buffer) {
  const std::span<const Buffer::Slice> slices = buffer.slices();
  if (std::none_of(slices.begin(), slices.end(), [this](const auto& one) { return Wants(one); })) {
    return buffer;
  }
  Buffer adopted;
  Entries dropped;  // let go of with nothing held
  for (const Buffer::Slice& slice : slices) {
    RegisteredMemory memory;
    if (Wants(slice)) memory = Known(*slice.block, dropped);
    if (!memory) {
      adopted.Append(slice);
      continue;
    }
    const std::byte* const at = slice.block->data + slice.offset;
    // The caller's own block tells the caller when the bytes are no longer needed.
    adopted.Append(memory.Slice(static_cast<size_t>(at - memory.memory().data()), slice.length,
                                [block = slice.block] {}));
  }
  return adopted;
}

bool RegistrationCache::Wants(const Buffer::Slice& slice) const {
  const Block& block = *slice.block;
  return block.of_program && block.keys == nullptr && slice.length >= options_.min_bytes &&
         block.capacity <= options_.max_bytes;
}

// None: there is no room for it.
RegisteredMemory RegistrationCache::Known(const Block& block, Entries& dropped) {
  const auto begin = reinterpret_cast<uintptr_t>(block.data);
  const uintptr_t end = begin + block.capacity;
  const std::lock_guard lock(mutex_);
  auto after = by_begin_.upper_bound(begin);
  if (after != by_begin_.begin()) {
    const Entries::iterator found = std::prev(after)->second;
    if (found->end >= end) {
      ++stats_.hits;
      entries_.splice(entries_.begin(), entries_, found);
      return found->memory;
    }
    // Too short, and its place is wanted.
    if (found->begin == begin) Drop(found, dropped);
  }
  while (!entries_.empty() && (entries_.size() >= options_.max_entries ||
                               stats_.bytes + block.capacity > options_.max_bytes)) {
    ++stats_.evictions;
    Drop(std::prev(entries_.end()), dropped);
  }
  auto memory =
      RegisteredMemory::Register(&registrar_, std::span(block.data, block.capacity), nullptr);
  if (!memory.ok()) {
    ++stats_.refused;
    return {};
  }
  ++stats_.misses;
  stats_.bytes += block.capacity;
  entries_.push_front({begin, end, *memory});
  by_begin_[begin] = entries_.begin();
  return *memory;
}

// With mutex_ held.
void RegistrationCache::Drop(Entries::iterator entry, Entries& dropped) {
  stats_.bytes -= entry->end - entry->begin;
  by_begin_.erase(entry->begin);
  dropped.splice(dropped.end(), entries_, entry);
}

void RegistrationCache::Forget(const void* begin, size_t bytes) {
  const auto from = reinterpret_cast<uintptr_t>(begin);
  Entries dropped;
  const std::lock_guard lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (entry->begin < from + bytes && entry->end > from) Drop(entry, dropped);
    entry = next;
  }
}

RegistrationCache::Stats RegistrationCache::stats() const {
  const std::lock_guard lock(mutex_);
  Stats stats = stats_;
  stats.entries = entries_.size();
  return stats;
}

}  // namespace farcall
