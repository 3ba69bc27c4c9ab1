// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/bytes/send_side.h"

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
  if (!again_.empty()) return NextAgain(most);
  size_t size = std::min({queue_.size(), most, room()});
  if (size == 0) return Buffer();
  if (size < queue_.size()) {
    const size_t cut = WhereToCut(queue_, size, most / 4);
    // What is acknowledged makes room for more, where the window is not a small one.
    if (cut == 0 && !flight_.empty() && window_ >= 4 * most) return Buffer();
    if (cut > 0) size = cut;
  }
  OnNext(size);
  if (size < queue_.size()) {
    Buffer part = queue_.CutFront(size);
    flight_.Append(part.Share());
    return part;
  }
  Buffer all = queue_.Share();
  flight_.Append(std::move(queue_));
  return all;
}

const Buffer* SendSide::NextAlone(size_t most) {
  const size_t size = queue_.size();
  if (size == 0 || size > most || size > room() || !flight_.empty() || !again_.empty()) {
    return nullptr;
  }
  OnNext(size);
  flight_.Append(std::move(queue_));
  return &flight_;
}

void SendSide::OnNext(size_t bytes) {
  const uint64_t from = position();
  if (from < highest_) resent_ += std::min<uint64_t>(highest_ - from, bytes);
  highest_ = std::max(highest_, from + bytes);
}

bool SendSide::Acknowledge(uint64_t offset) {
  if (offset > highest_) return false;
  if (offset <= acknowledged_) return true;
  const uint64_t fresh = offset - acknowledged_;
  const size_t from_flight = std::min<uint64_t>(fresh, flight_.size());
  flight_.RemoveFront(from_flight);
  // Left only where the stream goes again over bytes that have arrived meanwhile.
  if (fresh > from_flight) queue_.RemoveFront(fresh - from_flight);
  acknowledged_ = offset;
  TrimAgain();
  return true;
}

uint64_t SendSide::waiting() const {
  uint64_t bytes = queue_.size();
  for (const ByteRange& range : again_) bytes += range.size();
  return bytes;
}

Buffer SendSide::NextAgain(size_t most) {
  ByteRange& range = again_.front();
  const uint64_t size = std::min<uint64_t>(range.size(), most);
  Buffer shared = flight_.Share();
  shared.RemoveFront(range.from - acknowledged_);
  Buffer part = shared.CutFront(size);
  resent_ += size;
  range.from += size;
  if (range.size() == 0) again_.erase(again_.begin());
  return part;
}

void SendSide::SendAgain(ByteRange range) {
  range.from = std::max({range.from, acknowledged_, spared_});
  if (range.from >= range.to) return;
  Check(range.to <= position(), "only what was sent is sent again");
  // Those that it overlaps or touches become a part of it.
  auto begin = std::find_if(again_.begin(), again_.end(),
                            [&](const ByteRange& one) { return one.to >= range.from; });
  auto end = begin;
  for (; end != again_.end() && end->from <= range.to; ++end) {
    range.from = std::min(range.from, end->from);
    range.to = std::max(range.to, end->to);
  }
  again_.insert(again_.erase(begin, end), range);
}

void SendSide::Spare(uint64_t offset) {
  Check(offset <= highest_, "the peer has only bytes that were sent");
  spared_ = std::max(spared_, offset);
  TrimAgain();
}

void SendSide::TrimAgain() {
  const uint64_t least = std::max(acknowledged_, spared_);
  while (!again_.empty() && again_.front().from < least) {
    again_.front().from = std::min(least, again_.front().to);
    if (again_.front().size() > 0) return;
    again_.erase(again_.begin());
  }
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
