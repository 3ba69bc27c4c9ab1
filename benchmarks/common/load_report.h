// SPDX-License-Identifier: Apache-2.0
//
// What a client of a benchmark tells at its end. Its JSON is what tools/bench and
// tools/quickstart read: each member has the name it has here, those of `latency` too.

#ifndef FARCALL_BENCHMARKS_COMMON_LOAD_REPORT_H_
#define FARCALL_BENCHMARKS_COMMON_LOAD_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "benchmarks/common/cpu_usage.h"
#include "benchmarks/common/figures/latency_figures.h"
#include "benchmarks/common/load_options.h"
#include "benchmarks/common/load_recorder.h"

namespace farcall::bench {

struct LoadReport {
  std::string system;        // farcall, grpc or raw
  std::string transport;     // tcp or rdma: what carried the calls
  std::string why_not_rdma;  // why not rdma, where it was asked for; else empty
  std::string polling;
  size_t payload = 0;     // bytes
  size_t attachment = 0;  // bytes
  int in_flight = 0;      // on each connection
  int connections = 0;
  int threads = 0;
  double rate = 0;  // asked for, calls per second; 0: closed loop

  double seconds = 0;  // measured
  uint64_t calls = 0;  // that succeeded within them
  uint64_t errors = 0;
  std::string first_error;
  double qps = 0;
  LatencyFigures latency;
  double mb_per_s = 0;       // 10^6 bytes of message and attachment per second, one way
  double bulk_mb_per_s = 0;  // echoed beside it by a load that is not part of the others
  double client_cpu_us = 0;  // CPU time for each call, all threads of the process
  double server_cpu_us = 0;

  // The load as asked for and what was seen of it. CPU readings: at about the window's
  // begin and end.
  static LoadReport From(const LoadOptions& options, const LoadRecorder& seen);
  void SetClientCpu(const CpuSample& first, const CpuSample& last);
  void SetServerCpu(const CpuSample& first, const CpuSample& last);

  // One line each, without a newline at the end.
  std::string ToJson() const;
  std::string ToText() const;
};

// Writes the JSON to `json` (a file, or "-" for standard output), and the text to standard
// output unless the JSON went there. Errors name the file.
absl::Status PrintReport(const LoadReport& report, const std::string& json);

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_COMMON_LOAD_REPORT_H_
