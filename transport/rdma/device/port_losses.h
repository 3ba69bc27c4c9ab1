// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_DEVICE_PORT_LOSSES_H_
#define FARCALL_TRANSPORT_RDMA_DEVICE_PORT_LOSSES_H_

#include <string>
#include <vector>

#include "transport/rdma_status.h"

namespace farcall {

// What the port has counted of packets that came out of order, were lost or were sent again, by
// the kernel's names (hw_counters), those of zero too. They are of all that use the port, and of
// the time since it is there. `sys_class`: /sys/class. Empty where the driver does not count, or
// the kernel does not show it: to a pod that shares the node's device. Reads files.
std::vector<NamedCount> ReadPortLosses(const std::string& sys_class, const std::string& device,
                                       int port);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_DEVICE_PORT_LOSSES_H_
