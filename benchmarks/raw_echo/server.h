// SPDX-License-Identifier: Apache-2.0
//
// Echo on bare sockets: stores each message whole, then sends it back.

#ifndef FARCALL_BENCHMARKS_RAW_ECHO_SERVER_H_
#define FARCALL_BENCHMARKS_RAW_ECHO_SERVER_H_

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "benchmarks/common/load_options.h"
#include "benchmarks/raw_echo/carrier.h"
#include "transport/base/unique_fd.h"

namespace farcall::bench {

class RawServer {
 public:
  // Polling "busy": --threads that spin. Else a blocked thread for each connection.
  static absl::StatusOr<std::unique_ptr<RawServer>> Start(const ServerOptions& options);

  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;
  // Closes all connections.
  ~RawServer();

  // With the port that the system chose, where 0 was asked for.
  const std::string& address() const { return address_; }

 private:
  RawServer(UniqueFd listener, std::unique_ptr<Carrier> carrier);
  void Accept();

  UniqueFd listener_;
  std::string address_;
  std::unique_ptr<Carrier> carrier_;
  std::atomic<bool> stop_ = false;
  std::thread acceptor_;
};

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_RAW_ECHO_SERVER_H_
