// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/memory/memlock.h"

#include <sys/resource.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "transport/base/errno_status.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

// Bytes; RLIM_INFINITY: no limit.
rlim_t MemlockLimit() {
  rlimit limit{};
  return getrlimit(RLIMIT_MEMLOCK, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

}  // namespace

absl::Status RegistrationError(absl::string_view device, size_t bytes, size_t needed, int error) {
  const rlim_t allowed = MemlockLimit();
  const bool about_memory = error == ENOMEM || error == EAGAIN || error == EPERM;
  if (about_memory && allowed != RLIM_INFINITY && needed > allowed) {
    return NotRdma(WhyNotRdma::kMemlock,
                   absl::StrCat(device, ": ", needed,
                                " bytes are needed, the pool's regions and memory of the program, "
                                "for each device in use; ",
                                allowed, " are allowed"));
  }
  return NotRdma(
      WhyNotRdma::kDeviceRefused,
      absl::StrCat(device, ": ibv_reg_mr of ", bytes, " bytes: ", ErrnoStatus(error).message()));
}

}  // namespace farcall
