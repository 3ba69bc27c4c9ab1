// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/testing/stream_wire.h"

#include <algorithm>
#include <utility>

namespace farcall {
namespace {

// Bytes.
constexpr size_t kMoreThanAcknowledgements = 100;

}  // namespace

void StreamWire::Send(Buffer bytes, TimePoint now) {
  if (cut_) return;
  unsent_ += bytes.size();
  waiting_.push_back({{}, std::move(bytes), false});
  Fill(now);
}

void StreamWire::SendEnd(TimePoint now) {
  if (cut_) return;
  waiting_.push_back({{}, Buffer(), true});
  Fill(now);
}

void StreamWire::Fill(TimePoint now) {
  while (!waiting_.empty()) {
    const size_t size = waiting_.front().bytes.size();
    // What is larger than the room goes alone.
    if (used_ > 0 && used_ + size > room_) return;
    Piece piece = std::move(waiting_.front());
    waiting_.pop_front();
    unsent_ -= size;
    used_ += size;
    if (size > 1 && random_.Chance(0.2)) {
      Launch({{}, piece.bytes.CutFront(1 + random_.Below(size - 1)), false}, now);
    }
    Launch(std::move(piece), now);
  }
}

void StreamWire::Launch(Piece piece, TimePoint now) {
  // In steps, so that things happen at the same time.
  constexpr Duration kStep = std::chrono::microseconds(250);
  const auto steps = static_cast<uint64_t>(most_delay_ / kStep);
  last_ = std::max(last_, now + kStep * static_cast<int>(random_.Below(steps + 1)));
  piece.at = last_;
  flight_.push_back(std::move(piece));
}

std::optional<Buffer> StreamWire::Arrive() {
  Piece piece = std::move(flight_.front());
  flight_.pop_front();
  if (piece.end) return std::nullopt;
  return std::move(piece.bytes);
}

void StreamWire::Read(size_t bytes, TimePoint now) {
  used_ -= bytes;
  Fill(now);
}

void StreamWire::Cut(Duration late) {
  cut_ = true;
  size_t lost = std::exchange(unsent_, 0);
  waiting_.clear();
  const size_t kept = random_.Below(flight_.size() + 1);
  for (; flight_.size() > kept; flight_.pop_back()) lost += flight_.back().bytes.size();
  if (late == Duration::zero()) return;
  if (lost < kMoreThanAcknowledgements) flight_.clear();
  for (Piece& piece : flight_) piece.at += late;
}

}  // namespace farcall
