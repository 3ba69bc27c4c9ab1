// SPDX-License-Identifier: Apache-2.0
//
// Echo on gRPC's callback API, with the threads that gRPC chooses by itself.

#ifndef FARCALL_BENCHMARKS_GRPC_ECHO_SERVER_H_
#define FARCALL_BENCHMARKS_GRPC_ECHO_SERVER_H_

#include <grpcpp/server.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "benchmarks/common/load_options.h"

namespace farcall::bench {

class GrpcServer {
 public:
  // Of the options, the address counts: gRPC has no other of these knobs.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(const ServerOptions& options);

  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;
  // Calls under way are cancelled after a second.
  ~GrpcServer();

  // With the port that the system chose, where 0 was asked for.
  const std::string& address() const { return address_; }

 private:
  class Service;

  GrpcServer();

  const std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_GRPC_ECHO_SERVER_H_
