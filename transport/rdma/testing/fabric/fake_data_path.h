// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FAKE_DATA_PATH_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FAKE_DATA_PATH_H_

#include <infiniband/verbs.h>

#include <cstdint>

namespace farcall {

// Bytes of one message at most.
constexpr uint32_t kFakeMaxMessage = uint32_t{1} << 30;

// What the inline functions of <infiniband/verbs.h> call.
ibv_context_ops FakeDataPath();

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FAKE_DATA_PATH_H_
