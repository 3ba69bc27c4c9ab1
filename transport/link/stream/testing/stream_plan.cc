// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/testing/stream_plan.h"

#include <algorithm>

namespace farcall {
namespace {}  // namespace

void StreamPlan::At(Duration delay, StreamAct act, int side, uint32_t number) {
  events_.push_back({world_.now + delay, act, side, number});
}

StreamEvent StreamPlan::Take(size_t index) {
  const StreamEvent event = events_[index];
  events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(index));
  return event;
}

void StreamPlan::Add(const StreamScenario& scenario) {
  TestRandom& random = world_.random;
  const auto any_time = [&] {
    return scenario.chaos * static_cast<int>(random.Below(1000)) / 1000;
  };
  for (int i = 0; i < scenario.writes; ++i) {
    const int side = scenario.one_sided ? 0 : static_cast<int>(random.Below(2));
    const Duration when = any_time();  // first: each compiler has an order of its own in calls
    At(when, StreamAct::kWrite, side, static_cast<uint32_t>(random.Size(scenario.most_written)));
  }
  for (int i = 0; i < 2; ++i) {
    if (random.Chance(0.7)) continue;
    const Duration pause = any_time();
    At(pause, StreamAct::kPause, i);
    At(std::min(pause + Within(700), scenario.chaos) + Ms(1), StreamAct::kResume, i);
  }
  At(Within(20), StreamAct::kStart, 0);
  AddEnding(scenario);
}

void StreamPlan::AddEnding(const StreamScenario& scenario) {
  TestRandom& random = world_.random;
  const Duration when = scenario.chaos * static_cast<int>(random.Below(1000)) / 1000;
  const int side = static_cast<int>(random.Below(2));
  switch (scenario.ending) {
    case StreamEnding::kSettled:
      // Something to say, so that whoever sends on a dead generation finds out.
      At(scenario.chaos + Within(50), StreamAct::kWrite, 0, 3);
      if (!scenario.one_sided) At(scenario.chaos + Within(50), StreamAct::kWrite, 1, 3);
      return;
    case StreamEnding::kEarly:
      At(when, StreamAct::kClose, side);
      if (random.Chance(0.4)) At(when + Within(60), StreamAct::kClose, 1 - side);
      return;
    case StreamEnding::kAbort:
      return At(when, StreamAct::kAbort, side);
    case StreamEnding::kLifelineDies:
      At(when + Within(500), StreamAct::kLifelineEnd, side);
      return At(when + Within(500), StreamAct::kLifelineEnd, 1 - side);
    case StreamEnding::kPeerStops:
      return At(when, StreamAct::kFreeze, side);
    case StreamEnding::kLifelineFallsSilent:
      return At(when, StreamAct::kSilence, side);
  }
}

}  // namespace farcall
