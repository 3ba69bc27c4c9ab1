// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/channel/device_poller_counters.h"

#include <algorithm>
#include <string>

namespace farcall {
namespace {

struct Counted {
  OwnCount DevicePollerCounters::*by_loop;
  uint64_t RdmaTraffic::*in_all;
};

// Those that are just added up.
constexpr Counted kCounted[] = {
    {&DevicePollerCounters::bytes_in, &RdmaTraffic::bytes_in},
    {&DevicePollerCounters::bytes_out, &RdmaTraffic::bytes_out},
    {&DevicePollerCounters::messages_in, &RdmaTraffic::messages_in},
    {&DevicePollerCounters::messages_out, &RdmaTraffic::messages_out},
    {&DevicePollerCounters::doorbells, &RdmaTraffic::doorbells},
    {&DevicePollerCounters::completions, &RdmaTraffic::completions},
    {&DevicePollerCounters::credit_waits, &RdmaTraffic::credit_waits},
    {&DevicePollerCounters::slot_waits, &RdmaTraffic::slot_waits},
    {&DevicePollerCounters::memory_waits, &RdmaTraffic::memory_waits},
    {&DevicePollerCounters::receive_slots, &RdmaTraffic::receive_slots},
    {&DevicePollerCounters::receives_posted, &RdmaTraffic::receives_posted},
    {&DevicePollerCounters::receives_promised, &RdmaTraffic::receives_promised},
    {&DevicePollerCounters::receives_lost, &RdmaTraffic::receives_lost},
    {&DevicePollerCounters::silent_ends, &RdmaTraffic::silent_ends},
};

}  // namespace

void DevicePollerCounters::AddTo(RdmaTraffic& traffic) const {
  // In this order, so that what a loop does meanwhile makes no negative number.
  const uint64_t gone = forgotten.value();
  const uint64_t ever = enrolled.value();
  traffic.connections += ever - gone;
  traffic.connections_ever += ever;
  for (size_t i = 0; i < breaks.size(); ++i) {
    AddNamed(traffic.breaks, CompletionStatusName(i), breaks[i].value());
  }
  for (const auto& [by_loop, in_all] : kCounted) traffic.*in_all += (this->*by_loop).value();
}

void AddTraffic(const RdmaTraffic& more, RdmaTraffic& to) {
  to.connections += more.connections;
  to.connections_ever += more.connections_ever;
  for (const NamedCount& one : more.breaks) AddNamed(to.breaks, one.name, one.count);
  for (const Counted& one : kCounted) to.*one.in_all += more.*one.in_all;
}

void AddPast(const RdmaDeviceStatus& past, RdmaDeviceStatus& to) {
  to.queue_pairs_ever += past.queue_pairs_ever;
  to.removals += past.removals;
  for (const NamedCount& one : past.events) AddNamed(to.events, one.name, one.count);
  AddTraffic(past.traffic, to.traffic);
}

void AddNamed(std::vector<NamedCount>& counts, absl::string_view name, uint64_t more) {
  if (more == 0) return;
  const auto found = std::find_if(counts.begin(), counts.end(),
                                  [&](const NamedCount& count) { return count.name == name; });
  if (found != counts.end()) {
    found->count += more;
  } else {
    counts.push_back({std::string(name), more});
  }
}

}  // namespace farcall
