// SPDX-License-Identifier: Apache-2.0
//
// Both ends of tests on real RDMA devices, as processes that a script drives by lines:
//
//   rdma_peer server --listen 10.9.0.2:0    prints "listening on ADDRESS"; answers "stats" and
//                                           "nodes", where the blocks of requests lay
//   rdma_peer client --server ADDRESS       prints "ready"; for its lines see client_commands.h
//
// Both also answer
//   break    puts its queue pairs into error    broken queue_pairs=
//   pool     blocks that are in use             pool used=
//   reasons  why connections were over TCP, and how often: only those that were
//                                               reasons broken= ...
//
// Each ends with its standard input.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "rpc/runtime/runtime.h"
#include "rpc/runtime/server.h"
#include "rpc/testing/rdma_peer/client_commands.h"
#include "rpc/testing/rdma_peer/exchange_service.h"
#include "transport/rdma/testing/break_queue_pairs.h"

ABSL_FLAG(std::string, listen, "", "server: the address");
ABSL_FLAG(std::string, server, "", "client: the server's address");
ABSL_FLAG(int, connections, 1, "client: how many");
ABSL_FLAG(int, timeout_ms, 100'000, "client: of each call");
ABSL_FLAG(int, connect_timeout_ms, 10'000, "client: of each attempt");
ABSL_FLAG(int, max_retry, farcall::ChannelOptions().max_retry, "client: ChannelOptions");
ABSL_FLAG(bool, use_rdma, true, "ask for RDMA");
ABSL_FLAG(bool, require_rdma, false, "take nothing else");
ABSL_FLAG(bool, peers_may_be_brpc, false, "client: ChannelOptions::rdma_peers_may_be_brpc");
ABSL_FLAG(std::string, devices, "", "only these RDMA devices, separated by commas");
ABSL_FLAG(std::string, set_up, "auto", "auto, rdma_cm or tcp");
ABSL_FLAG(int, threads, 1, "event loops");
ABSL_FLAG(int, handler_threads, 0, "server: so many run all handlers; 0: the loops do");
ABSL_FLAG(uint32_t, receive_slots, farcall::RdmaOptions().receive_slots, "RdmaOptions");
ABSL_FLAG(uint32_t, shared_receives, farcall::RdmaOptions().shared_receives, "RdmaOptions");
ABSL_FLAG(uint32_t, max_shared_receives, farcall::RdmaOptions().max_shared_receives, "RdmaOptions");
ABSL_FLAG(uint32_t, read_at_least, farcall::RdmaOptions().read_at_least, "RdmaOptions");
ABSL_FLAG(uint32_t, rails, farcall::RdmaOptions().rails, "RdmaOptions");
ABSL_FLAG(std::string, polling, "adaptive", "event, adaptive or busy");

namespace farcall::rdma_peer {
namespace {

constexpr size_t kMaxBody = size_t{256} << 20;

void Say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

absl::StatusOr<std::unique_ptr<Runtime>> MakeRuntime() {
  RuntimeOptions options;
  options.event_loops = absl::GetFlag(FLAGS_threads);
  const std::string polling = absl::GetFlag(FLAGS_polling);
  if (polling == "event") options.polling.mode = PollingMode::kEvent;
  if (polling == "busy") options.polling.mode = PollingMode::kBusy;
  options.rdma.devices = absl::StrSplit(absl::GetFlag(FLAGS_devices), ',', absl::SkipEmpty());
  for (const RdmaSetUp way : {RdmaSetUp::kRdmaCm, RdmaSetUp::kOverTcp}) {
    if (absl::GetFlag(FLAGS_set_up) == ToString(way)) options.rdma.set_up = way;
  }
  options.rdma.receive_slots = absl::GetFlag(FLAGS_receive_slots);
  options.rdma.shared_receives = absl::GetFlag(FLAGS_shared_receives);
  options.rdma.max_shared_receives = absl::GetFlag(FLAGS_max_shared_receives);
  options.rdma.read_at_least = absl::GetFlag(FLAGS_read_at_least);
  options.rdma.rails = absl::GetFlag(FLAGS_rails);
  // A machine that is busy elsewhere has its devices all the same.
  options.link.probe_timeout = std::chrono::seconds(30);
  return Runtime::Create(options);
}

// What both modes answer; empty: nothing.
std::string Common(Runtime& runtime, const std::string& line) {
  if (line == "break") return absl::StrCat("broken queue_pairs=", BreakQueuePairs());
  if (line == "pool") {
    return absl::StrCat("pool used=", runtime.parts().pool->stats().used_bytes);
  }
  if (line == "reasons") {
    std::string text = "reasons";
    const auto& fallbacks = runtime.upgrade_counts().fallbacks;
    for (size_t why = 0; why < fallbacks.size(); ++why) {
      if (fallbacks[why] == 0) continue;
      absl::StrAppend(&text, " ", Name(static_cast<WhyNotRdma>(why)), "=", fallbacks[why]);
    }
    return text;
  }
  return "";
}

absl::Status Serve(Runtime& runtime) {
  ServerOptions options;
  options.runtime = &runtime;
  options.use_rdma = absl::GetFlag(FLAGS_use_rdma);
  options.require_rdma = absl::GetFlag(FLAGS_require_rdma);
  options.handler_threads = absl::GetFlag(FLAGS_handler_threads);
  options.handlers_on_pool = options.handler_threads > 0;
  options.max_body_size = kMaxBody;
  ExchangeService service;
  Server server;
  absl::Status status = server.AddService(&service, SERVER_DOESNT_OWN_SERVICE);
  if (status.ok()) status = server.Start(absl::GetFlag(FLAGS_listen), options);
  if (!status.ok()) return status;
  Say(absl::StrCat("listening on ", server.listen_address().ToString()));
  for (std::string line; std::getline(std::cin, line);) {
    const std::string common = Common(runtime, line);
    if (!common.empty()) {
      Say(common);
      continue;
    }
    if (line == "nodes") {
      Say(absl::StrCat("nodes", service.Nodes()));
      continue;
    }
    Say(line == "stats" ? absl::StrCat("stats connections=", server.connection_count(), " ",
                                       service.counts().ToString())
                        : absl::StrCat("error what is \"", line, "\"?"));
  }
  return server.Stop(std::chrono::seconds(2));
}

absl::Status Call(Runtime& runtime) {
  ChannelOptions options;
  options.runtime = &runtime;
  options.use_rdma = absl::GetFlag(FLAGS_use_rdma);
  options.require_rdma = absl::GetFlag(FLAGS_require_rdma);
  options.rdma_peers_may_be_brpc = absl::GetFlag(FLAGS_peers_may_be_brpc);
  options.timeout_ms = absl::GetFlag(FLAGS_timeout_ms);
  options.connect_timeout_ms = absl::GetFlag(FLAGS_connect_timeout_ms);
  options.max_retry = absl::GetFlag(FLAGS_max_retry);
  options.max_body_size = kMaxBody;
  options.max_backlog = 4 * kMaxBody;
  ClientCommands client(absl::GetFlag(FLAGS_server), options);
  if (absl::Status status = client.Open(absl::GetFlag(FLAGS_connections)); !status.ok()) {
    return status;
  }
  Say("ready");
  for (std::string line; std::getline(std::cin, line);) {
    const std::string common = Common(runtime, line);
    Say(common.empty() ? client.Do(line) : common);
  }
  return absl::OkStatus();
}

absl::Status Main(const std::string& mode) {
  const auto runtime = MakeRuntime();
  if (!runtime.ok()) return runtime.status();
  if (mode == "server") return Serve(**runtime);
  if (mode == "client") return Call(**runtime);
  return absl::InvalidArgumentError("server or client, please");
}

}  // namespace
}  // namespace farcall::rdma_peer

int main(int argc, char** argv) {
  const std::vector<char*> words = absl::ParseCommandLine(argc, argv);
  const absl::Status status = farcall::rdma_peer::Main(words.size() == 2 ? words[1] : "");
  if (status.ok()) return 0;
  std::fprintf(stderr, "rdma_peer: %s\n", status.ToString().c_str());
  return 1;
}
