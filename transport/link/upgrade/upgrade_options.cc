// SPDX-License-Identifier: Apache-2.0

#include "transport/link/upgrade/upgrade_options.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace farcall {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct Bound {
  absl::string_view name;
  Duration value;
  Duration least;
  Duration most;
};

absl::Status CheckBound(const Bound& bound) {
  if (bound.value >= bound.least && bound.value <= bound.most) return absl::OkStatus();
  const auto ms = [](Duration time) {
    return std::chrono::duration_cast<milliseconds>(time).count();
  };
  return absl::InvalidArgumentError(absl::StrCat(bound.name, " must be ", ms(bound.least), " to ",
                                                 ms(bound.most), " ms, not ", ms(bound.value)));
}

}  // namespace

absl::Status UpgradeOptions::Validate() const {
  if (require_rdma && !use_rdma) {
    return absl::InvalidArgumentError("require_rdma needs use_rdma");
  }
  constexpr Duration kLeast = milliseconds(1);
  for (const Bound& bound : {
           Bound{"require_timeout", require_timeout, kLeast, hours(1)},
           Bound{"probe_timeout", probe_timeout, kLeast, seconds(60)},
           Bound{"hello_timeout", hello_timeout, kLeast, seconds(60)},
           Bound{"busy_hello_timeout", busy_hello_timeout, kLeast, seconds(60)},
           Bound{"silent_peer_memory", silent_peer_memory, Duration::zero(), hours(1)},
           Bound{"sniff_timeout", sniff_timeout, kLeast, seconds(60)},
           Bound{"upgrade.first_pause", upgrade.first_pause, kLeast, hours(1)},
           Bound{"upgrade.longest_pause", upgrade.longest_pause, upgrade.first_pause, hours(24)},
           Bound{"upgrade.answer", upgrade.answer, kLeast, hours(1)},
           Bound{"upgrade.dial", upgrade.dial, kLeast, hours(1)},
       }) {
    if (absl::Status valid = CheckBound(bound); !valid.ok()) return valid;
  }
  return stream.Validate();
}

}  // namespace farcall
