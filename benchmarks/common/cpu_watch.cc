// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/cpu_watch.h"

#include <thread>

namespace farcall::bench {

void CpuReadings::WriteTo(LoadReport& report) const {
  report.SetClientCpu(client_first, client_last);
  report.SetServerCpu(server_first, server_last);
}

absl::StatusOr<CpuReadings> WatchCpu(const LoadWindow& window,
                                     absl::FunctionRef<absl::StatusOr<CpuSample>()> ask_server) {
  CpuReadings readings;
  std::this_thread::sleep_until(window.begin);
  readings.client_first = CpuSample::Now();
  absl::StatusOr<CpuSample> server = ask_server();
  if (!server.ok()) return server.status();
  readings.server_first = *server;

  std::this_thread::sleep_until(window.end);
  readings.client_last = CpuSample::Now();
  server = ask_server();
  if (!server.ok()) return server.status();
  readings.server_last = *server;
  return readings;
}

}  // namespace farcall::bench
