// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/flow/incoming_stream.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"

namespace farcall {

Buffer& IncomingStream::Tail() {
  if (items_.empty()) {
    fresh_ = true;
    return here_;
  }
  if (items_.back().reference) items_.emplace_back();
  return items_.back().bytes;
}

absl::Status IncomingStream::AddReference(const RemoteBytes& bytes) {
  if (references_ == most_references_) {
    return absl::InvalidArgumentError(absl::StrCat("the RDMA peer sent more references than the ",
                                                   most_references_, " that it may have waiting"));
  }
  ++references_;
  items_.push_back({.reference = true, .remote = bytes});
  return absl::OkStatus();
}

std::optional<IncomingStream::Place> IncomingStream::NextToPlace() const {
  if (fresh_ || failed_) return std::nullopt;
  size_t ahead = 0;
  for (const Item& item : items_) {
    if (!item.reference || item.dropped) return std::nullopt;
    ahead += item.bytes.size();
    if (item.placed()) continue;
    return Place{ahead, item.remote.length - static_cast<uint32_t>(item.bytes.size())};
  }
  return std::nullopt;
}

void IncomingStream::SetPlace(Buffer memory, std::shared_ptr<void> hold) {
  const auto item =
      std::find_if(items_.begin(), items_.end(), [](const Item& each) { return !each.placed(); });
  Check(item != items_.end() && item->reference && !memory.empty() &&
            memory.size() <= item->remote.length - item->bytes.size(),
        "memory is given where it is needed");
  item->bytes.Append(std::move(memory));
  if (hold != nullptr) item->holds.push_back(std::move(hold));
}

bool IncomingStream::NextRead(size_t max_segments, Read& read) {
  max_segments = std::min(max_segments, kMaxSegments);
  for (Item& item : items_) {
    if (!item.reference || !item.placed() || item.dropped) return false;
    if (item.posted == item.remote.length) continue;
    read.address = item.remote.address + item.posted;
    read.key = item.remote.key;
    read.bytes = 0;
    read.segment_count = 0;
    uint32_t skip = item.posted;
    for (const Buffer::Slice& slice : item.bytes.slices()) {
      if (skip >= slice.length) {
        skip -= slice.length;
        continue;
      }
      if (read.segment_count == max_segments || read.bytes == kMaxRead) break;
      const uint32_t length = std::min(slice.length - skip, kMaxRead - read.bytes);
      read.segments[read.segment_count++] = {slice.block, slice.offset + skip, length};
      read.bytes += length;
      skip = 0;
    }
    item.posted += read.bytes;
    under_way_.push_back(read.bytes);
    reading_bytes_ += read.bytes;
    return true;
  }
  return false;
}

uint32_t IncomingStream::OnRead(bool good) {
  Check(!under_way_.empty(), "a READ completes that was posted");
  const uint32_t bytes = under_way_.front();
  under_way_.pop_front();
  reading_bytes_ -= bytes;
  if (!good) failed_ = true;
  if (failed_) {
    // What waits is not to come, but still missing. Its memory is not written any more.
    if (under_way_.empty()) LetGo();
    return 0;
  }
  const auto item = std::find_if(items_.begin(), items_.end(), [](const Item& each) {
    return each.reference && each.done < each.posted;
  });
  Check(item != items_.end(), "a READ is of a reference");
  item->done += bytes;
  Advance();
  return bytes;
}

void IncomingStream::DropUnread() {
  for (Item& item : items_) {
    if (!item.reference || item.posted > 0) continue;
    item.dropped = true;
    item.holds.clear();
  }
  Advance();
}

void IncomingStream::LetGo() {
  failed_ = true;
  for (Item& item : items_) {
    item.bytes.Clear();
    item.holds.clear();
  }
}

void IncomingStream::Advance() {
  while (!items_.empty() && items_.front().complete()) {
    Item& item = items_.front();
    if (item.reference) {
      ++read_;
      --references_;
    }
    if (!item.dropped) {
      here_.Append(std::move(item.bytes));
      fresh_ = true;
    }
    items_.pop_front();
  }
}

}  // namespace farcall
