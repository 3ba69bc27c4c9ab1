// SPDX-License-Identifier: Apache-2.0

#include "transport/base/numa_node.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace farcall {
namespace {

constexpr int kMostCpus = 1 << 16;

// 0 and above; -1: it is no such directory.
int NumberOfNode(const std::string& name) {
  const std::string prefix = "node";
  if (name.rfind(prefix, 0) != 0 || name.size() == prefix.size()) return -1;
  char* end = nullptr;
  const long number = std::strtol(name.c_str() + prefix.size(), &end, 10);
  return *end == '\0' && number >= 0 && number < kMostCpus ? static_cast<int>(number) : -1;
}

}  // namespace

std::vector<int> ParseCpuList(const std::string& list) {
  std::vector<int> cpus;
  std::istringstream in(list);
  int first = 0;
  while (in >> first) {
    int last = first;
    if (in.peek() == '-') {
      in.ignore();
      if (!(in >> last)) break;
    }
    if (first < 0 || last >= kMostCpus) break;
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (in.get() != ',') break;
  }
  return cpus;
}

int NodeOfCpus(const std::vector<int>& cpus, const std::string& nodes) {
  if (cpus.empty()) return -1;
  std::error_code error;
  std::filesystem::directory_iterator each(nodes, error);
  for (; !error && each != std::filesystem::directory_iterator(); each.increment(error)) {
    const int number = NumberOfNode(each->path().filename().string());
    if (number < 0) continue;
    std::ifstream file(each->path() / "cpulist");
    std::string line;
    std::getline(file, line);
    const std::vector<int> of_node = ParseCpuList(line);
    const auto has = [&](int cpu) {
      return std::find(of_node.begin(), of_node.end(), cpu) != of_node.end();
    };
    if (std::all_of(cpus.begin(), cpus.end(), has)) return number;
  }
  return -1;
}

std::vector<int> AllowedCpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

}  // namespace farcall
