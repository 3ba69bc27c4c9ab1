// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_TESTING_STREAM_VERDICT_H_
#define FARCALL_TRANSPORT_LINK_STREAM_TESTING_STREAM_VERDICT_H_

#include <array>
#include <memory>
#include <string>

#include "transport/base/time.h"
#include "transport/link/stream/testing/stream_scenario.h"
#include "transport/link/stream/testing/stream_side.h"
#include "transport/link/stream/testing/stream_sim.h"

namespace farcall {

using StreamSides = std::array<std::unique_ptr<StreamSide>, 2>;

// All has arrived, and both send on a generation again.
bool Settled(const StreamScenario& scenario, const StreamSides& sides);

// How far each has come, for a reader.
std::string Progress(const StreamSides& sides);

// What is wrong with how it ended, `calm` after faults had ceased; empty if nothing is.
std::string WrongEnd(const StreamScenario& scenario, const StreamSides& sides, Duration calm);

// Adds what the two streams counted.
void AddStats(const StreamSides& sides, StreamSimStats& stats);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_TESTING_STREAM_VERDICT_H_
