// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/grpc_echo/server.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/common/cpu_usage.h"
#include "benchmarks/grpc_echo/grpc_echo.grpc.pb.h"

namespace farcall::bench {
namespace {

class EchoService final : public GrpcEcho::CallbackService {
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

class Running final : public GrpcServer {
 public:
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(const std::string& address) {
    auto running = std::make_unique<Running>();
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&running->service_);
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

  ~Running() override {
    if (server_ != nullptr) {
      server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
    }
  }

  const std::string& address() const override { return address_; }

 private:
  EchoService service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(const ServerOptions& options) {
  const absl::Status valid = options.Validate();
  if (!valid.ok()) return valid;
  return Running::Start(options.listen);
}

}  // namespace farcall::bench
