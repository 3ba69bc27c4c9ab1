// SPDX-License-Identifier: Apache-2.0
//
// A service method that is a coroutine: it asks several other echo servers side by side, and
// answers with what they said. No thread waits meanwhile.

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"
#include "examples/echo/echo.pb.h"
#include "farcall/channel.h"
#include "farcall/coroutine.h"
#include "farcall/run_until_asked_to_quit.h"
#include "farcall/server.h"
#include "farcall/setting_flags.h"

ABSL_FLAG(std::string, listen, "0.0.0.0:8004", "address: ip:port, [v6]:port or unix:PATH");
ABSL_FLAG(std::vector<std::string>, servers, {"127.0.0.1:8002"}, "echo servers to ask");
ABSL_FLAG(bool, use_rdma, true, "prefer RDMA, and let clients that ask for it use it");

namespace {

using Channels = std::vector<std::unique_ptr<farcall::Channel>>;

farcall::Task<std::string> Ask(farcall::Channel& channel, const example::EchoRequest& request) {
  example::EchoService_Stub stub(&channel);
  farcall::Controller controller;
  example::EchoResponse response;
  const bool well = co_await farcall::CallAsync(stub, &example::EchoService_Stub::Echo, &controller,
                                                &request, &response);
  // Fails the call that this one is part of.
  if (!well) throw std::runtime_error(controller.ErrorText());
  co_return response.message();
}

class EchoOfMany final : public example::EchoService {
 public:
  explicit EchoOfMany(const Channels& channels) : channels_(channels) {}

  void Echo(google::protobuf::RpcController* controller, const example::EchoRequest* request,
            example::EchoResponse* response, google::protobuf::Closure* done) override {
    farcall::RunHandler(controller, done, EchoTask(*request, *response));
  }

 private:
  farcall::Task<> EchoTask(const example::EchoRequest& request, example::EchoResponse& response) {
    std::vector<farcall::Task<std::string>> asked;
    for (const auto& channel : channels_) asked.push_back(Ask(*channel, request));
    const std::vector<std::string> answers = co_await farcall::WhenAll(std::move(asked));
    for (const std::string& answer : answers) {
      absl::StrAppend(response.mutable_message(), response.message().empty() ? "" : ", ", answer);
    }
  }

  const Channels& channels_;
};

absl::Status Serve() {
  farcall::ChannelOptions channel_options;
  channel_options.use_rdma = absl::GetFlag(FLAGS_use_rdma);
  channel_options.timeout_ms = 30'000;
  Channels channels;
  for (const std::string& server : absl::GetFlag(FLAGS_servers)) {
    auto channel = farcall::Channel::Create(server, channel_options);
    if (!channel.ok()) return channel.status();
    channels.push_back(*std::move(channel));
  }
  EchoOfMany echo(channels);
  farcall::Server server;
  farcall::ServerOptions options;
  options.use_rdma = absl::GetFlag(FLAGS_use_rdma);
  absl::Status status = server.AddService(&echo, farcall::SERVER_DOESNT_OWN_SERVICE);
  if (status.ok()) status = server.Start(absl::GetFlag(FLAGS_listen), options);
  if (!status.ok()) return status;
  std::printf("listening on %s\n", server.listen_address().ToString().c_str());
  std::fflush(stdout);
  return farcall::RunUntilAskedToQuit(server);
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("serves example.EchoService by asking other servers");
  farcall::TakeSettingFlags(&argc, argv);
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = Serve();
  if (!status.ok()) std::fprintf(stderr, "coroutine_server: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
