// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_CORES_H_
#define FARCALL_TRANSPORT_BASE_CORES_H_

#include <sched.h>

namespace farcall {

// The cores that this process may run on (affinity and cpusets count; cgroup quotas do
// not), at least 1.
inline int UsableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // Fails on machines of more than 1024 cores, where any answer is large enough.
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return CPU_SETSIZE;
  const int count = CPU_COUNT(&set);
  return count < 1 ? 1 : count;
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_CORES_H_
