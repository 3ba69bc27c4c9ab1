// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_TESTING_STREAM_PLAN_H_
#define FARCALL_TRANSPORT_LINK_STREAM_TESTING_STREAM_PLAN_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/base/time.h"
#include "transport/link/stream/testing/stream_scenario.h"
#include "transport/link/stream/testing/stream_side.h"

namespace farcall {

constexpr Duration Ms(uint64_t count) { return std::chrono::milliseconds(count); }

// What a run brings to a side, beside the bytes that arrive and the timers.
enum class StreamAct : uint8_t {
  kWrite,
  kPause,
  kResume,
  kStart,
  kExpect,
  kReady,
  kBroken,
  kCut,
  kClose,
  kAbort,
  kLifelineEnd,
  kFreeze,
  kSilence,
};

struct StreamEvent {
  TimePoint at{};
  StreamAct act{};
  int side = 0;
  uint32_t number = 0;  // bytes to write, or the generation
};

// What is still to happen, in no order. Draws times from the run's random numbers.
class StreamPlan {
 public:
  // `world` outlives it.
  explicit StreamPlan(StreamSide::World& world) : world_(world) {}

  // What `scenario` brings by itself.
  void Add(const StreamScenario& scenario);
  // `delay` from now.
  void At(Duration delay, StreamAct act, int side, uint32_t number = 0);
  // Up to `ms`, in quarters.
  Duration Within(uint64_t ms) {
    return std::chrono::microseconds(250) * static_cast<int>(world_.random.Below(4 * ms + 1));
  }

  const std::vector<StreamEvent>& events() const { return events_; }
  // Takes one out.
  StreamEvent Take(size_t index);

 private:
  void AddEnding(const StreamScenario& scenario);

  StreamSide::World& world_;
  std::vector<StreamEvent> events_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_TESTING_STREAM_PLAN_H_
