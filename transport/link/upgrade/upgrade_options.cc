// SPDX-License-Identifier: Apache-2.0

#include "transport/link/upgrade/upgrade_options.h"

namespace farcall {

absl::Status UpgradeOptions::Validate() const {
  if (require_rdma && !use_rdma) {
    return absl::InvalidArgumentError("require_rdma needs use_rdma");
  }
  return LinkOptions::Validate();
}

}  // namespace farcall
