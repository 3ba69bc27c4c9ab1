// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_CHECKS_QUEUES_H_
#define FARCALL_TOOLS_DOCTOR_CHECKS_QUEUES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tools/doctor/checks/finding.h"
#include "tools/doctor/dcb/queue_counters.h"

namespace farcall::doctor {

// The finding "priorities": what the adapter's counters did between two looks.
struct Watched {
  std::string when;           // "in 2 s", "in 12 s of load"
  bool carried_rdma = false;  // farcall's own packets over RDMA are most of what was carried
};
Finding CheckQueues(const std::string& subject, const QueueCounters& moved,
                    std::optional<uint32_t> priority, const Watched& watched);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_CHECKS_QUEUES_H_
