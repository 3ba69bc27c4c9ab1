// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_CHANNEL_DEVICE_POLLER_COUNTERS_H_
#define FARCALL_TRANSPORT_RDMA_CHANNEL_DEVICE_POLLER_COUNTERS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "transport/base/threads/own_count.h"
#include "transport/rdma/verbs/verbs_names.h"
#include "transport/rdma_status.h"

namespace farcall {

// What one loop did on one device (RdmaTraffic has each). Counted with the data loop held, read
// by any thread: also while the loop is stuck, when it is most asked for.
struct DevicePollerCounters {
  OwnCount enrolled;
  OwnCount forgotten;
  std::array<OwnCount, kCompletionStatuses> breaks;
  OwnCount bytes_in;
  OwnCount bytes_out;
  OwnCount messages_in;
  OwnCount messages_out;
  OwnCount doorbells;
  OwnCount completions;
  OwnCount credit_waits;
  OwnCount slot_waits;
  OwnCount memory_waits;
  // Of the shared receive queue.
  OwnCount receive_slots;
  OwnCount receives_posted;
  OwnCount receives_promised;
  OwnCount receives_lost;
  OwnCount silent_ends;

  // Adds all of it to `traffic`.
  void AddTo(RdmaTraffic& traffic) const;
};

// Adds all numbers of one to the other.
void AddTraffic(const RdmaTraffic& more, RdmaTraffic& to);
// What is over of the device (counts) is added to what is said of it.
void AddPast(const RdmaDeviceStatus& past, RdmaDeviceStatus& to);

// Adds to the count of that name; 0 adds nothing, and no name.
void AddNamed(std::vector<NamedCount>& counts, absl::string_view name, uint64_t more);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CHANNEL_DEVICE_POLLER_COUNTERS_H_
