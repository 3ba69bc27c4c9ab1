// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_DEVICE_WHY_NO_DEVICE_H_
#define FARCALL_TRANSPORT_RDMA_DEVICE_WHY_NO_DEVICE_H_

#include "absl/status/status.h"
#include "transport/rdma/device/host_view.h"
#include "transport/rdma/verbs/verbs_api.h"

namespace farcall {

// Why rdma_get_devices(3) gave nothing, with `error` in errno (0: it left none): kNoDevice;
// kDeviceNotPermitted with the file that this process cannot open; or kDeviceRefused with the
// errno and the call, where descriptors or memory ran out or something else is the matter.
// System calls; with the control loop held.
absl::Status WhyNoDevice(const VerbsApi& api, const HostView& host, int error);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_DEVICE_WHY_NO_DEVICE_H_
