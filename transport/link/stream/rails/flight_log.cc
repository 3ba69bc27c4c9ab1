// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/rails/flight_log.h"

#include <algorithm>

namespace farcall {

void FlightLog::Sent(uint64_t offset, uint64_t bytes) {
  if (!pieces_.empty() && pieces_.back().range.to == offset) {
    pieces_.back().range.to += bytes;
  } else {
    pieces_.push_back({.at = sent_, .range = {offset, offset + bytes}});
  }
  sent_ += bytes;
}

bool FlightLog::Acknowledge(uint64_t count) {
  if (count > sent_) return false;
  acknowledged_ = std::max(acknowledged_, count);
  while (!pieces_.empty() && pieces_.front().at < acknowledged_) {
    Piece& piece = pieces_.front();
    const uint64_t come = std::min(acknowledged_ - piece.at, piece.range.size());
    piece.at += come;
    piece.range.from += come;
    if (piece.range.size() > 0) break;
    pieces_.pop_front();
  }
  return true;
}

void FlightLog::Raise(uint64_t offset) {
  while (!pieces_.empty() && pieces_.front().range.to <= offset) {
    pieces_.pop_front();
  }
}

std::vector<ByteRange> FlightLog::TakeLost() {
  std::vector<ByteRange> lost;
  lost.reserve(pieces_.size());
  for (const Piece& piece : pieces_) lost.push_back(piece.range);
  pieces_.clear();
  return lost;
}

}  // namespace farcall
