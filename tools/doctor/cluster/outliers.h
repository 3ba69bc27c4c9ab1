// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_CLUSTER_OUTLIERS_H_
#define FARCALL_TOOLS_DOCTOR_CLUSTER_OUTLIERS_H_

#include <optional>
#include <vector>

namespace farcall::doctor {

enum class Better { kLess, kMore };

struct Outliers {
  double expected = 0;  // what a quarter of the values reach; 0: there is none
  std::vector<bool> is;
};

// A value is an outlier if it is worse by half than what a quarter of all reach (1.5 times as much
// latency, two thirds of the bandwidth), but where more than half of all are: then that is how this
// cluster is. Of fewer than four values none is. `values`: nullopt where there is none.
Outliers OutliersOf(const std::vector<std::optional<double>>& values, Better better);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_CLUSTER_OUTLIERS_H_
