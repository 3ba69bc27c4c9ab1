// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_TESTING_STREAM_SCENARIO_H_
#define FARCALL_TRANSPORT_LINK_STREAM_TESTING_STREAM_SCENARIO_H_

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "transport/base/time.h"
#include "transport/link_options.h"
#include "transport/testing/test_random.h"

namespace farcall {

// How a simulated link comes to its end.
enum class StreamEnding : uint8_t {
  kSettled,              // faults cease, everything arrives, then one or both close
  kEarly,                // one or both close while everything is still going on
  kAbort,                // one aborts
  kLifelineDies,         // both hear of it, sooner or later
  kPeerStops,            // one does nothing any more
  kLifelineFallsSilent,  // nothing comes by it any more, without any error
};

// What a seed makes of a run.
struct StreamScenario {
  explicit StreamScenario(TestRandom& random);

  bool several() const { return limits[0].rails > 1; }

  StreamEnding ending;
  StreamLimits limits[2];
  Duration tcp_delay;
  Duration rdma_delay;
  size_t tcp_room;
  size_t rdma_room;
  // Until then there are writes, pauses and faults.
  Duration chaos;
  int writes;
  size_t most_written;  // at once
  double set_up_fails;
  double dies;
  double noticed;  // that a side is notified of a death, and not left to find out
  // The server hears of a generation from the lifeline, or by other ways.
  bool ask;
  // Only side 0 writes, so that the other learns of nothing by itself.
  bool one_sided;
  // That a generation is slow, of several; that a death takes others with it.
  double slow;
  double all_die;

 private:
  void AddRails(TestRandom& random);
};

inline StreamScenario::StreamScenario(TestRandom& random) {
  const auto ms = [](uint64_t count) { return Duration(std::chrono::milliseconds(count)); };
  const uint64_t kind = random.Below(100);
  ending = kind < 55   ? StreamEnding::kSettled
           : kind < 85 ? StreamEnding::kEarly
           : kind < 90 ? StreamEnding::kAbort
           : kind < 94 ? StreamEnding::kLifelineDies
           : kind < 97 ? StreamEnding::kPeerStops
                       : StreamEnding::kLifelineFallsSilent;
  for (StreamLimits& limit : limits) {
    limit.receive_window = size_t{8} << random.Below(7);
    limit.max_data = 1 + random.Below(limit.receive_window);
    limit.close_timeout = ms(20000);
    limit.peer_timeout = ms(4000);
  }
  limits[0].send_window = limits[1].receive_window;
  limits[1].send_window = limits[0].receive_window;
  constexpr uint64_t kTcpDelays[] = {0, 1, 5, 60};
  constexpr uint64_t kRdmaDelays[] = {0, 1, 10};
  tcp_delay = ms(kTcpDelays[random.Below(4)]);
  rdma_delay = ms(kRdmaDelays[random.Below(3)]);
  // So that a window takes less than peer_timeout.
  tcp_room = (tcp_delay > ms(5) ? 800 : 100) + random.Size(4000);
  rdma_room = 60 + random.Size(4000);
  chaos = ms(20 + random.Below(random.Chance(0.5) ? 200 : 900));
  writes = static_cast<int>(1 + random.Below(16));
  most_written = 1 + random.Below(limits[0].receive_window * 2);
  set_up_fails = random.Chance(0.5) ? 0 : 0.4;
  dies = random.Chance(0.3) ? 0 : 0.8;
  noticed = random.Chance(0.5) ? 0.9 : 0.4;
  ask = random.Chance(0.7);
  one_sided = random.Chance(0.2);
  AddRails(random);
  for (StreamLimits& limit : limits) limit.tcp_carries_on = random.Chance(0.95);
}

inline void StreamScenario::AddRails(TestRandom& random) {
  slow = random.Chance(0.5) ? 0 : 0.3;
  all_die = random.Chance(0.7) ? 0 : 0.5;
  if (random.Chance(0.5)) return;
  const auto rails = static_cast<uint32_t>(random.Chance(0.1) ? kMaxRails : 2 + random.Below(3));
  for (StreamLimits& limit : limits) {
    limit.rails = rails;
    limit.least_slice = size_t{1} << random.Below(5);
  }
  // An ask must not come before the peer's RESUME.
  ask = true;
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_TESTING_STREAM_SCENARIO_H_
