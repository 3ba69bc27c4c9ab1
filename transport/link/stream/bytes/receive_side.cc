// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/bytes/receive_side.h"

#include "transport/base/check.h"

namespace farcall {

void ReceiveSide::Take(uint64_t offset, Buffer& bytes, TimePoint now) {
  Check(offset <= received_, "bytes are taken in a row");
  const uint64_t known = received_ - offset;
  if (known >= bytes.size()) return bytes.Clear();
  bytes.RemoveFront(known);
  if (ack_sent_ == acknowledged()) ack_time_ = now + ack_delay_;
  received_ += bytes.size();
}

bool ReceiveSide::SetFinal(uint64_t offset) {
  if (offset < received_) return false;
  final_ = offset;
  return true;
}

void ReceiveSide::Freeze(bool frozen, TimePoint now) {
  if (frozen == frozen_) return;
  const bool up_to_date = ack_sent_ == acknowledged();
  acknowledged_ = received_;
  frozen_ = frozen;
  if (up_to_date && ack_sent_ < acknowledged()) ack_time_ = now + ack_delay_;
}

bool ReceiveSide::AckDue(TimePoint now) const {
  const uint64_t owed = acknowledged() - ack_sent_;
  return owed > 0 && (owed >= window_ / 4 || now >= ack_time_);
}

}  // namespace farcall
