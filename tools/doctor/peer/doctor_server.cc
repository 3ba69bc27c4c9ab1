// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/peer/doctor_server.h"

#include <utility>

#include "tools/doctor/peer/caller.h"
#include "transport/why_not_rdma.h"

namespace farcall::doctor {
namespace {

constexpr const char* kLoopback = "127.0.0.1:0";

}  // namespace

absl::StatusOr<std::unique_ptr<DoctorServer>> DoctorServer::Start(Runtime& runtime,
                                                                  const std::string& address,
                                                                  Introduction introduction,
                                                                  const VerbsApi* api) {
  std::unique_ptr<DoctorServer> server(new DoctorServer(std::move(introduction), api));
  absl::Status status = server->server_.AddService(&server->service_, SERVER_DOESNT_OWN_SERVICE);
  if (!status.ok()) return status;
  ServerOptions options;
  options.runtime = &runtime;
  options.use_rdma = true;
  // The handlers take microseconds.
  options.handler_threads = 0;
  options.max_connections = 64;
  status = server->server_.Start(address, options);
  if (!status.ok()) return status;
  server->service_.set_port(server->server_.listen_address().port());
  return server;
}

LibraryVerdict AskLibrary() {
  auto runtime = QuietRuntime({});
  if (!runtime.ok()) return VerdictOf(runtime.status());
  Server server;
  ServerOptions options;
  options.runtime = runtime->get();
  options.require_rdma = true;
  return VerdictOf(server.Start(kLoopback, options));
}

LibraryVerdict VerdictOf(const absl::Status& started) {
  if (started.ok()) return {std::string(Name(WhyNotRdma::kInUse)), ""};
  const std::string message(started.message());
  if (!CarriesReason(started)) return {LibraryVerdict::kNotTold, message};
  return {std::string(Name(ReasonOf(started))), message};
}

LoopbackFacts PingItself(const std::string& device, Duration how_long) {
  LoopbackFacts facts;
  facts.device = device;
  auto runtime = QuietRuntime({device});
  if (!runtime.ok()) {
    facts.detail = std::string(runtime.status().message());
    return facts;
  }
  auto server = DoctorServer::Start(**runtime, kLoopback, {}, nullptr);
  if (!server.ok()) {
    facts.detail = std::string(server.status().message());
    return facts;
  }
  auto caller = Caller::Connect(**runtime, (*server)->address(), /*use_rdma=*/true);
  if (!caller.ok()) {
    facts.detail = std::string(caller.status().message());
    return facts;
  }
  const auto latency = (*caller)->Ping(how_long);
  const auto connection = (*caller)->Look();
  if (!latency.ok() || connection == nullptr) {
    facts.detail = latency.ok() ? "no connection" : std::string(latency.status().message());
    return facts;
  }
  facts.answered = true;
  facts.over = connection->device;
  facts.reason = std::string(Name(connection->why_not_rdma));
  facts.detail = connection->why_detail.empty() ? std::string(Explain(connection->why_not_rdma))
                                                : connection->why_detail;
  facts.ping_us = static_cast<double>(latency->Quantile(0.5).count()) / 1e3;
  return facts;
}

}  // namespace farcall::doctor
