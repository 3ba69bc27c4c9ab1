// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/setup/set_up_error.h"

#include <cerrno>
#include <string>

#include "absl/strings/str_cat.h"
#include "transport/base/errno_status.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

// ibv_modify_qp(3) to RTR looks for the way to the peer's GID.
bool IsOfTheNetwork(int error) {
  return error == ETIMEDOUT || error == ENETUNREACH || error == EHOSTUNREACH || error == EAGAIN;
}

}  // namespace

absl::Status SetUpError(const Endpoint& end, int error) {
  const std::string failed = absl::StrCat(end.call(), ": ", ErrnoStatus(error).message());
  if (end.set_up() == "rdma_cm") return NotRdma(WhyNotRdma::kDeviceRefused, failed);
  const std::string detail =
      absl::StrCat(failed, " (from ", end.local().ToString(), " to ", end.peer().ToString(), ")");
  if (error == EPROTO) return NotRdma(WhyNotRdma::kRejected, detail);
  if (IsOfTheNetwork(error)) return NotRdma(WhyNotRdma::kUnreachable, detail);
  // Of MLNX_OFED's kernel modules, which do not let a program use a GID whose interface it does
  // not see.
  return NotRdma(WhyNotRdma::kDeviceRefused,
                 error == ENODEV
                     ? absl::StrCat(detail,
                                    "; this driver wants the interface of that GID in the "
                                    "program's network namespace")
                     : detail);
}

}  // namespace farcall
