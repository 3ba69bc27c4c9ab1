// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_SETUP_SET_UP_ERROR_H_
#define FARCALL_TRANSPORT_RDMA_SETUP_SET_UP_ERROR_H_

#include "absl/status/status.h"
#include "transport/rdma/cm/endpoint.h"

namespace farcall {

// Why not RDMA, where the last call of `end` failed with this errno.
absl::Status SetUpError(const Endpoint& end, int error);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_SETUP_SET_UP_ERROR_H_
