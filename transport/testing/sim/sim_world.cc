// SPDX-License-Identifier: Apache-2.0

#include "transport/testing/sim/sim_world.h"

#include <algorithm>
#include <optional>

#include "transport/base/check.h"

namespace farcall {

SimWorld::SimWorld(uint64_t seed, size_t loops) : random_(seed) {
  for (size_t i = 0; i < loops; ++i) {
    auto loop = EventLoop::Create(clock_);
    Check(loop.ok(), "a simulation gets file descriptors");
    order_.push_back(loop->get());
    owned_.push_back(*std::move(loop));
  }
  group_ = std::make_unique<LoopGroup>(order_);
}

void SimWorld::Run(EventLoop& loop, absl::FunctionRef<void()> work) {
  while (!loop.TryRun(work)) loop.RunOnce();
}

bool SimWorld::Step() { return TurnAll() || AdvanceToTimer(TimePoint::max()); }

bool SimWorld::Until(absl::FunctionRef<bool()> done, Duration limit) {
  const TimePoint latest = clock_.Now() + limit;
  while (!done()) {
    if (!TurnAll() && !AdvanceToTimer(latest)) return done();
  }
  return true;
}

void SimWorld::RunFor(Duration span) {
  const TimePoint latest = clock_.Now() + span;
  while (TurnAll() || AdvanceToTimer(latest)) {
  }
  clock_.AdvanceTo(latest);
}

bool SimWorld::TurnAll() {
  random_.Shuffle(order_);
  bool worked = false;
  for (EventLoop* const loop : order_) worked |= loop->RunOnce();
  turns_ = worked ? turns_ + 1 : 0;
  Check(turns_ < kMaxTurns, "the loops of a simulation come to rest");
  return worked;
}

bool SimWorld::AdvanceToTimer(TimePoint latest) {
  std::optional<TimePoint> first;
  for (const auto& loop : owned_) {
    const std::optional<TimePoint> next = loop->NextTimer();
    if (next && (!first || *next < *first)) first = next;
  }
  if (!first || *first > latest) return false;
  clock_.AdvanceTo(*first);
  return true;
}

}  // namespace farcall
