// SPDX-License-Identifier: Apache-2.0
//
// Serves example.EchoService until SIGTERM or Ctrl-C.

#include "farcall/server.h"

#include <chrono>
#include <cstdio>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "examples/echo/echo.pb.h"
#include "farcall/closure.h"
#include "farcall/run_until_asked_to_quit.h"
#include "farcall/runtime.h"
#include "farcall/setting_flags.h"

ABSL_FLAG(std::string, listen, "0.0.0.0:8002", "address: ip:port, [v6]:port or unix:PATH");
ABSL_FLAG(bool, use_rdma, true, "let clients that ask for it use RDMA");
ABSL_FLAG(bool, huge_pages, false, "have the blocks in pages of 2 MiB, where there are some");

namespace {

class EchoServiceImpl final : public example::EchoService {
 public:
  void Echo(google::protobuf::RpcController* rpc_controller, const example::EchoRequest* request,
            example::EchoResponse* response, google::protobuf::Closure* done) override {
    const farcall::ClosureGuard answer(done);  // answers when this returns
    auto& controller = static_cast<farcall::Controller&>(*rpc_controller);
    response->set_message(request->message());
    controller.response_attachment() = std::move(controller.request_attachment());
  }
};

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("serves example.EchoService until SIGTERM or Ctrl-C");
  farcall::TakeSettingFlags(&argc, argv);
  absl::ParseCommandLine(argc, argv);

  farcall::RuntimeOptions runtime_options;
  runtime_options.pool.huge_pages = absl::GetFlag(FLAGS_huge_pages);
  const auto runtime = farcall::Runtime::Create(runtime_options);
  if (!runtime.ok()) {
    std::fprintf(stderr, "echo_server: %s\n", runtime.status().ToString().c_str());
    return 1;
  }
  EchoServiceImpl echo;
  farcall::Server server;
  farcall::ServerOptions options;
  options.runtime = runtime->get();
  options.use_rdma = absl::GetFlag(FLAGS_use_rdma);
  absl::Status status = server.AddService(&echo, farcall::SERVER_DOESNT_OWN_SERVICE);
  if (status.ok()) status = server.Start(absl::GetFlag(FLAGS_listen), options);
  if (!status.ok()) {
    std::fprintf(stderr, "echo_server: %s\n", status.ToString().c_str());
    return 1;
  }
  std::printf("listening on %s\n", server.listen_address().ToString().c_str());
  std::fflush(stdout);

  status = farcall::RunUntilAskedToQuit(server, std::chrono::seconds(5));
  if (!status.ok()) std::fprintf(stderr, "echo_server: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
