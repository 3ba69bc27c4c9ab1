// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_DEVICE_HOST_VIEW_H_
#define FARCALL_TRANSPORT_RDMA_DEVICE_HOST_VIEW_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "transport/rdma/device/local_addresses.h"

namespace farcall {

// What is asked of the host about its devices beside verbs. A test with a fake device
// gives it the addresses, and the directories, that go with it.
struct HostView {
  std::function<absl::StatusOr<std::vector<LocalIp>>()> addresses = LocalAddresses;
  std::string sys_class = "/sys/class";           // has infiniband and infiniband_verbs
  std::string dev_directory = "/dev/infiniband";  // has rdma_cm and uverbsN
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_DEVICE_HOST_VIEW_H_
