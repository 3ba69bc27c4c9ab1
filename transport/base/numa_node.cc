// SPDX-License-Identifier: Apache-2.0

#include "transport/base/numa_node.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "transport/base/cores.h"

namespace farcall {
namespace {

// 0 and above; -1: it is no such directory.
int NumberOfNode(absl::string_view name) {
  int number = -1;
  return absl::ConsumePrefix(&name, "node") && absl::SimpleAtoi(name, &number) ? number : -1;
}

}  // namespace

std::vector<int> ParseCpuList(absl::string_view list) {
  std::vector<int> cpus;
  for (const absl::string_view range : absl::StrSplit(list, ',')) {
    const std::vector<absl::string_view> ends = absl::StrSplit(range, '-');
    int first = 0;
    int last = 0;
    if (ends.size() > 2 || !absl::SimpleAtoi(ends.front(), &first)) continue;
    if (!absl::SimpleAtoi(ends.back(), &last) || last >= kMostCpus) continue;
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
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

}  // namespace farcall
