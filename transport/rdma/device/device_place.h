// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_DEVICE_DEVICE_PLACE_H_
#define FARCALL_TRANSPORT_RDMA_DEVICE_DEVICE_PLACE_H_

#include <string>

#include "transport/rdma/device/device.h"
#include "transport/rdma/device/local_addresses.h"

namespace farcall {

// What verbs do not say: the device's NUMA node, and each port's partition. `sys_class` is
// /sys/class. `wanted`: the partition key that ports of InfiniBand shall have; 0: their first, as
// all others. What cannot be read stays untold.
void ReadPlace(const std::string& sys_class, uint16_t wanted, DeviceInfo& info);

// The port, from 1, that has the interface of this address; 0: it is of another device, or of none
// that is known. RoCE has the address itself among its GIDs, InfiniBand and iWARP the hardware
// address of the interface.
uint8_t PortWith(const DeviceInfo& info, const LocalIp& local);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_DEVICE_DEVICE_PLACE_H_
