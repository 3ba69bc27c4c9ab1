// SPDX-License-Identifier: Apache-2.0
//
// The table of `doctor --peer`: farcall over RDMA and over TCP, beside raw verbs.

#ifndef FARCALL_TOOLS_DOCTOR_PEER_COMPARISON_H_
#define FARCALL_TOOLS_DOCTOR_PEER_COMPARISON_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/doctor/checks/finding.h"

namespace farcall::doctor {

struct ComparisonRow {
  std::string what;     // "raw verbs", "farcall over rdma", "farcall over tcp"
  std::string by;       // the device, or "sockets"
  std::string trouble;  // why there are no numbers; "": there are
  double p50_us = 0;
  double p99_us = 0;
  double bytes_per_second = 0;
};

struct Comparison {
  std::string host;          // of the peer
  std::string peer_summary;  // of the peer's own report
  std::string reason;        // why calls with use_rdma do not go over it; "in_use": they do
  std::string detail;
  std::vector<ComparisonRow> rows;
};

// Aligned, with a head.
std::string ToText(const Comparison& comparison);
// `error`: of Compare.
Finding PeerNotReached(const std::string& peer, const absl::Status& error);
// What it means.
Findings CheckComparison(const Comparison& comparison);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_PEER_COMPARISON_H_
