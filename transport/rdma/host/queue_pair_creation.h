// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_HOST_QUEUE_PAIR_CREATION_H_
#define FARCALL_TRANSPORT_RDMA_HOST_QUEUE_PAIR_CREATION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "transport/rdma/channel/device_poller.h"
#include "transport/rdma/channel/pair_channel.h"
#include "transport/rdma/cm/endpoint.h"
#include "transport/rdma/device/device.h"
#include "transport/rdma/device/rdma_parts.h"
#include "transport/rdma/verbs/verbs_api.h"

namespace farcall {

// With one window alone a sender could wait for ever: that it was read, the peer tells as soon as
// it has two receives to give (CreditFlow::BareCount).
inline constexpr uint32_t kMinWindows = 2;

// Who is at the other end.
enum class PairWire : uint8_t {
  kOwn,   // this library
  kBrpc,  // brpc, or another that speaks as it
};

struct CreatedQueuePair {
  PairWire wire = PairWire::kOwn;
  PairChannel::Limits limits{};
  uint32_t own_receives = 0;  // of a receive queue of its own; 0: it takes the poller's
};

// The queue pair of `end`, for completions and receives of `poller`: as the options say, and as far
// as the device can, which may be less than it claims; with memory windows only if `reads` says
// so. To brpc it has none, and a receive queue of its own (brpc_channel.h).
// kDeviceRefused (why_not_rdma.h): it does not; then `end` has no queue pair.
absl::StatusOr<CreatedQueuePair> CreateQueuePair(const RdmaParts& parts, const RdmaDevice& device,
                                                 ReadsWhy reads, const DevicePoller& poller,
                                                 Endpoint& end, PairWire wire);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_HOST_QUEUE_PAIR_CREATION_H_
