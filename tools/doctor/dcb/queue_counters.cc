// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/dcb/queue_counters.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

namespace farcall::doctor {
namespace {

// '#' stands for the priority.
struct Pattern {
  absl::string_view name;
  Counted counted;
};

constexpr Pattern kPatterns[] = {
    // mlx5
    {"rx_prio#_pause", Counted::kPausesReceived},
    {"tx_prio#_pause", Counted::kPausesSent},
    {"rx_prio#_discards", Counted::kDiscards},
    {"rx_prio#_buf_discard", Counted::kDiscards},
    {"rx_prio#_cong_discard", Counted::kDiscards},
    {"rx_prio#_marked", Counted::kMarked},
    {"rx_prio#_bytes", Counted::kBytesReceived},
    {"tx_prio#_bytes", Counted::kBytesSent},
    // mlx4
    {"rx_pause_prio_#", Counted::kPausesReceived},
    {"tx_pause_prio_#", Counted::kPausesSent},
    {"rx_prio_#_bytes", Counted::kBytesReceived},
    {"tx_prio_#_bytes", Counted::kBytesSent},
    // bnxt_en
    {"rx_pfc_ena_frames_pri#", Counted::kPausesReceived},
    {"tx_pfc_ena_frames_pri#", Counted::kPausesSent},
    {"rx_bytes_pri#", Counted::kBytesReceived},
    {"tx_bytes_pri#", Counted::kBytesSent},
    // ice, i40e
    {"rx_priority_#_xoff.nic", Counted::kPausesReceived},
    {"tx_priority_#_xoff.nic", Counted::kPausesSent},
    {"port.rx_priority_#_xoff", Counted::kPausesReceived},
    {"port.tx_priority_#_xoff", Counted::kPausesSent},
};

// Of the whole port; bnxt_en counts by queue, of which each may have several priorities.
constexpr absl::string_view kDiscards[] = {"rx_discards_phy", "tx_discards_phy", "rx_stat_discard",
                                           "tx_stat_discard", "rx_dropped.nic",  "port.rx_dropped",
                                           "rx_out_of_buffer"};
constexpr absl::string_view kDiscardsOfQueue[] = {"rx_discard_packets_cos",
                                                  "tx_discard_packets_cos"};

const char* Name(Counted counted) {
  switch (counted) {
    case Counted::kPausesReceived:
      return "pauses received";
    case Counted::kPausesSent:
      return "pauses sent";
    case Counted::kDiscards:
      return "discards";
    case Counted::kMarked:
      return "marked by ECN";
    case Counted::kBytesReceived:
      return "bytes received";
    case Counted::kBytesSent:
      break;
  }
  return "bytes sent";
}

// The digit that stands for '#'.
std::optional<size_t> PriorityIn(absl::string_view name, absl::string_view pattern) {
  const size_t at = pattern.find('#');
  if (name.size() != pattern.size()) return std::nullopt;
  if (name.substr(0, at) != pattern.substr(0, at)) return std::nullopt;
  if (name.substr(at + 1) != pattern.substr(at + 1)) return std::nullopt;
  if (name[at] < '0' || name[at] > '7') return std::nullopt;
  return static_cast<size_t>(name[at] - '0');
}

bool IsDiscard(absl::string_view name) {
  if (std::find(std::begin(kDiscards), std::end(kDiscards), name) != std::end(kDiscards)) {
    return true;
  }
  return std::any_of(std::begin(kDiscardsOfQueue), std::end(kDiscardsOfQueue),
                     [&](absl::string_view prefix) {
                       return absl::ConsumePrefix(&name, prefix) && name.size() == 1 &&
                              name[0] >= '0' && name[0] <= '7';
                     });
}

}  // namespace

void AddStatistic(absl::string_view name, uint64_t value, QueueCounters& counters) {
  ++counters.named;
  for (const Pattern& pattern : kPatterns) {
    const std::optional<size_t> priority = PriorityIn(name, pattern.name);
    if (!priority.has_value()) continue;
    counters.of_priority[pattern.counted][*priority] += value;
    return;
  }
  if (IsDiscard(name)) counters.discards[std::string(name)] += value;
}

void AddPauses(const Dcb& dcb, QueueCounters& counters) {
  if (!dcb.pfc.has_value()) return;
  counters.of_priority.try_emplace(Counted::kPausesReceived, dcb.pfc->pauses_received);
  counters.of_priority.try_emplace(Counted::kPausesSent, dcb.pfc->pauses_sent);
}

QueueCounters Moved(const QueueCounters& before, const QueueCounters& after) {
  QueueCounters moved;
  moved.error = before.error.empty() ? after.error : before.error;
  moved.named = after.named;
  const auto more = [](uint64_t was, uint64_t now) { return now > was ? now - was : 0; };
  for (const auto& [counted, now] : after.of_priority) {
    const auto was = before.of_priority.find(counted);
    if (was == before.of_priority.end()) continue;
    auto& difference = moved.of_priority[counted];
    std::transform(was->second.begin(), was->second.end(), now.begin(), difference.begin(), more);
  }
  for (const auto& [name, now] : after.discards) {
    const auto was = before.discards.find(name);
    if (was != before.discards.end()) moved.discards[name] = more(was->second, now);
  }
  return moved;
}

std::string TextOf(const QueueCounters& counters) {
  std::vector<std::string> parts;
  for (size_t priority = 0; priority < kPriorities; ++priority) {
    std::vector<std::string> of_this;
    for (const auto& [counted, values] : counters.of_priority) {
      if (values[priority] == 0) continue;
      of_this.push_back(absl::StrCat(Name(counted), " ", values[priority]));
    }
    if (of_this.empty()) continue;
    parts.push_back(absl::StrCat("priority ", priority, ": ", absl::StrJoin(of_this, ", ")));
  }
  for (const auto& [name, value] : counters.discards) {
    if (value > 0) parts.push_back(absl::StrCat(name, " ", value));
  }
  return absl::StrJoin(parts, "; ");
}

}  // namespace farcall::doctor
