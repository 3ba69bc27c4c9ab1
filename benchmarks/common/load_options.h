// SPDX-License-Identifier: Apache-2.0
//
// What load to put on: the same for every system that is compared.

#ifndef FARCALL_BENCHMARKS_COMMON_LOAD_OPTIONS_H_
#define FARCALL_BENCHMARKS_COMMON_LOAD_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <string>

#include "absl/status/status.h"

namespace farcall::bench {

// Calls under way of a load of bulk beside one of small calls.
inline constexpr int kBulkInFlight = 8;

struct LoadOptions {
  // The server's address: `host:port`, `[v6]:port`, `unix:PATH` as far as the system has them.
  std::string server;
  size_t payload = 32;    // bytes of the echoed message's text; 0 to 1 GiB
  size_t attachment = 0;  // bytes beside the message; 0 to 1 GiB
  int in_flight = 1;      // calls under way on each connection; 1 to 65,536
  int connections = 1;    // 1 to 10,000
  int threads = 1;        // event loops or workers of the client; 1 to 1,024
  double rate = 0;        // calls per second over all connections (open loop); 0: closed loop
  double seconds = 1;     // measured; > 0, at most a day
  double warmup = 0.2;    // before that, not measured; 0 to an hour
  std::string polling = "adaptive";  // event, adaptive or busy
  bool use_rdma = false;
  // Of the bytes beside the message: echo: there and back; put: they stay in memory of the server;
  // get: they come from there, into memory of the client. With a payload of 1 byte at least.
  std::string way = "echo";
  bool synchronous = false;  // each call under way is a thread that waits for it; no open loop
  // Where the report goes as JSON: a file, "-" for standard output, or empty for none.
  std::string json;

  // Errors name the flag and its bound.
  absl::Status Validate() const;

  // Of the message and what is beside it, one way.
  size_t bytes_per_call() const { return payload + attachment; }
};

// What the server side of each benchmark takes.
struct ServerOptions {
  std::string listen;  // an address; port 0: the system chooses
  int threads = 1;     // event loops or workers; 1 to 1,024
  std::string polling = "adaptive";
  bool use_rdma = false;
  bool exit_with_stdin = false;  // ends when standard input closes, as well as on SIGTERM

  absl::Status Validate() const;
};

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_COMMON_LOAD_OPTIONS_H_
