// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/grpc_echo/server.h"

#include <grpcpp/grpcpp.h>

#include <chrono>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/common/cpu_usage.h"
#include "benchmarks/grpc_echo/grpc_echo.grpc.pb.h"

namespace farcall::bench {

class GrpcServer::Service final : public GrpcEcho::CallbackService {
 public:
  // The synchronous methods of the same names, which are not called, must not be hidden.
  using GrpcEcho::CallbackService::Echo;
  using GrpcEcho::CallbackService::Usage;

  grpc::ServerUnaryReactor* Echo(grpc::CallbackServerContext* context,
                                 const GrpcEchoMessage* request,
                                 GrpcEchoMessage* response) override {
    *response = *request;
    return Finish(context);
  }

  grpc::ServerUnaryReactor* Usage(grpc::CallbackServerContext* context,
                                  const GrpcUsageRequest* /*request*/,
                                  GrpcUsageResponse* response) override {
    const CpuSample sample = CpuSample::Now();
    response->set_cpu_seconds(sample.cpu_seconds);
    response->set_clock_seconds(sample.clock_seconds);
    return Finish(context);
  }

 private:
  static grpc::ServerUnaryReactor* Finish(grpc::CallbackServerContext* context) {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

GrpcServer::GrpcServer() : service_(std::make_unique<Service>()) {}

GrpcServer::~GrpcServer() {
  if (server_ != nullptr) {
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  }
}

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(const ServerOptions& options) {
  if (absl::Status valid = options.Validate(); !valid.ok()) return valid;
  const std::string& address = options.listen;
  std::unique_ptr<GrpcServer> running(new GrpcServer);
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(running->service_.get());
  builder.SetMaxReceiveMessageSize(-1);
  builder.SetMaxSendMessageSize(-1);
  // Two servers on one port would share its connections.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  running->server_ = builder.BuildAndStart();
  if (running->server_ == nullptr || port == 0) {
    return absl::UnavailableError(absl::StrCat("cannot listen on ", address));
  }
  running->address_ = absl::StartsWith(address, "unix:")
                          ? address
                          : absl::StrCat(address.substr(0, address.rfind(':')), ":", port);
  return running;
}

}  // namespace farcall::bench
