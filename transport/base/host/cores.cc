// SPDX-License-Identifier: Apache-2.0

#include "transport/base/host/cores.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace farcall {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Larger than cpu_set_t, since the kernel refuses to tell what it has no room for.
using CpuSet = std::array<cpu_set_t, kMaxCpus / CPU_SETSIZE>;

// 0 and above; -1: it is no such directory.
int NumberOfNode(absl::string_view name) {
  int number = -1;
  return absl::ConsumePrefix(&name, "node") && absl::SimpleAtoi(name, &number) ? number : -1;
}

}  // namespace

int UsableCores() { return UsableCores(ReadFile); }

int UsableCores(FileReader read) {
  const int cores = std::max(1, static_cast<int>(AllowedCpus().size()));
  return std::min(cores, CoresByQuota(read).value_or(cores));
}

std::vector<int> AllowedCpus() {
  std::vector<int> cpus;
  CpuSet set{};
  if (sched_getaffinity(0, sizeof(set), set.data()) != 0) return cpus;
  for (int cpu = 0; cpu < kMaxCpus; ++cpu) {
    if (CPU_ISSET_S(cpu, sizeof(set), set.data())) cpus.push_back(cpu);
  }
  return cpus;
}

HostCpus ReadHostCpus(const std::string& nodes) {
  HostCpus host;
  host.allowed = AllowedCpus();
  std::error_code error;
  std::filesystem::directory_iterator each(nodes, error);
  for (; !error && each != std::filesystem::directory_iterator(); each.increment(error)) {
    const int number = NumberOfNode(each->path().filename().string());
    if (number < 0) continue;
    host.nodes.push_back({number, ParseCpuList(ReadFile(each->path() / "cpulist"))});
  }
  std::sort(host.nodes.begin(), host.nodes.end(),
            [](const NumaNode& one, const NumaNode& other) { return one.number < other.number; });
  return host;
}

bool RunOnlyOn(const std::vector<int>& cpus, pthread_t thread) {
  CpuSet set{};
  for (const int cpu : cpus) {
    if (cpu >= 0 && cpu < kMaxCpus) CPU_SET_S(cpu, sizeof(set), set.data());
  }
  return pthread_setaffinity_np(thread, sizeof(set), set.data()) == 0;
}

StayOnNode::StayOnNode(int node, const std::string& nodes) {
  if (node < 0) return;
  const std::vector<int> allowed = AllowedCpus();
  std::vector<int> cpus = ParseCpuList(ReadFile(absl::StrCat(nodes, "/node", node, "/cpulist")));
  std::erase_if(cpus,
                [&](int cpu) { return !std::binary_search(allowed.begin(), allowed.end(), cpu); });
  if (RunOnlyOn(cpus)) before_ = allowed;
}

StayOnNode::~StayOnNode() {
  if (!before_.empty()) static_cast<void>(RunOnlyOn(before_));
}

}  // namespace farcall
