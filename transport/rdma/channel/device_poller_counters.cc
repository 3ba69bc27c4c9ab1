// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/channel/device_poller_counters.h"

#include <algorithm>
#include <string>

namespace farcall {

void DevicePollerCounters::AddTo(RdmaTraffic& traffic) const {
  RdmaTraffic own;
  // In this order, so that what a loop does meanwhile makes no negative number.
  const uint64_t gone = forgotten.value();
  const uint64_t ever = enrolled.value();
  own.connections = ever - gone;
  own.connections_ever = ever;
  for (size_t i = 0; i < breaks.size(); ++i) {
    AddNamed(own.breaks, CompletionStatusName(i), breaks[i].value());
  }
  own.bytes_in = bytes_in.value();
  own.bytes_out = bytes_out.value();
  own.messages_in = messages_in.value();
  own.messages_out = messages_out.value();
  own.doorbells = doorbells.value();
  own.completions = completions.value();
  own.credit_waits = credit_waits.value();
  own.slot_waits = slot_waits.value();
  own.memory_waits = memory_waits.value();
  own.receive_slots = receive_slots.value();
  own.receives_posted = receives_posted.value();
  own.receives_promised = receives_promised.value();
  own.receives_lost = receives_lost.value();
  own.silent_ends = silent_ends.value();
  AddTraffic(own, traffic);
}

void AddTraffic(const RdmaTraffic& more, RdmaTraffic& to) {
  to.connections += more.connections;
  to.connections_ever += more.connections_ever;
  for (const NamedCount& one : more.breaks) AddNamed(to.breaks, one.name, one.count);
  to.bytes_in += more.bytes_in;
  to.bytes_out += more.bytes_out;
  to.messages_in += more.messages_in;
  to.messages_out += more.messages_out;
  to.doorbells += more.doorbells;
  to.completions += more.completions;
  to.credit_waits += more.credit_waits;
  to.slot_waits += more.slot_waits;
  to.memory_waits += more.memory_waits;
  to.receive_slots += more.receive_slots;
  to.receives_posted += more.receives_posted;
  to.receives_promised += more.receives_promised;
  to.receives_lost += more.receives_lost;
  to.silent_ends += more.silent_ends;
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
