// SPDX-License-Identifier: Apache-2.0
//
// What a DeviceSet has of one device.

#ifndef FARCALL_TRANSPORT_RDMA_DEVICE_DEVICE_SET_ENTRY_H_
#define FARCALL_TRANSPORT_RDMA_DEVICE_DEVICE_SET_ENTRY_H_

#include <memory>
#include <string>

#include "transport/rdma/device/device_set.h"
#include "transport/why_not_rdma.h"

namespace farcall {

// Why a device is not used; kInUse: it may be.
struct DeviceSet::Verdict {
  WhyNotRdma why = WhyNotRdma::kInUse;
  std::string detail;
  bool unread = false;  // the host's addresses could not be

  bool good() const { return why == WhyNotRdma::kInUse; }
};

struct DeviceSet::Entry {
  ibv_context* context = nullptr;
  std::shared_ptr<DeviceList> list;  // the last one that it was seen in
  DeviceInfo info;
  Verdict verdict;
  // After `list`, so that it ends before the context may be closed.
  std::unique_ptr<RdmaDevice> device;
  bool seen = false;   // by the last Refresh
  std::string logged;  // the last failure to open it that was logged

  // An open one has an address: rdma_cm has found it by that.
  bool usable() const {
    const bool found =
        device != nullptr && (verdict.why == WhyNotRdma::kNoAddress || verdict.unread);
    return seen && (verdict.good() || found);
  }
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_DEVICE_DEVICE_SET_ENTRY_H_
