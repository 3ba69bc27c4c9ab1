// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_TESTING_RAIL_CUT_SIM_H_
#define FARCALL_TRANSPORT_LINK_STREAM_TESTING_RAIL_CUT_SIM_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "transport/base/time.h"
#include "transport/buffer/block_pool.h"

namespace farcall {

// For so long calls stop, at most, for each way of a cable that is cut.
inline constexpr Duration kMaxStop = std::chrono::milliseconds(150);
// In which no call ends.
inline constexpr Duration kStop = std::chrono::milliseconds(50);

// What became of the calls.
struct RailCutOutcome {
  std::string failure;        // the first violation; empty: there is none
  Duration stopped{};         // the sum of all stops
  uint64_t calls = 0;         // that ended
  uint64_t resent_bytes = 0;  // by both ends
};

// Two SwitchingStreams with the default times, and a lifeline and two rails between them, in
// virtual time. One end makes calls, which the other one answers. Then the cable of one rail is
// cut, one way or both: what is on it is lost, or a part of it comes late, without any error. That
// each byte comes once and in order, that calls stop for kMaxStop at most for each way, be it at
// once or again and again, and that none goes over the lifeline, must hold.
// `seed` decides about sizes, calls under way, delays, and when what is cut. `log`, if any, gets a
// line for each event. `pool` has no block in use afterwards.
RailCutOutcome RunRailCutSim(uint64_t seed, BlockPool& pool, std::string* log);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_TESTING_RAIL_CUT_SIM_H_
