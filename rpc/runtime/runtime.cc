// SPDX-License-Identifier: Apache-2.0
//
// The composition root: the one place of rpc that knows which transports there are.

#include "rpc/runtime/runtime.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "rpc/log.h"
#include "rpc/naming/name_cache.h"
#include "rpc/naming/resolve.h"
#include "rpc/session/client/client_survey.h"
#include "rpc/session/client/session_registry.h"
#include "rpc/settings/settings.h"
#include "rpc/status/process_status.h"
#include "rpc/status/status_fields.h"
#include "rpc/version.h"
#include "rpc/wire/frame.h"
#include "transport/base/check.h"
#include "transport/base/clock.h"
#include "transport/base/event_ring.h"
#include "transport/base/host/cores.h"
#include "transport/base/host/process_mark.h"
#include "transport/base/threads/in_flight.h"
#include "transport/buffer/registration_cache.h"
#include "transport/copy_tally.h"
#include "transport/link/selecting_transport.h"
#include "transport/loop/drivers/blocking_threads.h"
#include "transport/loop/drivers/loop_driver.h"
#include "transport/loop/drivers/loop_monitor.h"
#include "transport/loop/drivers/loop_places.h"
#include "transport/loop/loop_group.h"
#include "transport/rdma/memory/registrar.h"
#include "transport/rdma/rdma_transport.h"
#include "transport/rdma/verbs/load.h"
#include "transport/tcp/tcp_transport.h"
#include "transport/tls/tls_context.h"
#include "transport/tls/tls_transport.h"

namespace farcall {
namespace {

// How often a destructor that has to wait says so.
constexpr Duration kLogSessionsEvery = std::chrono::seconds(5);
// How long the RDMA control loop and the other loops are waited for.
constexpr Duration kStatusTimeout = std::chrono::milliseconds(500);

int LoopCount(const RuntimeOptions& options) {
  return options.event_loops > 0 ? options.event_loops : std::min(8, UsableCores());
}

}  // namespace

// Destroyed from the bottom up: what posts to loops, then what drives them, then the loops.
struct Runtime::Machine {
  SteadyClock clock;
  EventRing events;
  InFlight sessions;
  SessionRegistry registry;
  CopyTally copied;
  RdmaRegistrar registrar;
  std::optional<RegistrationCache> registrations;
  std::unique_ptr<BlockPool> pool;
  std::unique_ptr<TcpTransport> tcp;
  std::unique_ptr<TlsTransport> tls;
  std::unique_ptr<EventLoop> rdma_control;  // tasks that the loops drop may post to it
  std::vector<std::unique_ptr<EventLoop>> loops;
  std::unique_ptr<LoopPlaces> places;
  std::unique_ptr<LoopGroup> group;
  std::unique_ptr<RdmaTransport> rdma;
  std::unique_ptr<UpgradeRecord> upgrades;
  std::unique_ptr<SelectingTransport> transport;
  std::unique_ptr<LoopMonitor> monitor;
  std::vector<std::unique_ptr<LoopDriver>> drivers;
  std::unique_ptr<BlockingThreads> blocking;
  std::vector<OptionStatus> options_in_effect;

  absl::Status MakeLoops(const RuntimeOptions& options) {
    std::vector<EventLoop*> all;
    for (int i = 0; i < LoopCount(options); ++i) {
      auto loop = EventLoop::Create(clock);
      if (!loop.ok()) return loop.status();
      loops.push_back(*std::move(loop));
      all.push_back(loops.back().get());
    }
    group = std::make_unique<LoopGroup>(std::move(all));
    auto made = LoopPlaces::Create(loops, {options.cpus, options.near_adapters, ReadHostCpus()});
    if (!made.ok()) return made.status();
    places = *std::move(made);
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
    const auto record = [tell, this](absl::string_view line) {
      events.Add(line);
      tell(line);
    };
    const auto node_of = [this](const EventLoop& loop) { return places->NodeOf(loop); };
    const auto on_nodes = [record, this](const std::vector<int>& nodes) {
      const std::string moved = places->OnAdapters(nodes);
      if (!moved.empty()) record(absl::StrCat("event loops keep near the adapters: ", moved));
    };
    const auto load = [] { return LoadVerbsApi(); };
    rdma = std::make_unique<RdmaTransport>(RdmaHost::Options{load,
                                                             *rdma_control,
                                                             *pool,
                                                             registrar,
                                                             options.rdma,
                                                             {},
                                                             record,
                                                             &copied,
                                                             node_of,
                                                             {},
                                                             on_nodes});
    upgrades = std::make_unique<UpgradeRecord>(tell, &events);
    UpgradeOptions upgrade;
    static_cast<LinkOptions&>(upgrade) = options.link;
    upgrade.counted_opening = std::string(kFrameMagic);
    upgrade.rails_apart = options.rdma.rails == 0;
    upgrade.stream.rails = upgrade.rails_apart ? kMaxRails : options.rdma.rails;
    transport = std::make_unique<SelectingTransport>(*tls, *rdma, *upgrades, upgrade);
  }

  RuntimeStatus Status() {
    RuntimeStatus status;
    status.upgrades = upgrades->counts();
    // All are asked before anybody is waited for.
    const auto survey = ClientSurvey::Begin(*group, clock, registry);
    status.rdma = rdma->Status(kStatusTimeout);
    status.clients = survey->Wait(kStatusTimeout);
    status.events = events.events();
    status.events_forgotten = events.forgotten();
    status.options = options_in_effect;
    for (OptionStatus& one : status.options) {
      const std::string moved = one.name == "cpus" ? places->moved() : "";
      if (!moved.empty()) one.from = absl::StrCat("near_adapters: ", moved);
    }
    status.copied = copied.Sum();
    const LoopMonitor::Counts loop_counts = monitor->counts();
    status.loops_taken_over = loop_counts.taken_over;
    status.loops_held_up = loop_counts.stalled;
    return status;
  }

