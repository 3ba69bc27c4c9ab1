// SPDX-License-Identifier: Apache-2.0
//
// What `farcall press` prints: a row each second, and a summary.

#ifndef FARCALL_TOOLS_FARCALL_PRESS_REPORT_H_
#define FARCALL_TOOLS_FARCALL_PRESS_REPORT_H_

#include <cstdint>
#include <string>

#include "benchmarks/common/figures/call_tally.h"

namespace farcall::cli {

// The head of the table: two lines.
std::string PressHead();
// One row: what ended in the `seconds` before `at_seconds`.
std::string PressRow(double at_seconds, double seconds, const bench::CallCounts& counts);

struct PressSummary {
  std::string target;
  std::string method;  // full name
  std::string carrier;
  int concurrency = 0;
  int connections = 0;
  double qps_asked = 0;  // 0: closed loop
  double seconds = 0;
  bench::CallCounts counts;
  uint64_t not_begun = 0;  // calls that were due

  double qps() const;  // calls that succeeded
  std::string ToText() const;
  // On one line.
  std::string ToJson() const;
};

}  // namespace farcall::cli

#endif  // FARCALL_TOOLS_FARCALL_PRESS_REPORT_H_
