// SPDX-License-Identifier: Apache-2.0
//
// The composition root: the one place of rpc that knows which transports there are.

#include "rpc/runtime.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "rpc/dispatch/in_flight.h"
#include "rpc/log.h"
#include "transport/base/check.h"
#include "transport/base/clock.h"
#include "transport/base/cores.h"
#include "transport/link/chosen_transport.h"
#include "transport/loop/control_thread.h"
#include "transport/loop/loop_driver.h"
#include "transport/loop/loop_group.h"
#include "transport/rdma/rdma_transport.h"
#include "transport/rdma/registrar.h"
#include "transport/rdma/verbs/load.h"
#include "transport/tcp/tcp_transport.h"
#include "transport/tls/tls_context.h"
#include "transport/tls/tls_transport.h"

namespace farcall {
namespace {

// How often a destructor that has to wait says so.
constexpr Duration kTellEvery = std::chrono::seconds(5);

int LoopCount(const RuntimeOptions& options) {
  return options.event_loops > 0 ? options.event_loops : std::min(8, UsableCores());
}

}  // namespace

// Destroyed from the bottom up: what posts to loops, then what drives them, then the loops.
struct Runtime::Machine {
  SteadyClock clock;
  InFlight sessions;
  RdmaRegistrar registrar;
  std::unique_ptr<BlockPool> pool;
  std::unique_ptr<TcpTransport> tcp;
  std::unique_ptr<TlsTransport> tls;
  std::unique_ptr<EventLoop> rdma_control;  // letters that the loops drop may post to it
  std::vector<std::unique_ptr<EventLoop>> loops;
  std::unique_ptr<LoopGroup> group;
  std::unique_ptr<RdmaTransport> rdma;
  std::unique_ptr<UpgradeRecord> upgrades;
  std::unique_ptr<ChosenTransport> transport;
  std::vector<std::unique_ptr<LoopDriver>> drivers;
  std::unique_ptr<ControlThread> control;

  absl::Status MakeLoops(const RuntimeOptions& options) {
    std::vector<EventLoop*> all;
    for (int i = 0; i < LoopCount(options); ++i) {
      auto loop = EventLoop::Create(clock);
      if (!loop.ok()) return loop.status();
      loops.push_back(*std::move(loop));
      all.push_back(loops.back().get());
    }
    group = std::make_unique<LoopGroup>(std::move(all));
    auto for_rdma = EventLoop::Create(clock);
    if (!for_rdma.ok()) return for_rdma.status();
    rdma_control = *std::move(for_rdma);
    return absl::OkStatus();
  }

  void MakeTransports(const RuntimeOptions& options, const LogSink& log) {
    const auto warn = [log](absl::string_view line) { log(LogSeverity::kWarning, line); };
    const auto tell = [log](absl::string_view line) { log(LogSeverity::kInfo, line); };
    tcp = std::make_unique<TcpTransport>(*pool, warn);
    tls = std::make_unique<TlsTransport>(*tcp);
    rdma = std::make_unique<RdmaTransport>(RdmaHost::Options{
        [] { return LoadVerbsApi(); }, *rdma_control, *pool, registrar, options.rdma, {}, tell});
    upgrades = std::make_unique<UpgradeRecord>(tell);
    transport = std::make_unique<ChosenTransport>(*tls, *rdma, *upgrades, UpgradeOptions());
  }

  absl::Status StartDrivers(const RuntimeOptions& options) {
    LoopDriverOptions driver_options;
    driver_options.polling = options.polling;
    driver_options.max_spares = options.max_blocked_threads;
    for (size_t i = 0; i < loops.size(); ++i) {
      if (!options.cpus.empty()) driver_options.cpu = options.cpus[i % options.cpus.size()];
      auto driver = LoopDriver::Start(*loops[i], driver_options);
      if (!driver.ok()) return driver.status();
      drivers.push_back(*std::move(driver));
    }
    driver_options.polling.mode = PollingMode::kEvent;
    driver_options.cpu = std::nullopt;
    auto driver = LoopDriver::Start(*rdma_control, driver_options);
    if (!driver.ok()) return driver.status();
    drivers.push_back(*std::move(driver));
    return absl::OkStatus();
  }
};

Runtime::Runtime() = default;
Runtime::~Runtime() {
  if (machine_ == nullptr) return;
  // Calls of destroyed channels go on to their ends, and need the loops until then.
  while (const int left = machine_->sessions.WaitForNone(kTellEvery)) {
    parts_.log(LogSeverity::kWarning,
               absl::StrCat("a runtime waits with its end for ", left,
                            " channels that were not destroyed or have calls under way"));
  }
}

absl::StatusOr<std::unique_ptr<Runtime>> Runtime::Create(const RuntimeOptions& options) {
  if (absl::Status status = options.Validate(); !status.ok()) return status;
  std::unique_ptr<Runtime> runtime(new Runtime);
  runtime->machine_ = std::make_unique<Machine>();
  Machine& machine = *runtime->machine_;
  const LogSink log = options.log ? options.log : SpdlogSink();

  auto pool = BlockPool::Create(options.pool, &machine.registrar);
  if (!pool.ok()) return pool.status();
  machine.pool = *std::move(pool);
  if (absl::Status status = machine.MakeLoops(options); !status.ok()) return status;
  machine.MakeTransports(options, log);
  if (absl::Status status = machine.StartDrivers(options); !status.ok()) return status;
  auto control = ControlThread::Start();
  if (!control.ok()) return control.status();
  machine.control = *std::move(control);

  const TlsLog warn = [log](absl::string_view line) { log(LogSeverity::kWarning, line); };
  runtime->parts_ = {
      .clock = &machine.clock,
      .loops = machine.group.get(),
      .transport = machine.transport.get(),
      .pool = machine.pool.get(),
      .run_blocking =
          [&machine](std::function<void()> work) { return machine.control->Post(std::move(work)); },
      .client_tls = [warn](const ClientTlsOptions& tls) { return LoadTls(tls, warn); },
      .server_tls = [warn](const ServerTlsOptions& tls) { return LoadTls(tls, warn); },
      .log = log,
      .sessions = &machine.sessions,
  };
  return runtime;
}

UpgradeCounts Runtime::upgrade_counts() const {
  return machine_ != nullptr ? machine_->upgrades->counts() : UpgradeCounts();
}

std::unique_ptr<Runtime> Runtime::On(RuntimeParts parts) {
  Check(parts.clock != nullptr && parts.loops != nullptr && parts.transport != nullptr &&
            parts.pool != nullptr && parts.run_blocking != nullptr,
        "a runtime has all its parts");
  std::unique_ptr<Runtime> runtime(new Runtime);
  runtime->parts_ = std::move(parts);
  if (runtime->parts_.log == nullptr) runtime->parts_.log = SpdlogSink();
  return runtime;
}

absl::StatusOr<Runtime*> Runtime::Default() {
  // Never destroyed: its threads may outlive main.
  static absl::StatusOr<std::unique_ptr<Runtime>>* const runtime =
      new absl::StatusOr<std::unique_ptr<Runtime>>(Create({}));
  if (!runtime->ok()) return runtime->status();
  return (*runtime)->get();
}

}  // namespace farcall
