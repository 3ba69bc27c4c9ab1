// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/device/device_set.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "transport/base/check.h"
#include "transport/rdma/device/context_use.h"
#include "transport/rdma/device/device_place.h"
#include "transport/rdma/device/device_set_entry.h"
#include "transport/rdma/device/why_no_device.h"
#include "transport/why_not_rdma.h"

namespace farcall {

DeviceList::DeviceList(const VerbsApi& api) : api_(api) {
  errno = 0;
  contexts_ = api.rdma.get_devices(&count_);
  if (contexts_ == nullptr) error_ = errno;
}

DeviceList::~DeviceList() {
  if (contexts_ != nullptr) api_.rdma.free_devices(contexts_);
}

std::vector<ibv_context*> DeviceList::contexts() const {
  if (contexts_ == nullptr || count_ <= 0) return {};
  return std::vector<ibv_context*>(contexts_, contexts_ + count_);
}

bool IsListed(const VerbsApi& api, const ibv_device* device) {
  int count = 0;
  ibv_device** const list = api.ibv.get_device_list(&count);
  if (list == nullptr) return true;
  const bool listed = std::find(list, list + count, device) != list + count;
  api.ibv.free_device_list(list);
  return listed;
}

DeviceSet::Verdict DeviceSet::VerdictOf(const absl::Status& error) {
  return {ReasonOf(error), DetailOf(error)};
}

DeviceSet::DeviceSet(const VerbsApi& api, const RdmaOptions& options, RdmaRegistrar& registrar,
                     const EpisodeLog::Sink& log, HostView host)
    : api_(api),
      options_(options),
      registrar_(registrar),
      log_(log),
      host_(std::move(host)),
      nothing_(NotRdma(WhyNotRdma::kPending, "no device was looked for yet")) {}

DeviceSet::~DeviceSet() = default;

absl::Status DeviceSet::Refresh() {
  const auto list = std::make_shared<DeviceList>(api_);
  const std::vector<ibv_context*> contexts = list->contexts();
  // librdmacm (44, ucma_init) waits for itself for ever when it is called after it has let go
  // of its last device; and while one comes or goes it may see none for a moment.
  if (!contexts.empty()) last_ = list;
  for (const auto& entry : entries_) entry->seen = false;
  for (ibv_context* const context : contexts) See(list, context);
  // An open one stays, and keeps its list, until it is Removed; another until it is let go.
  const bool others = !contexts.empty();
  std::erase_if(entries_, [&](const auto& entry) {
    return !entry->seen && entry->device == nullptr && LetGo(*entry, others);
  });
  nothing_ = contexts.empty() ? WhyNoDevice(api_, host_, list->error()) : absl::OkStatus();
  LogChoice();
  return Availability();
}

// librdmacm closes the context of a device that is gone by itself, once it sees another device
// and no list has the context any more. Of the last device it has to be taken (release_context.h);
// its memory stays, for the list that is kept.
bool DeviceSet::LetGo(const Entry& entry, bool others) const {
  if (others) return true;
  return !IsListed(api_, entry.context->device) && ContextUse::Release(api_, entry.context);
}

void DeviceSet::See(const std::shared_ptr<DeviceList>& list, ibv_context* context) {
  Entry* entry = EntryOf(context);
  if (entry == nullptr) {
    entries_.push_back(std::make_unique<Entry>());
    entry = entries_.back().get();
    entry->context = context;
  }
  entry->seen = true;
  entry->list = list;
  auto info = QueryDevice(api_, context);
  if (info.ok()) {
    entry->info = *std::move(info);
    ReadPlace(host_.sys_class, options_.partition_key, entry->info);
    entry->verdict = Judge(entry->info);
    return;
  }
  entry->info.name = api_.ibv.get_device_name(context->device);
  entry->verdict = VerdictOf(info.status());
}

DeviceSet::Verdict DeviceSet::Judge(const DeviceInfo& info) const {
  if (Excluded(info.name)) {
    return {WhyNotRdma::kDeviceExcluded, absl::StrCat(info.name, " is not in RdmaOptions.devices: ",
                                                      absl::StrJoin(options_.devices, ", "))};
  }
  if (!info.active()) return {WhyNotRdma::kNoActivePort, info.name};
  const bool may_over_tcp = options_.set_up != RdmaSetUp::kRdmaCm;
  if (may_over_tcp && !LocalPorts(info, nullptr).empty()) return {};
  if (options_.set_up == RdmaSetUp::kOverTcp) return {WhyNotRdma::kNoAddress, WhyNotOverTcp(info)};
  const auto local = host_.addresses();
  if (!local.ok()) {
    return {WhyNotRdma::kDeviceRefused, absl::StrCat(info.name, ": ", local.status().message()),
            /*unread=*/true};
  }
  const bool has_one = std::any_of(local->begin(), local->end(),
                                   [&](const LocalIp& ip) { return info.MayCarry(ip.address); });
  if (has_one) return {};
  return {WhyNotRdma::kNoAddress, may_over_tcp ? WhyNotOverTcp(info) : info.name};
}

// Of a device with an active port.
std::string DeviceSet::WhyNotOverTcp(const DeviceInfo& info) const {
  const bool no_key = std::any_of(info.ports.begin(), info.ports.end(), [](const DevicePort& port) {
    return port.active && !port.partition_index;
  });
  if (no_key) {
    return absl::StrCat(info.name, " (its port is not in the partition 0x",
                        absl::Hex(options_.partition_key, absl::kZeroPad4),
                        " of rdma.partition_key, or /sys/class/infiniband does not show it)");
  }
  if (options_.set_up != RdmaSetUp::kOverTcp) return info.name;
  return absl::StrCat(info.name, " (rdma.set_up is tcp: it needs a GID, and is not for iWARP)");
}

bool DeviceSet::Excluded(const std::string& name) const {
  const auto& wanted = options_.devices;
  return !wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end();
}

absl::Status DeviceSet::Availability() const {
  // From far to near.
  constexpr WhyNotRdma kStages[] = {WhyNotRdma::kDeviceExcluded, WhyNotRdma::kNoActivePort,
                                    WhyNotRdma::kNoAddress,      WhyNotRdma::kCapacity,
                                    WhyNotRdma::kDeviceRefused,  WhyNotRdma::kMemlock};
  const auto stage = [&](const Entry& entry) {
    return std::find(std::begin(kStages), std::end(kStages), entry.verdict.why);
  };
  const Entry* nearest = nullptr;
  for (const auto& entry : entries_) {
    if (entry->usable()) return absl::OkStatus();
    if (!entry->seen) continue;
    if (nearest == nullptr || stage(*entry) > stage(*nearest)) nearest = entry.get();
  }
  if (nearest == nullptr) {
    return nothing_.ok() ? NotRdma(WhyNotRdma::kNoDevice, "it was removed") : nothing_;
  }
  const WhyNotRdma why = nearest->verdict.why;
  std::vector<std::string> details;
  for (const auto& entry : entries_) {
    if (!entry->seen) continue;
    const Verdict& verdict = entry->verdict;
    details.push_back(verdict.why == why ? verdict.detail
                                         : absl::StrCat(Name(verdict.why), ": ", verdict.detail));
  }
  return NotRdma(why, absl::StrJoin(details, "; "));
}

// Only the filter counts here: rdma_cm has found the port and the address.
absl::StatusOr<RdmaDevice*> DeviceSet::Find(ibv_context* context) {
  if (EntryOf(context) == nullptr) static_cast<void>(Refresh());
  Entry* const entry = EntryOf(context);
  if (entry == nullptr || !entry->seen) {
    return NotRdma(WhyNotRdma::kNoDevice, "the device of the connection was removed");
  }
  if (entry->device == nullptr) {
    if (absl::Status status = OpenEntry(*entry); !status.ok()) return status;
  }
  return entry->device.get();
}

absl::Status DeviceSet::OpenEntry(Entry& entry) {
  if (Excluded(entry.info.name)) return NotRdma(entry.verdict.why, entry.verdict.detail);
  const auto free = std::find(taken_.begin(), taken_.end(), false);
  if (free == taken_.end()) {
    return NotRdma(WhyNotRdma::kCapacity,
                   absl::StrCat(entry.info.name, ": ", kMaxRdmaDevices, " devices are in use"));
  }
  auto device = RdmaDevice::Open(api_, entry.context, static_cast<size_t>(free - taken_.begin()),
                                 entry.info, registrar_, options_.relaxed_ordering,
                                 options_.read_at_least > 0 && entry.info.has_windows());
  if (device.ok()) {
    *free = true;
    entry.device = *std::move(device);
    entry.logged.clear();
    return absl::OkStatus();
  }
  const std::string message(device.status().message());
  entry.verdict = VerdictOf(device.status());  // until the next Refresh
  if (entry.logged != message && log_) log_(absl::StrCat("RDMA device not opened: ", message));
  entry.logged = message;
  return device.status();
}

std::vector<RdmaDevice*> DeviceSet::Gone() const {
  std::vector<RdmaDevice*> gone;
  for (const auto& entry : entries_) {
    if (entry->seen || entry->device == nullptr) continue;
    // Else librdmacm could not look, for want of descriptors or memory.
    if (!IsListed(api_, entry->context->device)) gone.push_back(entry->device.get());
  }
  return gone;
}

void DeviceSet::Remove(ibv_context* context) {
  if (Entry* const entry = EntryOf(context); entry != nullptr && entry->device != nullptr) {
    taken_[entry->device->index()] = false;
    entry->device.reset();
  }
  static_cast<void>(Refresh());
}

DeviceSet::Entry* DeviceSet::EntryOf(ibv_context* context) const {
  for (const auto& entry : entries_) {
    if (entry->context == context) return entry.get();
  }
  return nullptr;
}

void DeviceSet::LogChoice() {
  std::vector<std::string> used;
  std::vector<std::string> losers;
  for (const auto& entry : entries_) {
    const DeviceInfo& info = entry->info;
    if (entry->usable()) {
      used.push_back(absl::StrCat(info.name, " (", LinkLayerName(info.link_layer()), ")"));
    } else if (entry->seen) {
      losers.push_back(absl::StrCat(info.name, " (", Name(entry->verdict.why), ")"));
    }
  }
  std::string line = absl::StrCat("RDMA devices: ", absl::StrJoin(used, ", "));
  if (used.empty()) line = absl::StrCat("no RDMA device: ", Availability().message());
  if (!used.empty() && !losers.empty()) {
    absl::StrAppend(&line, "; not used: ", absl::StrJoin(losers, ", "));
  }
  if (line != logged_ && log_) log_(line);
  logged_ = std::move(line);
}

}  // namespace farcall
