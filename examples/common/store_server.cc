// SPDX-License-Identifier: Apache-2.0

#include "examples/common/store_server.h"

#include <cstdio>

#include "farcall/run_until_asked_to_quit.h"
#include "farcall/server.h"

namespace example {

absl::StatusOr<std::unique_ptr<farcall::Runtime>> StoreRuntime(int event_loops, size_t stored,
                                                               uint32_t read_at_least) {
  farcall::RuntimeOptions options;
  options.rdma.read_at_least = read_at_least;
  options.event_loops = event_loops;
  options.pool.max_bytes = 3 * stored + (size_t{256} << 20);
  return farcall::Runtime::Create(options);
}

absl::Status ServeStore(farcall::Runtime& runtime, google::protobuf::Service& service,
                        const std::string& listen, bool use_rdma,
                        const farcall::ServiceOptions& service_options) {
  farcall::Server server;
  farcall::ServerOptions options;
  options.runtime = &runtime;
  options.use_rdma = use_rdma;
  options.handler_threads = 0;
  absl::Status status =
      server.AddService(&service, farcall::SERVER_DOESNT_OWN_SERVICE, service_options);
  if (status.ok()) status = server.Start(listen, options);
  if (!status.ok()) return status;
  std::printf("listening on %s\n", server.listen_address().ToString().c_str());
  std::fflush(stdout);
  return farcall::RunUntilAskedToQuit(server);
}

}  // namespace example
