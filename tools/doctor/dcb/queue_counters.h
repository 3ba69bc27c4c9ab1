// SPDX-License-Identifier: Apache-2.0
//
// What an adapter counts for each priority, of the many counters of `ethtool -S`, whose names each
// driver has chosen for itself.

#ifndef FARCALL_TOOLS_DOCTOR_DCB_QUEUE_COUNTERS_H_
#define FARCALL_TOOLS_DOCTOR_DCB_QUEUE_COUNTERS_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "tools/doctor/dcb/dcb_facts.h"

namespace farcall::doctor {

enum class Counted : uint8_t {
  kPausesReceived,  // the other end of the cable asked for them
  kPausesSent,
  kDiscards,
  kMarked,  // by ECN
  kBytesReceived,
  kBytesSent,
};

struct QueueCounters {
  std::string error;   // why there are none; "": the driver was asked
  uint64_t named = 0;  // counters that the driver has, known here or not
  std::map<Counted, std::array<uint64_t, kPriorities>> of_priority;
  // Packets dropped of whatever priority, by the driver's name.
  std::map<std::string, uint64_t> discards;

  bool known() const { return !of_priority.empty() || !discards.empty(); }
};

// Adds one counter of the driver, where it is one of those above.
void AddStatistic(absl::string_view name, uint64_t value, QueueCounters& counters);

// The pauses that Data Center Bridging counts, where the driver's counters have none.
void AddPauses(const Dcb& dcb, QueueCounters& counters);

// By how much they moved; what one of the two looks lacks, or what went back, is left out.
QueueCounters Moved(const QueueCounters& before, const QueueCounters& after);

// "priority 3: pauses received 12, discards 4; priority 0: bytes sent 1,500": what is not zero.
// "": nothing is.
std::string TextOf(const QueueCounters& counters);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_DCB_QUEUE_COUNTERS_H_
