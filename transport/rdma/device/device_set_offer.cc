// SPDX-License-Identifier: Apache-2.0
//
// What a DeviceSet tells of its devices.

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "transport/rdma/device/device_set.h"
#include "transport/rdma/device/device_set_entry.h"
#include "transport/rdma/device/port_losses.h"
#include "transport/why_not_rdma.h"

namespace farcall {

std::vector<RdmaDeviceStatus> DeviceSet::Statuses() const {
  std::vector<RdmaDeviceStatus> statuses;
  for (const auto& entry : entries_) {
    RdmaDeviceStatus status = StatusOf(entry->info);
    status.present = entry->seen;
    status.open = entry->device != nullptr;
    status.reads = ReadsOfDevice(options_.read_at_least, entry->info.has_windows(), /*fail=*/false);
    status.why = entry->usable() ? WhyNotRdma::kInUse : entry->verdict.why;
    for (RdmaPortStatus& port : status.ports) {
      port.losses = ReadPortLosses(host_.sys_class, status.name, port.number);
    }
    if (!entry->seen) status.why = WhyNotRdma::kNoDevice;
    if (!entry->usable() && entry->seen) status.why_detail = entry->verdict.detail;
    statuses.push_back(std::move(status));
  }
  return statuses;
}

absl::Status DeviceSet::WhyNot(ibv_context* context) const {
  const Entry* const entry = EntryOf(context);
  if (entry != nullptr && entry->usable()) return absl::OkStatus();
  if (entry == nullptr || !entry->seen) {
    return NotRdma(WhyNotRdma::kNoDevice, "it was not seen when devices were looked at last");
  }
  return NotRdma(entry->verdict.why, entry->verdict.detail);
}

bool DeviceSet::Sees(ibv_context* context) const {
  const Entry* const entry = EntryOf(context);
  return entry != nullptr && entry->seen;
}

std::vector<const DeviceInfo*> DeviceSet::Usable() const {
  std::vector<const DeviceInfo*> usable;
  for (const auto& entry : entries_) {
    if (entry->usable()) usable.push_back(&entry->info);
  }
  return usable;
}

std::vector<DeviceSet::ActivePort> DeviceSet::ActivePorts() const {
  std::vector<ActivePort> active;
  for (const auto& entry : entries_) {
    if (!entry->usable()) continue;
    for (const DevicePort& port : entry->info.ports) {
      if (port.active) active.push_back({entry->context, entry->info, port});
    }
  }
  return active;
}

std::vector<LocalPort> DeviceSet::Ports() const {
  std::vector<LocalPort> ports;
  if (options_.set_up == RdmaSetUp::kRdmaCm) return ports;
  for (const auto& entry : entries_) {
    if (!entry->usable()) continue;
    for (LocalPort& port : LocalPorts(entry->info, entry->context)) ports.push_back(port);
  }
  if (const auto own = host_.addresses(); own.ok()) PutOwnFirst(*own, ports);
  return ports;
}

absl::StatusOr<std::set<std::string>> DeviceSet::UsablePlaces() const {
  const auto local = host_.addresses();
  if (!local.ok()) return local.status();
  std::set<std::string> places;
  for (const DeviceInfo* const info : Usable()) {
    for (const DevicePort& port : info->ports) {
      if (port.active) places.insert(absl::StrCat(info->name, " port ", port.number));
    }
    for (const LocalIp& ip : *local) {
      if (info->MayCarry(ip.address))
        places.insert(absl::StrCat(info->name, " ", ip.address.ToString()));
    }
  }
  return places;
}

}  // namespace farcall
