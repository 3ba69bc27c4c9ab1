// SPDX-License-Identifier: Apache-2.0

#include "transport/transport.h"

#include "absl/strings/str_cat.h"

namespace farcall {

absl::Status ConnectionOptions::Validate() const {
  if (low_water >= high_water) {
    return absl::InvalidArgumentError(
        absl::StrCat("low_water (", low_water, ") must be below high_water (", high_water, ")"));
  }
  if (close_timeout <= Duration::zero()) {
    return absl::InvalidArgumentError("close_timeout must be above 0");
  }
  if (traffic_class < 0 || traffic_class > 255) {
    return absl::InvalidArgumentError(
        absl::StrCat("traffic_class must be 0 to 255 (DSCP << 2), not ", traffic_class));
  }
  return absl::OkStatus();
}

}  // namespace farcall
