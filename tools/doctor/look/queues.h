// SPDX-License-Identifier: Apache-2.0
//
// The queues of a network interface, asked of the kernel without a right and without another
// program: Data Center Bridging over rtnetlink, counters by the ioctls of ethtool(8).

#ifndef FARCALL_TOOLS_DOCTOR_LOOK_QUEUES_H_
#define FARCALL_TOOLS_DOCTOR_LOOK_QUEUES_H_

#include <map>
#include <string>
#include <vector>

#include "tools/doctor/dcb/dcb_facts.h"
#include "tools/doctor/dcb/queue_counters.h"

namespace farcall::doctor {

// Never fail: `error` of what they return says why there is nothing. They wait for the driver.
Dcb ReadDcb(const std::string& interface);
// With the pauses of `dcb`, where the driver's counters have none.
QueueCounters ReadQueueCounters(const std::string& interface, const Dcb& dcb);

// Of each interface.
std::map<std::string, Dcb> ReadDcbs(const std::vector<std::string>& interfaces);
// DCB is asked again, since it counts, too.
std::map<std::string, QueueCounters> ReadCounters(const std::vector<std::string>& interfaces);
// Of those that both have.
std::map<std::string, QueueCounters> MovedOf(const std::map<std::string, QueueCounters>& before,
                                             const std::map<std::string, QueueCounters>& after);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_LOOK_QUEUES_H_
