// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/status_collector.h"

#include <utility>

#include "google/protobuf/descriptor.h"
#include "rpc/status/connection_survey.h"
#include "rpc/status/options_text.h"
#include "rpc/status/process_status.h"
#include "rpc/version.h"

namespace farcall {
namespace {

constexpr Duration kTimeout = std::chrono::milliseconds(500);

LimitStatus StatusOf(const ConcurrencyLimit& limit) {
  return {limit.limit(), limit.setting().is_auto()};
}

CountersStatus StatusOf(const ServerCounters& counters) {
  const auto read = [](const std::atomic<uint64_t>& counter) {
    return counter.load(std::memory_order_relaxed);
  };
  return {.accepted = read(counters.accepted),
          .over_max_connections = read(counters.over_max_connections),
          .timed_out = read(counters.timed_out),
          .bad_peers = read(counters.bad_peers),
          .refused_logoff = read(counters.refused_logoff),
          .refused_limit = read(counters.refused_limit),
          .not_found = read(counters.not_found),
          .auth_failed = read(counters.auth_failed),
          .late = read(counters.late),
          .long_handlers = read(counters.long_handlers)};
}

}  // namespace

StatusCollector::StatusCollector(ServerCore& core, std::function<RuntimeStatus()> runtime)
    : core_(core), runtime_(std::move(runtime)) {
  std::vector<const MethodStats*> methods;
  for (const ServiceMap::Found& found : core.services.all()) {
    methods.push_back(&found.state->stats);
  }
  core.sampler.Begin(core.parts.clock->Now(), methods);
}

void StatusCollector::SetListenAddress(const Address& address) {
  std::lock_guard<std::mutex> lock(mutex_);
  listen_address_ = address.ToString();
}

std::vector<MethodStatus> StatusCollector::Methods(StatsSampler::View& view) const {
  std::vector<MethodStatus> methods;
  methods.reserve(view.methods.size());
  const std::vector<ServiceMap::Found>& all = core_.services.all();
  for (size_t i = 0; i < view.methods.size(); ++i) {
    const google::protobuf::MethodDescriptor& method = *all[i].method;
    methods.push_back({method.service()->full_name(), method.name(), std::move(view.methods[i]),
                       StatusOf(all[i].state->limit), all[i].state->pace.on_pool()});
  }
  return methods;
}

ServerStatus StatusCollector::Collect() {
  ServerStatus status;
  status.version = std::string(Version());
  {
    std::lock_guard<std::mutex> lock(mutex_);
    status.listen_address = listen_address_;
  }
  ConnectionSurvey::Result survey = ConnectionSurvey::Take(core_, kTimeout);
  status.connections = std::move(survey.connections);
  status.connections.open = static_cast<uint64_t>(core_.connections.count());
  status.loops = std::move(survey.loops);
  status.now = core_.parts.clock->Now();
  status.uptime_seconds = std::chrono::duration<double>(status.now - core_.started).count();
  status.stopping = core_.stopping.load();
  status.unanswered = core_.unanswered.count();
  status.running = core_.running.count();
  if (core_.handlers != nullptr) {
    status.handler_threads = core_.handlers->most();
    status.waiting = core_.handlers->waiting();
  }
  status.limit = StatusOf(core_.limit);
  StatsSampler::View view = core_.sampler.Look(status.now);
  status.methods = Methods(view);
  status.history = std::move(view.history);
  status.pool = core_.parts.pool->stats();
  status.runtime = runtime_();
  status.counters = StatusOf(core_.counters);
  status.options = OptionsText(core_.options);
  status.process = ReadProcessStatus();
  return status;
}

}  // namespace farcall
