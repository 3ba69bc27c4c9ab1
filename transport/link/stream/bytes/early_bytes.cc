// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/bytes/early_bytes.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace farcall {

absl::Status EarlyBytes::Add(uint64_t offset, Buffer bytes) {
  while (!bytes.empty()) {
    const auto next = runs_.upper_bound(offset);
    if (next != runs_.begin() && End(std::prev(next)) > offset) {
      const size_t known = std::min<uint64_t>(End(std::prev(next)) - offset, bytes.size());
      bytes.RemoveFront(known);
      dropped_ += known;
      offset += known;
      continue;
    }
    size_t size = bytes.size();
    if (next != runs_.end()) size = std::min<uint64_t>(size, next->first - offset);
    Buffer part = bytes.CutFront(size);
    if (absl::Status inserted = Insert(next, offset, std::move(part)); !inserted.ok()) {
      return inserted;
    }
    offset += size;
  }
  return absl::OkStatus();
}

// Between the run before `next` and `next`, over neither.
absl::Status EarlyBytes::Insert(Runs::iterator next, uint64_t offset, Buffer part) {
  const uint64_t end = offset + part.size();
  const bool behind = next != runs_.begin() && End(std::prev(next)) == offset;
  if (!behind && runs_.size() >= most_runs_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("early bytes with more than ", most_runs_, " gaps"));
  }
  size_ += part.size();
  const auto run = behind ? std::prev(next) : runs_.emplace_hint(next, offset, Buffer());
  joiner_.Append(std::move(part), runs_.size() + run->second.slices().size(), run->second);
  if (next == runs_.end() || next->first != end) return absl::OkStatus();
  run->second.Append(std::move(next->second));
  runs_.erase(next);
  return absl::OkStatus();
}

EarlyBytes::Run EarlyBytes::Take(uint64_t offset) {
  if (runs_.empty() || runs_.begin()->first > offset) return {};
  Run run{.offset = runs_.begin()->first, .bytes = std::move(runs_.begin()->second)};
  runs_.erase(runs_.begin());
  size_ -= run.bytes.size();
  return run;
}

uint64_t EarlyBytes::end() const { return runs_.empty() ? 0 : End(std::prev(runs_.end())); }

}  // namespace farcall
