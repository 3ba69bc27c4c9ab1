// SPDX-License-Identifier: Apache-2.0
//
// The echo benchmark: calls per second and latencies of farcall.
//
//   echo_bench --listen 127.0.0.1:8010             the server, until SIGTERM
//   echo_bench --server 127.0.0.1:8010             the client: puts load on, reports
//   echo_bench --inproc                            both in one process

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/common/load_flags.h"
#include "benchmarks/common/server_life.h"
#include "benchmarks/echo/echo_client.h"
#include "benchmarks/echo/echo_service.h"
#include "benchmarks/echo/store_service.h"
#include "rpc/runtime/runtime.h"
#include "rpc/runtime/server.h"
#include "rpc/runtime/setting_flags.h"

ABSL_FLAG(bool, inproc, false, "server and client in this process, over loopback");
ABSL_FLAG(bool, put, false, "attachments are not sent back");
ABSL_FLAG(
    int, handler_threads, farcall::ServerOptions().handler_threads,
    "server: threads for slow handlers; 0: none, all stay on the loops; -1: the library's own");
ABSL_FLAG(bool, handlers_on_pool, false, "server: all handlers on those threads, always");
ABSL_FLAG(std::string, tls_certificate, "", "server: TLS with this chain in PEM");
ABSL_FLAG(std::string, tls_private_key, "", "server: and this key");

namespace farcall::bench {
namespace {

std::shared_ptr<const ServerTlsOptions> ServerTls() {
  if (absl::GetFlag(FLAGS_tls_certificate).empty()) return nullptr;
  const auto tls = std::make_shared<ServerTlsOptions>();
  tls->files.certificate = absl::GetFlag(FLAGS_tls_certificate);
  tls->files.private_key = absl::GetFlag(FLAGS_tls_private_key);
  return tls;
}

// What a server serves, and goes after it. Echoes need no memory of the server's own.
struct Services {
  absl::Status AddStore(const Runtime& runtime) {
    auto puts = MakeRegistered(runtime, kStoreMemory);
    if (!puts.ok()) return puts.status();
    auto gets = MakeRegistered(runtime, kStoreMemory);
    if (!gets.ok()) return gets.status();
    store.emplace(*std::move(puts), *std::move(gets));
    return absl::OkStatus();
  }

  EchoService echo;
  std::optional<StoreService> store;
};

absl::Status StartServer(farcall::Server& server, Services& services, Runtime& runtime,
                         const std::string& address, bool use_rdma) {
  farcall::ServerOptions options;
  options.runtime = &runtime;
  options.handler_threads = absl::GetFlag(FLAGS_handler_threads);
  options.handlers_on_pool = absl::GetFlag(FLAGS_handlers_on_pool);
  options.use_rdma = use_rdma;
  options.tls = ServerTls();
  options.max_body_size = size_t{2} << 30;
  absl::Status status = server.AddService(&services.echo, SERVER_DOESNT_OWN_SERVICE);
  if (LoadOptionsFromFlags().way != "echo") {
    status.Update(services.AddStore(runtime));
    if (!status.ok()) return status;
    status.Update(server.AddService(&*services.store, SERVER_DOESNT_OWN_SERVICE,
                                    {.attachment_placer = &*services.store}));
  }
  return status.ok() ? server.Start(address, options) : status;
}

absl::Status Serve(const ServerOptions& options) {
  if (absl::Status status = options.Validate(); !status.ok()) return status;
  absl::StatusOr<ServerLife> life = ServerLife::Begin(options.exit_with_stdin);
  if (!life.ok()) return life.status();
  const auto runtime = MakeRuntime(options.threads, options.polling);
  if (!runtime.ok()) return runtime.status();
  Services services;
  farcall::Server server;
  absl::Status status = StartServer(server, services, **runtime, options.listen, options.use_rdma);
  if (!status.ok()) return status;
  ServerLife::Announce(server.listen_address().ToString());
  life->WaitForEnd();
  return server.Stop(std::chrono::seconds(2));
}

absl::Status Inproc(LoadOptions options) {
  const auto runtime = MakeRuntime(options.threads, options.polling);
  if (!runtime.ok()) return runtime.status();
  Services services;
  farcall::Server server;
  absl::Status status = StartServer(server, services, **runtime, "127.0.0.1:0", options.use_rdma);
  if (!status.ok()) return status;
  options.server = server.listen_address().ToString();
  status = RunEchoClient(options, absl::GetFlag(FLAGS_put));
  server.Stop(std::chrono::seconds(2)).IgnoreError();
  return status;
}

absl::Status Main() {
  const LoadOptions load = LoadOptionsFromFlags();
  const ServerOptions server = ServerOptionsFromFlags();
  const int modes = static_cast<int>(!load.server.empty()) +
                    static_cast<int>(!server.listen.empty()) +
                    static_cast<int>(absl::GetFlag(FLAGS_inproc));
  if (modes != 1) {
    return absl::InvalidArgumentError("one of --listen ADDR, --server ADDR and --inproc, please");
  }
  if (!server.listen.empty()) return Serve(server);
  if (absl::GetFlag(FLAGS_inproc)) return Inproc(load);
  return RunEchoClient(load, absl::GetFlag(FLAGS_put));
}

}  // namespace
}  // namespace farcall::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "echo benchmark of farcall: --listen ADDR (server), --server ADDR (client) or --inproc");
  farcall::TakeSettingFlags(&argc, argv);
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = farcall::bench::Main();
  if (status.ok()) return 0;
  std::fprintf(stderr, "echo_bench: %s\n", std::string(status.message()).c_str());
  return 1;
}
