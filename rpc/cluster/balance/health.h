// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_BALANCE_HEALTH_H_
#define FARCALL_RPC_CLUSTER_BALANCE_HEALTH_H_

#include <optional>

#include "transport/base/backoff.h"
#include "transport/base/time.h"

namespace farcall {

// Whether a server can be reached, and when to see if it can again. Pure.
//
// The first probe of a server that was well is due at once: it tells a connection that broke from
// a server that is gone, and costs the latter one connect. A server that falls again soon after it
// came back is not well: its pauses go on where they were, so one that accepts
// connections and then drops them is not asked without a pause.
class Health {
 public:
  // What an event changed.
  enum class Change : uint8_t {
    kNone,
    kFell,
    kBack,      // it was away; its caches are cold
    kBackSoon,  // within the first pause: the connection broke, not the server
  };

  Health(Duration first, Duration longest) : pause_(first, longest) {}

  Change OnUnreachable(TimePoint now, SplitMix& random);
  // It says that it stops: it can still be reached, so no probe at once.
  Change OnLeaving(TimePoint now, SplitMix& random);
  // A call that began at `began` was answered.
  Change OnAnswer(TimePoint began, TimePoint now);

  // True once for each probe that is due: it goes out, and OnProbe follows.
  bool TakeProbe(TimePoint now);
  // Also of a connection that was made without being asked for.
  Change OnProbe(bool ok, TimePoint now, SplitMix& random);

  bool up() const { return up_; }
  // Empty while it is up, or a probe is out.
  std::optional<TimePoint> next_probe() const {
    return up_ || probing_ ? std::nullopt : std::optional(probe_at_);
  }

 private:
  void Fall(TimePoint now);
  Change Return(TimePoint now);

  Backoff pause_;
  bool up_ = true;
  bool probing_ = false;
  bool was_well_ = false;  // before it fell
  TimePoint fell_at_{};
  TimePoint probe_at_{};
  std::optional<TimePoint> back_at_;  // empty: it never fell
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_BALANCE_HEALTH_H_
