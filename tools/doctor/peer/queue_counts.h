// SPDX-License-Identifier: Apache-2.0
//
// Counters of queues as messages.

#ifndef FARCALL_TOOLS_DOCTOR_PEER_QUEUE_COUNTS_H_
#define FARCALL_TOOLS_DOCTOR_PEER_QUEUE_COUNTS_H_

#include <map>
#include <string>
#include <vector>

#include "tools/doctor/checks/checks.h"
#include "tools/doctor/dcb/queue_counters.h"
#include "tools/doctor/peer/comparison.h"
#include "tools/doctor/peer/doctor.pb.h"

namespace farcall::doctor {

// `counters`: by interface.
CountResponse ToMessage(const std::vector<QueueOf>& queues,
                        const std::map<std::string, QueueCounters>& counters);

// What moved between two answers of a peer, of the queues that both have. Its names can be printed;
// what it counts under numbers that are not known here is left out.
std::vector<LoadedQueue> MovedOf(const CountResponse& before, const CountResponse& after);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_PEER_QUEUE_COUNTS_H_
