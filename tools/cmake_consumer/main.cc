// SPDX-License-Identifier: Apache-2.0
//
// One call to a server in the same process, over loopback, with an attachment.

#include <echo.pb.h>

#include <chrono>
#include <cstdio>

#include "farcall/channel.h"
#include "farcall/closure.h"
#include "farcall/controller.h"
#include "farcall/server.h"

namespace {

class EchoImpl final : public consumer::EchoService {
 public:
  void Echo(google::protobuf::RpcController* base, const consumer::EchoRequest* request,
            consumer::EchoResponse* response, google::protobuf::Closure* done) override {
    farcall::ClosureGuard answer(done);
    auto& controller = *static_cast<farcall::Controller*>(base);
    response->set_text("echo: " + request->text());
    controller.response_attachment() = std::move(controller.request_attachment());
  }
};

int Fail(const char* what, const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", what, why.c_str());
  return 1;
}

int Run() {
  EchoImpl service;
  farcall::Server server;
  absl::Status status = server.AddService(&service, farcall::SERVER_DOESNT_OWN_SERVICE);
  if (status.ok()) status = server.Start("127.0.0.1:0");
  if (!status.ok()) return Fail("server", status.ToString());

  farcall::ChannelOptions options;
  options.timeout_ms = 10'000;
  auto channel = farcall::Channel::Create(server.listen_address().ToString(), options);
  if (!channel.ok()) return Fail("channel", channel.status().ToString());

  consumer::EchoService_Stub stub(channel->get());
  farcall::Controller controller;
  controller.request_attachment().Append("beside the message");
  consumer::EchoRequest request;
  request.set_text("hello");
  consumer::EchoResponse response;
  stub.Echo(&controller, &request, &response, nullptr);
  if (controller.Failed()) return Fail("call", controller.ErrorText());
  if (controller.response_attachment().ToString() != "beside the message") {
    return Fail("attachment", controller.response_attachment().ToString());
  }
  std::printf("%s\n", response.text().c_str());
  status = server.Stop(std::chrono::seconds(1));
  return status.ok() ? 0 : Fail("stop", status.ToString());
}

}  // namespace

int main() { return Run(); }
