// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TESTING_SIM_SIM_OPTIONS_H_
#define FARCALL_TRANSPORT_TESTING_SIM_SIM_OPTIONS_H_

#include <cstddef>
#include <cstdint>

#include "transport/base/time.h"

namespace farcall {

// How a simulated network behaves. Chances are 0 to 1.
struct SimOptions {
  uint64_t seed = 1;
  // What a packet takes, one way; each its own. Packets of a connection keep their order.
  Duration min_delay = std::chrono::microseconds(10);
  Duration max_delay = std::chrono::microseconds(500);
  // Bytes that may be on their way, or arrived and not read, in one direction. > 0.
  size_t window = size_t{64} << 10;
  // Each direction carries so many bytes a second, acknowledgements aside. 0: any.
  uint64_t rate = 0;
  // What is written is cut at random places into packets of 1 to this many bytes.
  size_t max_packet = size_t{16} << 10;

  // Of each packet of data: the connection breaks, and both ends hear of it.
  double reset = 0;
  // Of each packet of data: from it on nothing arrives, either way, without any event.
  double mute = 0;
  // False: the other end does not learn that one goes away, as with a queue pair.
  bool tells_ends = true;
  // Of each connect: it is refused; it gets no answer.
  double refuse = 0;
  double unanswered = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_SIM_SIM_OPTIONS_H_
