// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_RAILS_LIFELINE_WATCH_H_
#define FARCALL_TRANSPORT_LINK_STREAM_RAILS_LIFELINE_WATCH_H_

#include <cstdint>
#include <optional>

#include "transport/base/time.h"
#include "transport/link/stream/rails/progress_watch.h"
#include "transport/link_options.h"

namespace farcall {

// When to send a PING, and what the PONGs say of the peer and of the generation in use:
//
//              time for a PING                         PONG
//   AT REST ---------------------> ASKED (one PING) ---------> AT REST
//                                    |
//                                    +-- nothing heard for peer_timeout: the peer is dead
//
// A generation is stuck when PONGs show for LastProgressTimeout that bytes lack which were
// sent on it before their PINGs, and that none came meanwhile. A lifeline that is slow
// proves nothing, since then there are no PONGs. Pure.
class LifelineWatch {
 public:
  // What the stream is doing.
  struct Work {
    // When bytes came to be unacknowledged, if some are.
    std::optional<TimePoint> unacknowledged_since;
    bool expects_answer = false;
    // Since when nothing is known to have moved on a rail for which another could stand in.
    std::optional<TimePoint> still_since = std::nullopt;
  };

  LifelineWatch(const StreamLimits& limits, TimePoint now) : limits_(limits), heard_(now) {}

  // The lifeline moves: something came on it, or is known to have arrived by it.
  void Heard(TimePoint now) { heard_ = now; }

  bool PeerDead(TimePoint now) const { return asked_ && now >= DeathTime(); }
  bool PingDue(const Work& work, TimePoint now) const;
  // When one of the two may become true.
  std::optional<TimePoint> NextTime(const Work& work) const;

  // Returns the number of the PING that is sent now. `position`: what was sent before it, on
  // `generation` last (0: on the lifeline).
  uint64_t Ask(uint64_t position, uint32_t generation, TimePoint now);
  // False: that PONG was not asked for.
  [[nodiscard]] bool Answer(uint64_t number, uint64_t received, TimePoint now);
  // By the PONGs so far, for a stream that is sent on `generation` now. Still: for SuspectAfter.
  bool Still(uint32_t generation, TimePoint now) const;
  bool Stuck(uint32_t generation, TimePoint now) const;

 private:
  bool Lacks(uint32_t generation, Duration bound, TimePoint now) const;
  TimePoint DeathTime() const;
  std::optional<TimePoint> UsualTime(const Work& work) const;

  const StreamLimits& limits_;
  TimePoint heard_;
  bool asked_ = false;
  uint64_t number_ = 0;      // of the last PING
  TimePoint asked_at_{};     // when it was sent
  uint32_t generation_ = 0;  // what had been sent last before it, on which
  ProgressWatch progress_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_RAILS_LIFELINE_WATCH_H_
