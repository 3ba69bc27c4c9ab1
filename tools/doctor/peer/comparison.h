// SPDX-License-Identifier: Apache-2.0
//
// The table of `doctor --peer`: farcall over RDMA and over TCP, beside raw verbs.

#ifndef FARCALL_TOOLS_DOCTOR_PEER_COMPARISON_H_
#define FARCALL_TOOLS_DOCTOR_PEER_COMPARISON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "rpc/status/json_writer.h"
#include "tools/doctor/checks/finding.h"
#include "tools/doctor/dcb/queue_counters.h"

namespace farcall::doctor {

struct ComparisonRow {
  std::string what;     // "raw verbs", "farcall over rdma", "farcall over tcp"
  std::string by;       // the device, or "sockets"
  std::string trouble;  // why there are no numbers; "": there are
  double p50_us = 0;
  double p99_us = 0;
  double bytes_per_second = 0;
  std::string rail{};  // the device or network that was asked for; "": none
};

// What an adapter counted while it was measured.
struct LoadedQueue {
  std::string device;
  std::optional<uint32_t> priority;  // of farcall's packets; nullopt: not known
  QueueCounters moved;
};

struct Comparison {
  std::string host;          // of the peer
  std::string peer_summary;  // of the peer's own report
  std::string reason;        // why calls with use_rdma do not go over it; "in_use": they do
  std::string detail;
  std::vector<ComparisonRow> rows;
  double seconds = 0;  // that it took
  std::vector<LoadedQueue> peers_queues{};
};

// Into the object that `json` is in; all but the rail.
void WriteFields(const ComparisonRow& row, JsonWriter& json);
// Aligned, with a head.
std::string ToText(const Comparison& comparison);
// `error`: of Compare.
Finding PeerNotReached(const std::string& peer, const absl::Status& error);
// What the counters of this host's adapters did under that load.
Findings CheckLoad(const Comparison& comparison, const std::vector<LoadedQueue>& queues);
// What it means.
Findings CheckComparison(const Comparison& comparison);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_PEER_COMPARISON_H_
