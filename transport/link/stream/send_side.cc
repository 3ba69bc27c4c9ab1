// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/send_side.h"

#include <algorithm>

#include "transport/base/check.h"

namespace farcall {

namespace {

// Where to cut `data`, at `most` or a bit before, so that no part of a slice is less than `least`.
// 0: that cannot be.
size_t WhereToCut(const Buffer& data, size_t most, size_t least) {
  size_t begin = 0;
  for (const Buffer::Slice& slice : data.slices()) {
    const size_t end = begin + slice.length;
    if (end == most) return most;
    if (end < most) {
      begin = end;
      continue;
    }
    const size_t cut = std::min(most, end - std::min<size_t>(slice.length, least));
    if (slice.length >= 2 * least && cut >= begin + least) return cut;
    return begin;
  }
  return most;
}

}  // namespace

Buffer SendSide::Next(size_t most) {
  const size_t room = window_ - std::min(window_, flight_.size());
  size_t size = std::min({queue_.size(), most, room});
  if (size == 0) return Buffer();
  if (size < queue_.size()) {
    const size_t cut = WhereToCut(queue_, size, most / 4);
    // What is acknowledged makes room for more, where the window is not a small one.
    if (cut == 0 && !flight_.empty() && window_ >= 4 * most) return Buffer();
    if (cut > 0) size = cut;
  }
  Buffer part = size == queue_.size() ? std::move(queue_) : queue_.CutFront(size);
  Buffer shared = part.Share();
  const uint64_t from = position();
  if (from < highest_) resent_ += std::min<uint64_t>(highest_ - from, size);
  flight_.Append(std::move(part));
  highest_ = std::max(highest_, position());
  return shared;
}

bool SendSide::Acknowledge(uint64_t offset) {
  if (offset > highest_) return false;
  if (offset <= acknowledged_) return true;
  const uint64_t news = offset - acknowledged_;
  const size_t from_flight = std::min<uint64_t>(news, flight_.size());
  flight_.RemoveFront(from_flight);
  // Left only where the stream goes again over bytes that have arrived meanwhile.
  if (news > from_flight) queue_.RemoveFront(news - from_flight);
  acknowledged_ = offset;
  return true;
}

void SendSide::Rewind() {
  flight_.Append(std::move(queue_));
  queue_ = std::move(flight_);
  flight_ = Buffer();
}

void SendSide::Raise(uint64_t offset) {
  Check(offset <= highest_, "a position is raised only over bytes that were sent");
  if (offset > position()) flight_.Append(queue_.CutFront(offset - position()));
}

void SendSide::DropUnsent() {
  if (end() > highest_) queue_ = queue_.CutFront(highest_ - position());
}

}  // namespace farcall
