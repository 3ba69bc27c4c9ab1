// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_STALL_WATCH_H_
#define FARCALL_TRANSPORT_LINK_STREAM_STALL_WATCH_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "transport/base/time.h"

namespace farcall {

// Sees a stream that stands still: bytes wait, the peer takes none of them for long, and yet it
// answers. A peer that is dead or slow is seen by other checks, and so is a generation on
// which nothing moves, which is given up long before. What is left is a peer whose handler
// reads nothing, or a defect, here or there. Looked at when the peer has said something. Time
// counts as far as it was heard in between: a process that was stopped, or a wire that was cut,
// for longer than the timeout says its first word before it takes anything. Pure.
class StallWatch {
 public:
  enum class Change : uint8_t {
    kNone,
    kStalled,  // once, until it moves
    kMoves,    // it did stand still
  };

  // `timeout` > 0.
  explicit StallWatch(Duration timeout) : timeout_(timeout) {}

  // The peer has said something. `waiting`: bytes that were written and that it has not
  // acknowledged; `acknowledged`: how many it has, ever.
  Change Look(uint64_t waiting, uint64_t acknowledged, TimePoint now) {
    const std::optional<TimePoint> before = std::exchange(heard_, std::nullopt);
    if (waiting == 0) return Move();
    heard_ = now;
    if (!before || acknowledged != acknowledged_) {
      stands_ = Duration::zero();
      acknowledged_ = acknowledged;
      return Move();
    }
    // Less than all of it, so that one word proves nothing.
    stands_ += std::min(now - *before, timeout_ / 2);
    if (stalled_ || stands_ < timeout_) return Change::kNone;
    stalled_ = true;
    return Change::kStalled;
  }
  // The stream has ended.
  Change End() { return Move(); }

  bool stalled() const { return stalled_; }

 private:
  Change Move() {
    if (!stalled_) return Change::kNone;
    stalled_ = false;
    return Change::kMoves;
  }

  const Duration timeout_;
  std::optional<TimePoint> heard_;  // when it was looked at last; none: nothing waited then
  Duration stands_{};               // for how long it was heard while it stood still
  uint64_t acknowledged_ = 0;       // as of the last move
  bool stalled_ = false;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_STALL_WATCH_H_
