// SPDX-License-Identifier: Apache-2.0

#include "transport/base/cores.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

namespace farcall {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int CoresByAffinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // Fails on machines of more than 1024 cores, where any answer is large enough.
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return CPU_SETSIZE;
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace

int UsableCores() { return UsableCores(ReadFile); }

int UsableCores(FileReader read) {
  const int cores = CoresByAffinity();
  return std::min(cores, CoresByQuota(read).value_or(cores));
}

bool MayRunOn(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(set), &set) != 0) return false;
  return CPU_ISSET(cpu, &set);
}

bool PinThisThread(int cpu) {
  if (cpu < 0 || cpu >= CPU_SETSIZE) return false;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof(set), &set) == 0;
}

}  // namespace farcall