  absl::Status StartMonitor(const LogSink& log) {
    auto started = LoopMonitor::Start([log](absl::string_view code, const absl::Status& why) {
      log(LogSeverity::kWarning,
          absl::StrCat(
              "an event loop stands still: ", code.empty() ? "a completion closure or page" : code,
              " runs for long, and no thread can take over: ", why.message(),
              "; let handlers and closures return sooner, or raise that limit"));
    });
    if (!started.ok()) return started.status();
    monitor = *std::move(started);
    return absl::OkStatus();
  }

  absl::Status StartDrivers(const RuntimeOptions& options) {
    LoopDriverOptions driver_options;
    driver_options.polling = options.polling;
    driver_options.max_spares = options.max_blocked_threads;
    for (size_t i = 0; i < loops.size(); ++i) {
      driver_options.place = &places->OfLoop(i);
      auto driver = LoopDriver::Start(*loops[i], driver_options, monitor.get());
      if (!driver.ok()) return driver.status();
      drivers.push_back(*std::move(driver));
    }
    driver_options.polling.mode = PollingMode::kEvent;
    driver_options.place = &places->OfRegistration();
    auto driver = LoopDriver::Start(*rdma_control, driver_options);
    if (!driver.ok()) return driver.status();
    drivers.push_back(*std::move(driver));
    return absl::OkStatus();
  }
};

Runtime::Runtime() = default;
Runtime::~Runtime() {
  if (machine_ == nullptr) return;
  if (!machine_->loops.empty() && !machine_->loops.front()->process().here()) {
    KeepForEver(std::shared_ptr<Machine>(std::move(machine_)));
    return;
  }
  // Calls of destroyed channels go on to their ends, and need the loops until then.
  while (const int left = machine_->sessions.WaitForNone(kLogSessionsEvery)) {
    parts_.log(LogSeverity::kWarning,
               absl::StrCat("a runtime waits with its end for ", left,
                            " channels that were not destroyed or have calls under way"));
  }
}

absl::StatusOr<std::unique_ptr<Runtime>> Runtime::Create(const RuntimeOptions& asked) {
  RuntimeOptions options = asked;
  auto in_effect = ApplyOperatorSettings(&options);
  if (!in_effect.ok()) return in_effect.status();
  std::unique_ptr<Runtime> runtime(new Runtime);
  runtime->machine_ = std::make_unique<Machine>();
  Machine& machine = *runtime->machine_;
  const LogSink log = options.log ? options.log : SpdlogSink();

  auto pool = BlockPool::Create(options.pool, &machine.registrar);
  if (!pool.ok()) return pool.status();
  machine.pool = *std::move(pool);
  if (options.registration_cache.min_bytes > 0) {
    machine.registrations.emplace(options.registration_cache, machine.registrar);
  }
  if (absl::Status status = machine.MakeLoops(options); !status.ok()) return status;
  machine.options_in_effect = *std::move(in_effect);
  machine.MakeTransports(options, log);
  if (absl::Status status = machine.StartMonitor(log); !status.ok()) return status;
  if (absl::Status status = machine.StartDrivers(options); !status.ok()) return status;
  // One is left for files where names are slow.
  auto blocking = BlockingThreads::Start(NameCache::kAtOnce + 1);
  if (!blocking.ok()) return blocking.status();
  machine.blocking = *std::move(blocking);

  const TlsLog warn = [log](absl::string_view line) { log(LogSeverity::kWarning, line); };
  runtime->Take({
      .clock = &machine.clock,
      .loops = machine.group.get(),
      .transport = machine.transport.get(),
      .pool = machine.pool.get(),
      .run_blocking =
          [&machine](std::function<void()> work) {
            return machine.blocking->Post(std::move(work));
          },
      .client_tls = [warn](const ClientTlsOptions& tls) { return LoadTls(tls, warn); },
      .server_tls = [warn](const ServerTlsOptions& tls) { return LoadTls(tls, warn); },
      .log = log,
      .traffic_class = options.traffic_class,
      .sessions = &machine.sessions,
      .registry = &machine.registry,
      .copied = &machine.copied,
      .registrar = &machine.registrar,
      .registrations = machine.registrations ? &*machine.registrations : nullptr,
      .status = [&machine] { return machine.Status(); },
  });
  return runtime;
}

void Runtime::Take(RuntimeParts parts) {
  parts_ = std::move(parts);
  if (parts_.log == nullptr) parts_.log = SpdlogSink();
  if (parts_.names == nullptr) {
    parts_.names = std::make_shared<NameCache>(*parts_.clock, parts_.run_blocking, Resolve);
  }
}

RuntimeStatus Runtime::status() const { return parts_.status ? parts_.status() : RuntimeStatus(); }

std::string Runtime::Dump() const {
  ServerStatus status;
  status.version = std::string(Version());
  status.pool = parts_.pool->stats();
  status.runtime = this->status();
  status.process = ReadProcessStatus();
  return DumpText(status);
}

UpgradeCounts Runtime::upgrade_counts() const {
  return machine_ != nullptr ? machine_->upgrades->counts() : UpgradeCounts();
}

std::unique_ptr<Runtime> Runtime::On(RuntimeParts parts) {
  Check(parts.clock != nullptr && parts.loops != nullptr && parts.transport != nullptr &&
            parts.pool != nullptr && parts.run_blocking != nullptr,
        "a runtime has all its parts");
  std::unique_ptr<Runtime> runtime(new Runtime);
  runtime->Take(std::move(parts));
  return runtime;
}

}  // namespace farcall
