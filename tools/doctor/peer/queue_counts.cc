// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/peer/queue_counts.h"

#include <algorithm>

#include "absl/strings/escaping.h"

namespace farcall::doctor {
namespace {

constexpr int kMaxQueues = 64;
constexpr int kMaxDiscards = 64;
constexpr auto kLast = static_cast<uint32_t>(Counted::kBytesSent);

QueueCounters CountersOf(const QueueCount& count) {
  QueueCounters counters;
  counters.error = absl::Utf8SafeCHexEscape(count.error());
  counters.named = count.named();
  for (const QueueCount::OfPriority& each : count.of_priority()) {
    if (each.counted() > kLast || each.values_size() != static_cast<int>(kPriorities)) continue;
    auto& values = counters.of_priority[static_cast<Counted>(each.counted())];
    std::copy(each.values().begin(), each.values().end(), values.begin());
  }
  for (const QueueCount::Discards& each : count.discards()) {
    if (counters.discards.size() == kMaxDiscards) break;
    counters.discards[absl::Utf8SafeCHexEscape(each.name())] = each.value();
  }
  return counters;
}

}  // namespace

CountResponse ToMessage(const std::vector<QueueOf>& queues,
                        const std::map<std::string, QueueCounters>& counters) {
  CountResponse response;
  for (const QueueOf& queue : queues) {
    const auto found = counters.find(queue.interface);
    if (found == counters.end()) continue;
    QueueCount& count = *response.add_queues();
    count.set_device(queue.device);
    count.set_interface(queue.interface);
    if (queue.priority.has_value()) count.set_priority(*queue.priority);
    count.set_error(found->second.error);
    count.set_named(found->second.named);
    for (const auto& [counted, values] : found->second.of_priority) {
      QueueCount::OfPriority& of = *count.add_of_priority();
      of.set_counted(static_cast<uint32_t>(counted));
      for (const uint64_t value : values) of.add_values(value);
    }
    for (const auto& [name, value] : found->second.discards) {
      QueueCount::Discards& discards = *count.add_discards();
      discards.set_name(name);
      discards.set_value(value);
    }
  }
  return response;
}

std::vector<LoadedQueue> MovedOf(const CountResponse& before, const CountResponse& after) {
  std::vector<LoadedQueue> queues;
  for (const QueueCount& now : after.queues()) {
    if (static_cast<int>(queues.size()) == kMaxQueues) break;
    const auto was =
        std::find_if(before.queues().begin(), before.queues().end(), [&](const QueueCount& each) {
          return each.device() == now.device() && each.interface() == now.interface();
        });
    if (was == before.queues().end()) continue;
    LoadedQueue queue;
    queue.device = absl::Utf8SafeCHexEscape(now.device());
    if (now.has_priority() && now.priority() < kPriorities) queue.priority = now.priority();
    queue.moved = Moved(CountersOf(*was), CountersOf(now));
    queues.push_back(queue);
  }
  return queues;
}

}  // namespace farcall::doctor
