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

// Whether this thread may run on `cpu`, a number as in /proc/cpuinfo.
inline bool MayRunOn(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(set), &set) != 0) return false;
  return CPU_ISSET(cpu, &set);
}

// From now on this thread runs on `cpu` only. False: it may not, and nothing changes.
inline bool PinThisThread(int cpu) {
  if (cpu < 0 || cpu >= CPU_SETSIZE) return false;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof(set), &set) == 0;
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_CORES_H_
