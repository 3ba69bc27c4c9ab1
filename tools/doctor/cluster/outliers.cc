// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/cluster/outliers.h"

#include <algorithm>
#include <cstddef>

namespace farcall::doctor {
namespace {

constexpr size_t kMin = 4;
constexpr double kWorse = 1.5;

}  // namespace

Outliers OutliersOf(const std::vector<std::optional<double>>& values, Better better) {
  Outliers found;
  found.is.assign(values.size(), false);
  std::vector<double> sorted;
  for (const std::optional<double>& value : values) {
    if (value.has_value()) sorted.push_back(*value);
  }
  if (sorted.empty()) return found;
  std::sort(sorted.begin(), sorted.end());
  if (better == Better::kMore) std::reverse(sorted.begin(), sorted.end());
  found.expected = sorted[(sorted.size() - 1) / 4];
  if (sorted.size() < kMin) return found;
  size_t count = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i].has_value()) continue;
    found.is[i] = better == Better::kLess ? *values[i] > kWorse * found.expected
                                          : *values[i] * kWorse < found.expected;
    count += found.is[i] ? 1 : 0;
  }
  if (2 * count > sorted.size()) found.is.assign(values.size(), false);
  return found;
}

}  // namespace farcall::doctor
