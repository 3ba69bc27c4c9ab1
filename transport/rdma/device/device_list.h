// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_DEVICE_DEVICE_LIST_H_
#define FARCALL_TRANSPORT_RDMA_DEVICE_DEVICE_LIST_H_

#include <vector>

#include "transport/rdma/verbs/verbs_api.h"

namespace farcall {

// What rdma_get_devices(3) gave. The contexts in it stay open as long as this lives. With the
// control loop held.
class DeviceList {
 public:
  explicit DeviceList(const VerbsApi& api);
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;
  ~DeviceList();

  std::vector<ibv_context*> contexts() const;
  // The errno where there is no list; ENODEV also if there is just no device.
  int error() const { return error_; }

 private:
  const VerbsApi& api_;
  int count_ = 0;
  int error_ = 0;
  ibv_context** contexts_;
};

// Whether libibverbs sees this device, which is what librdmacm goes by to tell whether one is
// gone. It may give no contexts though there are devices: because it could not open one. True
// also when that cannot be known.
bool IsListed(const VerbsApi& api, const ibv_device* device);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_DEVICE_DEVICE_LIST_H_
