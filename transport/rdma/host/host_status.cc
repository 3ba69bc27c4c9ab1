// SPDX-License-Identifier: Apache-2.0
//
// What an RdmaHost tells of itself.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "transport/rdma/channel/device_poller_counters.h"
#include "transport/rdma/host/rdma_host.h"
#include "transport/rdma_status.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

RdmaDeviceStatus* FindByName(std::vector<RdmaDeviceStatus>& devices, absl::string_view name) {
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [&](const auto& device) { return device.name == name; });
  return found == devices.end() ? nullptr : &*found;
}

}  // namespace

RdmaStatus RdmaHost::Status() const {
  RdmaStatus status;
  status.answered = true;
  status.looked = devices_ != nullptr || !load_error_.ok();
  status.setups = attempts_.size();
  status.incoming_setups = incoming_.size();
  absl::Status available = load_error_;
  if (devices_ != nullptr) {
    available.Update(devices_->Availability());
    for (RdmaDeviceStatus& device : devices_->Statuses()) {
      // One that came back before its former self was let go has one name.
      RdmaDeviceStatus* const other = FindByName(status.devices, device.name);
      if (other == nullptr) {
        status.devices.push_back(std::move(device));
      } else if (device.present && !other->present) {
        *other = std::move(device);
      }
    }
  }
  if (!available.ok()) {
    status.why = ReasonOf(available);
    status.why_detail = DetailOf(available);
  }
  for (const auto& [context, use] : uses_) {
    RdmaDeviceStatus* const device = FindByName(status.devices, use->device().name());
    if (device != nullptr) use->AddTo(*device);
  }
  for (const auto& [name, past] : past_) {
    if (FindByName(status.devices, name) == nullptr) {
      status.devices.emplace_back().name = name;
      status.devices.back().why = WhyNotRdma::kNoDevice;
    }
    AddPast(past, *FindByName(status.devices, name));
  }
  return status;
}

// Its pollers are gone, and its counts final.
void RdmaHost::Remember(const DeviceUse& use) {
  const std::string& name = use.device().name();
  if (!past_.contains(name) && past_.size() >= kMaxPast) return;
  use.AddTo(past_[name]);
}

}  // namespace farcall
