// SPDX-License-Identifier: Apache-2.0

#include "rpc/testing/rdma/rdma_pair.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/session/client/client_survey.h"
#include "transport/base/check.h"
#include "transport/loop/loop_testing.h"
#include "transport/tls/tls_context.h"

namespace farcall {
namespace {

constexpr Duration kBetweenLooks = std::chrono::microseconds(200);

RdmaRigOptions OnlyOn(const std::string& device, RdmaRigOptions options) {
  if (options.rdma.devices.empty()) options.rdma.devices = {device};
  options.loops = 2;
  return options;
}

RdmaRigOptions WithEvents(RdmaRigOptions options, EventRing& events) {
  options.events = &events;
  return options;
}

// Only what no other test sends from its own memory.
RegistrationCacheOptions OnlyHuge() {
  return {.min_bytes = size_t{7} << 20, .max_bytes = size_t{64} << 20};
}

}  // namespace

UpgradeOptions SoonAgain() {
  UpgradeOptions options;
  options.probe_timeout = options.hello_timeout = options.busy_hello_timeout =
      options.sniff_timeout = options.require_timeout = options.upgrade.answer =
          options.upgrade.dial = kTestTimeout;
  options.upgrade.first_pause = std::chrono::milliseconds(5);
  options.upgrade.longest_pause = std::chrono::milliseconds(50);
  return options;
}

RdmaEnd::RdmaEnd(const RdmaRigOptions& options, const UpgradeOptions& upgrade)
    : rig_(WithEvents(options, events_)),
      tcp_(rig_.pool(), nullptr),
      tls_(tcp_),
      record_([this](absl::string_view line) { log_.Sink()(LogSeverity::kInfo, line); }, &events_),
      transport_(tls_, rig_.transport(), record_, upgrade),
      registrations_(OnlyHuge(), rig_.registrar()) {
  auto monitor = LoopMonitor::Start(nullptr);
  Check(monitor.ok(), "a test gets threads");
  monitor_ = *std::move(monitor);
  for (size_t i = 0; i < rig_.loops().size(); ++i) Drive(rig_.loops().at(i));
  Drive(rig_.control());
  auto blocking = BlockingThreads::Start(1);
  Check(blocking.ok(), "a test gets threads");
  blocking_ = *std::move(blocking);
  runtime_ = Runtime::On({
      .clock = &clock_,
      .loops = &rig_.loops(),
      .transport = &transport_,
      .pool = &rig_.pool(),
      .run_blocking =
          [this](std::function<void()> work) { return blocking_->Post(std::move(work)); },
      .client_tls = [](const ClientTlsOptions& tls) { return LoadTls(tls, nullptr); },
      .server_tls = [](const ServerTlsOptions& tls) { return LoadTls(tls, nullptr); },
      .log = log_.Sink(),
      .sessions = &sessions_,
      .registry = &registry_,
      .copied = &rig_.copied(),
      .registrar = &rig_.registrar(),
      .registrations = &registrations_,
      .status =
          [this] {
            RuntimeStatus status;
            status.upgrades = record_.counts();
            status.clients =
                ClientSurvey::Begin(rig_.loops(), clock_, registry_)->Wait(kTestTimeout);
            status.rdma = rig_.transport().Status(kTestTimeout);
            status.copied = rig_.copied().Sum();
            status.events = events_.events();
            status.events_forgotten = events_.forgotten();
            return status;
          },
  });
}

RdmaEnd::~RdmaEnd() {
  runtime_.reset();
  Check(sessions_.WaitForNone(kTestTimeout) == 0, "calls of destroyed channels end");
  blocking_.reset();
  drivers_.clear();
  rig_.End();
}

void RdmaEnd::Drive(EventLoop& loop) {
  LoopDriverOptions options;
  options.polling.mode = PollingMode::kEvent;
  auto driver = LoopDriver::Start(loop, options, monitor_.get());
  Check(driver.ok(), "a test gets threads");
  drivers_.push_back(*std::move(driver));
}

void RdmaEnd::TakeForBrpc(const Address& peer) {
  record_.RememberNoHello(peer.ToString());
  record_.RememberSilent(peer.ToString(), clock_.Now(), clock_.Now() + std::chrono::hours(1));
}

std::string RdmaEnd::Log() {
  std::string all = log_.All();
  for (const std::string& line : rig_.log()) absl::StrAppend(&all, line, "\n");
  return all;
}

RdmaPair::RdmaPair(const UpgradeOptions& upgrade, const FakeRdma::Change& change)
    : fake_(FakeMode::kImmediate, change),
      stepper_([this] {
        while (!stop_) {
          while (!stop_ && fake_.fabric().Step()) {
          }
          std::this_thread::sleep_for(kBetweenLooks);
        }
      }),
      client_(End("fakeA", upgrade)),
      server_(End("fakeB", upgrade)) {}

RdmaPair::~RdmaPair() {
  client_.reset();
  server_.reset();
  stop_ = true;
  stepper_.join();
}

std::string RdmaPair::Logs() {
  return absl::StrCat("client:\n", client_ != nullptr ? client_->Log() : "", "server:\n",
                      server_ != nullptr ? server_->Log() : "");
}

std::unique_ptr<RdmaEnd> RdmaPair::End(const std::string& device, const UpgradeOptions& upgrade) {
  return std::make_unique<RdmaEnd>(OnlyOn(device, fake_.rig()), upgrade);
}

}  // namespace farcall
