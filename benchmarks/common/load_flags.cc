// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/load_flags.h"

#include <cstdint>
#include <string>

#include "absl/flags/flag.h"

ABSL_FLAG(std::string, listen, "", "serve at this address; port 0: the system chooses");
ABSL_FLAG(std::string, server, "", "put load on the server at this address");
ABSL_FLAG(uint64_t, payload, 32, "bytes in each message");
ABSL_FLAG(uint64_t, attachment, 0, "bytes beside each message");
ABSL_FLAG(int32_t, in_flight, 1, "calls under way on each connection (open loop: at most)");
ABSL_FLAG(int32_t, connections, 1, "connections");
ABSL_FLAG(int32_t, threads, 1, "event loops, or workers, of this process");
ABSL_FLAG(double, rate, 0, "calls per second at fixed times (open loop); 0: closed loop");
ABSL_FLAG(double, seconds, 1, "how long to measure");
ABSL_FLAG(double, warmup, 0.2, "seconds of load before that");
ABSL_FLAG(std::string, polling, "adaptive", "event, adaptive or busy");
ABSL_FLAG(bool, use_rdma, false, "ask for RDMA");
ABSL_FLAG(std::string, way, "echo",
          "of what is beside messages: echo; put or get: into or from memory of the server, "
          "which wants the flag, too");
ABSL_FLAG(bool, synchronous, false, "each call under way is a thread that waits for it");
ABSL_FLAG(std::string, json, "", "write the report as JSON to this file, - for standard output");
ABSL_FLAG(bool, exit_with_stdin, false, "a server ends when its standard input closes");

namespace farcall::bench {

LoadOptions LoadOptionsFromFlags() {
  LoadOptions options;
  options.server = absl::GetFlag(FLAGS_server);
  options.payload = absl::GetFlag(FLAGS_payload);
  options.attachment = absl::GetFlag(FLAGS_attachment);
  options.in_flight = absl::GetFlag(FLAGS_in_flight);
  options.connections = absl::GetFlag(FLAGS_connections);
  options.threads = absl::GetFlag(FLAGS_threads);
  options.rate = absl::GetFlag(FLAGS_rate);
  options.seconds = absl::GetFlag(FLAGS_seconds);
  options.warmup = absl::GetFlag(FLAGS_warmup);
  options.polling = absl::GetFlag(FLAGS_polling);
  options.use_rdma = absl::GetFlag(FLAGS_use_rdma);
  options.way = absl::GetFlag(FLAGS_way);
  options.synchronous = absl::GetFlag(FLAGS_synchronous);
  options.json = absl::GetFlag(FLAGS_json);
  return options;
}

ServerOptions ServerOptionsFromFlags() {
  ServerOptions options;
  options.listen = absl::GetFlag(FLAGS_listen);
  options.threads = absl::GetFlag(FLAGS_threads);
  options.polling = absl::GetFlag(FLAGS_polling);
  options.use_rdma = absl::GetFlag(FLAGS_use_rdma);
  options.exit_with_stdin = absl::GetFlag(FLAGS_exit_with_stdin);
  return options;
}

}  // namespace farcall::bench
