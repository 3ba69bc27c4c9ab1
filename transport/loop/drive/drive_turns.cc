// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/drive/drive_turns.h"

#include <algorithm>

namespace farcall {

bool DriveTurns::Arrive(LoopVisitor& visitor, TimePoint now) {
  in_a_row_ = now - last_arrival_ <= kRest;
  last_arrival_ = now;
  if (driver_ != Driver::kNone) {
    waiting_.push_back(&visitor);
    return false;
  }
  driver_ = Driver::kVisitor;
  since_ = now;
  return true;
}

void DriveTurns::SetSpins(LoopVisitor& visitor, bool spins) {
  if (spins) {
    spinning_ = &visitor;
  } else if (spinning_ == &visitor) {
    spinning_ = nullptr;
  }
}

void DriveTurns::Forget(LoopVisitor& visitor) {
  SetSpins(visitor, false);
  std::erase(waiting_, &visitor);
}

DriveTurns::Notice DriveTurns::Leave(bool rest, TimePoint now) {
  if (wanted_) return NotifyThread();
  if (!waiting_.empty()) return NotifyVisitor(now);
  if (!rest) return NotifyThread();
  driver_ = Driver::kNone;
  since_ = now;
  // It has no time at which it would look.
  return {.thread = for_good_};
}

DriveTurns::Notice DriveTurns::GiveToThread(LoopVisitor& visitor) {
  waiting_.push_back(&visitor);
  return NotifyThread();
}

bool DriveTurns::ThreadMayGive(TimePoint now) const {
  return !waiting_.empty() || (in_a_row_ && now - last_arrival_ <= kRest);
}

std::optional<DriveTurns::Notice> DriveTurns::ThreadGives(TimePoint now) {
  const bool keep = wanted_ || !ThreadMayGive(now);
  wanted_ = false;
  if (keep) return std::nullopt;
  if (!waiting_.empty()) return NotifyVisitor(now);
  driver_ = Driver::kNone;
  since_ = now;
  return Notice();
}

std::optional<TimePoint> DriveTurns::ThreadLooks(TimePoint now) {
  for_good_ = false;
  if (driver_ == Driver::kNone && now - since_ >= kRest) NotifyThread();
  switch (driver_) {
    case Driver::kThread:
      return std::nullopt;
    case Driver::kNone:
      return since_ + kRest;
    case Driver::kVisitor:
      break;
  }
  // One that waits for long need not be looked after: it tells when it leaves.
  for_good_ = now - since_ >= kRest;
  return for_good_ ? TimePoint::max() : now + kRest;
}

DriveTurns::Notice DriveTurns::ThreadWanted() {
  if (driver_ == Driver::kNone) return NotifyThread();
  // Whoever drives gives it up next, or keeps it as the thread.
  wanted_ = true;
  return {};
}

DriveTurns::Notice DriveTurns::NotifyThread() {
  driver_ = Driver::kThread;
  wanted_ = false;
  return {.thread = true};
}

// The one that came last waits longest for its answer, most likely, and so drives longest.
DriveTurns::Notice DriveTurns::NotifyVisitor(TimePoint now) {
  LoopVisitor* const next = spinning_ != nullptr ? spinning_ : waiting_.back();
  Forget(*next);
  driver_ = Driver::kVisitor;
  since_ = now;
  return {.visitor = next};
}

}  // namespace farcall
