// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/echo/echo_client.h"

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/common/cpu_watch.h"
#include "benchmarks/common/load_report.h"
#include "benchmarks/echo/bulk_load.h"
#include "benchmarks/echo/echo.pb.h"
#include "benchmarks/echo/store_service.h"
#include "rpc/runtime/channel.h"
#include "transport/buffer/block_writer.h"
#include "transport/loop/loop_group.h"

ABSL_FLAG(std::string, tls_ca, "", "client: TLS, with the CA in this file, in PEM, trusted");
ABSL_FLAG(bool, peers_may_be_brpc, false, "client: the server may speak brpc's RDMA");
ABSL_FLAG(bool, idle, false,
          "client: opens the connections, prints \"idle\", and waits for the end of its input");

namespace farcall::bench {
namespace {

std::shared_ptr<const ClientTlsOptions> ClientTls() {
  if (absl::GetFlag(FLAGS_tls_ca).empty()) return nullptr;
  const auto tls = std::make_shared<ClientTlsOptions>();
  tls->files.ca = absl::GetFlag(FLAGS_tls_ca);
  return tls;
}

absl::StatusOr<UsageResponse> AskUsage(Channel& channel, Controller& controller) {
  Echo_Stub stub(&channel);
  UsageRequest request;
  UsageResponse response;
  stub.Usage(&controller, &request, &response, nullptr);
  if (controller.Failed()) return controller.status();
  return response;
}

// RDMA is set up while calls travel over TCP.
constexpr std::chrono::seconds kUpgradeLimit{15};
constexpr std::chrono::milliseconds kBetweenProbes{1};

// What carries the calls, asked before the load begins, so that a server that is not there
// is one clear error.
absl::Status Probe(const LoadOptions& options, Channel& channel, LoadReport& facts) {
  const auto limit = std::chrono::steady_clock::now() + kUpgradeLimit;
  while (true) {
    Controller controller;
    const auto usage = AskUsage(channel, controller);
    if (!usage.ok()) return usage.status();
    const WhyNotRdma why = controller.connection()->why_not_rdma;
    const bool over = std::chrono::steady_clock::now() >= limit;
    if (options.use_rdma && why == WhyNotRdma::kPending && !over) {
      std::this_thread::sleep_for(kBetweenProbes);
      continue;
    }
    facts.transport = std::string(ToString(controller.connection()->transport));
    if (options.use_rdma && why != WhyNotRdma::kInUse) {
      facts.why_not_rdma = std::string(Explain(why));
    }
    return absl::OkStatus();
  }
}

// A load that moved from one transport to another measured neither.
absl::Status CheckStill(const LoadOptions& options, Channel& channel, const LoadReport& facts) {
  LoadReport now;
  absl::Status status = Probe(options, channel, now);
  if (status.ok() && now.transport != facts.transport) {
    status = absl::UnavailableError(absl::StrCat("the calls moved from ", facts.transport, " to ",
                                                 now.transport,
                                                 " while they were measured: ", now.why_not_rdma));
  }
  return status;
}

// `bulk` may be null.
absl::Status AddBulk(BulkLoad* bulk, LoadReport& report) {
  if (bulk == nullptr) return absl::OkStatus();
  const absl::StatusOr<double> rate = bulk->WaitForLast();
  if (rate.ok()) report.bulk_mb_per_s = *rate;
  return rate.status();
}

void WaitForEndOfInput() {
  std::printf("idle\n");
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
}

// Channels are spread over the loops in turn.
void Pace(const LoadOptions& options, Runtime& runtime, const LoadWindow& window,
          const std::vector<std::unique_ptr<EchoLoad>>& loads) {
  LoopGroup& loops = *runtime.parts().loops;
  for (size_t i = 0; i < loads.size(); ++i) {
    loads[i]->Pace(loops.at(i % loops.size()),
                   OpenLoopSchedule(window.start, options.rate, static_cast<int>(i),
                                    static_cast<int>(loads.size())));
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Channel>> MakeChannel(const LoadOptions& options, Runtime& runtime) {
  ChannelOptions channel_options;
  channel_options.runtime = &runtime;
  channel_options.use_rdma = options.use_rdma;
  channel_options.rdma_peers_may_be_brpc = absl::GetFlag(FLAGS_peers_may_be_brpc);
  channel_options.tls = ClientTls();
  channel_options.timeout_ms = 10'000;
  // The first look at the RDMA devices is part of it.
  channel_options.connect_timeout_ms = 5'000;
  channel_options.max_body_size = size_t{2} << 30;
  channel_options.max_backlog = size_t{4} << 30;
  return Channel::Create(options.server, channel_options);
}

absl::StatusOr<std::unique_ptr<Runtime>> MakeRuntime(int threads, const std::string& polling) {
  RuntimeOptions options;
  options.event_loops = threads;
  options.pool.max_bytes = size_t{4} << 30;
  if (polling == "event") {
    options.polling.mode = PollingMode::kEvent;
  } else if (polling == "busy") {
    options.polling.mode = PollingMode::kBusy;
  }
  return Runtime::Create(options);
}

absl::Status RunEchoClient(const LoadOptions& options, bool put) {
  if (absl::Status status = options.Validate(); !status.ok()) return status;
  const auto runtime = MakeRuntime(options.threads, options.polling);
  if (!runtime.ok()) return runtime.status();
  std::vector<std::unique_ptr<Channel>> channels;
  LoadReport facts;
  for (int i = 0; i < options.connections; ++i) {
    auto channel = MakeChannel(options, **runtime);
    if (!channel.ok()) return channel.status();
    if (absl::Status status = Probe(options, **channel, facts); !status.ok()) return status;
    channels.push_back(*std::move(channel));
  }
  if (absl::GetFlag(FLAGS_idle)) {
    WaitForEndOfInput();
    return absl::OkStatus();
  }

  Buffer attachment;
  // Memory of the runtime, which RDMA can send from as it is.
  BlockWriter writer(*(*runtime)->parts().pool);
  if (!writer.Append(std::string(options.attachment, 'a'), attachment)) {
    return absl::ResourceExhaustedError("the pool has no room for the attachment");
  }
  const LoadWindow window = LoadWindow::From(std::chrono::steady_clock::now(), options);
  const auto bulk = BulkLoad::StartFromFlags(options, **runtime, window);
  if (!bulk.ok()) return bulk.status();
  std::vector<std::unique_ptr<EchoLoad>> loads;
  for (const std::unique_ptr<Channel>& channel : channels) {
    RegisteredMemory memory;
    if (options.way != "echo") {
      const auto bytes = static_cast<size_t>(options.in_flight) * options.attachment;
      auto registered = MakeRegistered(**runtime, bytes);
      if (!registered.ok()) return registered.status();
      memory = *std::move(registered);
    }
    loads.push_back(std::make_unique<EchoLoad>(*channel, options, window, attachment, put, memory));
    if (options.rate == 0) loads.back()->Start();
  }
  if (options.rate > 0) Pace(options, **runtime, window, loads);
  const auto cpu = WatchCpu(window, [&]() -> absl::StatusOr<CpuSample> {
    Controller controller;
    const auto usage = AskUsage(*channels.front(), controller);
    if (!usage.ok()) return usage.status();
    return CpuSample{usage->cpu_seconds(), usage->clock_seconds()};
  });
  LoadRecorder seen(window);
  for (const std::unique_ptr<EchoLoad>& load : loads) {
    load->WaitForLast();
    seen.Merge(load->recorder());
  }

  LoadReport report = LoadReport::From(options, seen);
  report.system = options.synchronous ? "farcall synchronous" : "farcall";
  report.transport = facts.transport;
  report.why_not_rdma = facts.why_not_rdma;
  if (absl::Status status = AddBulk(bulk->get(), report); !status.ok()) return status;
  if (cpu.ok()) cpu->WriteTo(report);
  if (absl::Status status = PrintReport(report, options.json); !status.ok()) return status;
  if (!cpu.ok()) return cpu.status();
  if (absl::Status status = CheckStill(options, *channels.front(), facts); !status.ok()) {
    return status;
  }
  if (report.errors == 0) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(report.errors, " calls failed; the first: ", report.first_error));
}

}  // namespace farcall::bench
