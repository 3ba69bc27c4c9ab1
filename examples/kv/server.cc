// SPDX-License-Identifier: Apache-2.0
//
// Serves example.Kv from memory until SIGTERM or Ctrl-C.

#include "rpc/server.h"

#include <cstdio>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "examples/kv/service.h"
#include "examples/kv/store.h"
#include "rpc/run_until_asked_to_quit.h"
#include "rpc/runtime.h"

ABSL_FLAG(std::string, listen, "0.0.0.0:8005", "address: ip:port, [v6]:port or unix:PATH");
ABSL_FLAG(bool, use_rdma, true, "let clients that ask for it use RDMA");
ABSL_FLAG(uint64_t, max_bytes, uint64_t{1} << 30, "of keys and values together");
ABSL_FLAG(int, event_loops, 0, "threads that serve; 0: one for each core, at most 8");

namespace {

absl::Status Serve() {
  farcall::RuntimeOptions runtime_options;
  runtime_options.event_loops = absl::GetFlag(FLAGS_event_loops);
  // Large values stay in the blocks in which they arrived, which others may share; and there must
  // be room for what is under way.
  runtime_options.pool.max_bytes = 2 * absl::GetFlag(FLAGS_max_bytes) + (size_t{256} << 20);
  const auto runtime = farcall::Runtime::Create(runtime_options);
  if (!runtime.ok()) return runtime.status();

  example::Store store(absl::GetFlag(FLAGS_max_bytes));
  example::KvService service(store);
  farcall::Server server;
  farcall::ServerOptions options;
  options.runtime = runtime->get();
  options.use_rdma = absl::GetFlag(FLAGS_use_rdma);
  options.handler_threads = 0;
  absl::Status status = server.AddService(&service, farcall::SERVER_DOESNT_OWN_SERVICE);
  if (status.ok()) status = server.Start(absl::GetFlag(FLAGS_listen), options);
  if (!status.ok()) return status;
  std::printf("listening on %s\n", server.listen_address().ToString().c_str());
  std::fflush(stdout);
  return farcall::RunUntilAskedToQuit(server);
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("serves example.Kv until SIGTERM or Ctrl-C");
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = Serve();
  if (!status.ok()) std::fprintf(stderr, "kv_server: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
