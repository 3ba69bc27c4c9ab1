// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_TESTING_STREAM_SIM_H_
#define FARCALL_TRANSPORT_LINK_STREAM_TESTING_STREAM_SIM_H_

#include <cstdint>
#include <string>

#include "transport/buffer/block_pool.h"

namespace farcall {

// What a run had in it, so that a test can see that it met what it is about.
struct StreamSimStats {
  uint64_t steps = 0;
  uint64_t upgrades = 0;
  uint64_t fallbacks = 0;
  uint64_t resent_bytes = 0;
  uint64_t dropped_bytes = 0;
  uint64_t delivered_bytes = 0;
  uint64_t pings = 0;
  uint64_t orderly_ends = 0;
  uint64_t early_bytes = 0;    // came before those in front of them, at the most at once
  uint64_t rails_lost = 0;     // given up while others went on
  uint64_t rails_at_once = 0;  // DATA was sent on, the most
};

// Two SwitchingStreams, the lifeline and generations between them, and what `seed` does to
// them in virtual time: writes, pauses, set-ups that are late or fail, generations that die
// loudly or silently, closes, aborts, a lifeline that breaks, a peer that stops. Returns the
// first violation, empty if there is none. `log`, if any, gets a line for each event.
// `pool` has no block in use afterwards.
std::string RunStreamSim(uint64_t seed, BlockPool& pool, StreamSimStats& stats, std::string* log);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_TESTING_STREAM_SIM_H_
