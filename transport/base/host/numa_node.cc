// SPDX-License-Identifier: Apache-2.0

#include "transport/base/host/numa_node.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace farcall {

std::vector<int> ParseCpuList(absl::string_view list) {
  std::vector<int> cpus;
  for (const absl::string_view range : absl::StrSplit(list, ',')) {
    const std::vector<absl::string_view> ends = absl::StrSplit(range, '-');
    int first = 0;
    int last = 0;
    if (ends.size() > 2 || !absl::SimpleAtoi(ends.front(), &first)) continue;
    if (!absl::SimpleAtoi(ends.back(), &last) || last >= kMaxCpus) continue;
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::string CpuListText(const std::vector<int>& cpus) {
  std::string text;
  for (size_t first = 0; first < cpus.size();) {
    size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    absl::StrAppend(&text, text.empty() ? "" : ",", cpus[first]);
    if (last > first) absl::StrAppend(&text, "-", cpus[last]);
    first = last + 1;
  }
  return text;
}

int NodeOfCpus(const std::vector<int>& cpus, const std::vector<NumaNode>& nodes) {
  if (cpus.empty()) return -1;
  for (const NumaNode& node : nodes) {
    const auto has = [&](int cpu) {
      return std::find(node.cpus.begin(), node.cpus.end(), cpu) != node.cpus.end();
    };
    if (std::all_of(cpus.begin(), cpus.end(), has)) return node.number;
  }
  return -1;
}

}  // namespace farcall
