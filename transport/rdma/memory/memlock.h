// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_MEMORY_MEMLOCK_H_
#define FARCALL_TRANSPORT_RDMA_MEMORY_MEMLOCK_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace farcall {

// Why `device` did not register `bytes`, when errno said `error` and `needed` bytes are to
// be registered in all: the pool, for each device in use. The kernel counts what is
// registered against RLIMIT_MEMLOCK, once for each device, and says ENOMEM (some drivers:
// EAGAIN or EPERM): kMemlock, with the bytes needed and those allowed. Else, and where the
// limit leaves room: kDeviceRefused.
absl::Status RegistrationError(absl::string_view device, size_t bytes, size_t needed, int error);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_MEMORY_MEMLOCK_H_
