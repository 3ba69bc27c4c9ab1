// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/raw_echo/client.h"

#include <algorithm>
#include <chrono>
#include <list>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "benchmarks/common/cpu_watch.h"
#include "benchmarks/common/load_recorder.h"
#include "benchmarks/common/open_loop_schedule.h"
#include "benchmarks/raw_echo/load_stream.h"
#include "benchmarks/raw_echo/socket.h"
#include "benchmarks/raw_echo/usage.h"

namespace farcall::bench {
namespace {

// A thread and its connections.
struct Worker {
  explicit Worker(const LoadWindow& window) : recorder(window) {}

  void Run(bool may_block) {
    while (!streams.empty()) {
      streams.remove_if([=](LoadStream& stream) { return !stream.Turn(may_block); });
    }
  }

  LoadRecorder recorder;
  std::list<LoadStream> streams;
  std::thread thread;
};

absl::StatusOr<std::vector<UniqueFd>> ConnectAll(const LoadOptions& options) {
  std::vector<UniqueFd> connections;
  for (int i = 0; i < options.connections; ++i) {
    absl::StatusOr<UniqueFd> connection = ConnectTo(options.server);
    if (!connection.ok()) return connection.status();
    connections.push_back(std::move(connection).value());
  }
  return connections;
}

void Spread(std::vector<UniqueFd> connections, const LoadOptions& options,
            std::list<Worker>& workers) {
  auto worker = workers.begin();
  int number = 0;
  for (UniqueFd& connection : connections) {
    std::optional<OpenLoopSchedule> schedule;
    if (options.rate > 0) {
      schedule.emplace(worker->recorder.window().start, options.rate, number, options.connections);
    }
    worker->streams.emplace_back(std::move(connection), options, worker->recorder,
                                 std::move(schedule));
    ++number;
    if (++worker == workers.end()) worker = workers.begin();
  }
}

// One more connection for the first worker, with bulk.
absl::Status AddBulk(const LoadOptions& bulk, LoadRecorder& recorder, Worker& worker) {
  if (const absl::Status valid = bulk.Validate(); !valid.ok()) return valid;
  absl::StatusOr<UniqueFd> connection = ConnectTo(bulk.server);
  if (!connection.ok()) return connection.status();
  worker.streams.emplace_back(*std::move(connection), bulk, recorder, std::nullopt);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LoadReport> RunRawLoad(const LoadOptions& options,
                                      const std::optional<LoadOptions>& bulk) {
  const absl::Status valid = options.Validate();
  if (!valid.ok()) return valid;
  const bool busy = options.polling == "busy";
  if (bulk && !busy) return absl::InvalidArgumentError("--bulk needs --polling=busy");
  absl::StatusOr<std::vector<UniqueFd>> connections = ConnectAll(options);
  if (!connections.ok()) return connections.status();

  const int threads = busy ? std::min(options.threads, options.connections) : options.connections;
  const LoadWindow window = LoadWindow::From(std::chrono::steady_clock::now(), options);
  std::list<Worker> workers;
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back(window);
  }
  Spread(std::move(connections).value(), options, workers);
  LoadRecorder bulk_seen(window);
  if (bulk) {
    const absl::Status added = AddBulk(*bulk, bulk_seen, workers.front());
    if (!added.ok()) return added;
  }
  for (Worker& worker : workers) {
    worker.thread = std::thread([&worker, busy] { worker.Run(!busy); });
  }
  const absl::StatusOr<CpuReadings> cpu =
      WatchCpu(window, [&] { return AskUsage(options.server); });
  LoadRecorder all(window);
  for (Worker& worker : workers) {
    worker.thread.join();
    all.Merge(worker.recorder);
  }
  if (!cpu.ok()) return cpu.status();

  LoadReport report = LoadReport::From(options, all);
  if (bulk) {
    const LoadReport beside = LoadReport::From(*bulk, bulk_seen);
    if (beside.errors > 0) return absl::UnavailableError("--bulk: " + beside.first_error);
    report.bulk_mb_per_s = beside.mb_per_s;
  }
  report.system = "raw";
  report.transport = "tcp";
  report.polling = busy ? "busy" : "event";
  report.threads = threads;
  if (options.use_rdma) report.why_not_rdma = "bare sockets have none";
  cpu->WriteTo(report);
  return report;
}

}  // namespace farcall::bench
