// SPDX-License-Identifier: Apache-2.0
//
// One synchronous call after the other, and what carried them.

#include <cstdio>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "examples/echo/echo.pb.h"
#include "farcall/channel.h"
#include "farcall/setting_flags.h"

ABSL_FLAG(std::string, server, "127.0.0.1:8002", "host:port, ip:port, [v6]:port or unix:PATH");
ABSL_FLAG(std::string, message, "hello", "what to send");
ABSL_FLAG(int, calls, 3, "how many calls");
ABSL_FLAG(bool, use_rdma, true, "prefer RDMA; TCP carries the calls where it cannot be had");
ABSL_FLAG(int, timeout_ms, 1000, "for each call");

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("calls example.EchoService synchronously");
  farcall::TakeSettingFlags(&argc, argv);
  absl::ParseCommandLine(argc, argv);

  farcall::ChannelOptions options;
  options.use_rdma = absl::GetFlag(FLAGS_use_rdma);
  options.timeout_ms = absl::GetFlag(FLAGS_timeout_ms);
  const auto channel = farcall::Channel::Create(absl::GetFlag(FLAGS_server), options);
  if (!channel.ok()) {
    std::fprintf(stderr, "echo_client: %s\n", channel.status().ToString().c_str());
    return 1;
  }
  example::EchoService_Stub stub(channel->get());

  for (int i = 0; i < absl::GetFlag(FLAGS_calls); ++i) {
    farcall::Controller controller;
    example::EchoRequest request;
    example::EchoResponse response;
    request.set_message(absl::GetFlag(FLAGS_message));
    controller.request_attachment().Append("bytes beside the message");
    stub.Echo(&controller, &request, &response, /*done=*/nullptr);
    if (controller.Failed()) {
      std::fprintf(stderr, "echo_client: %s\n", controller.status().ToString().c_str());
      return 1;
    }
    std::printf("%s + %zu bytes from %s over %s in %lld us\n", response.message().c_str(),
                controller.response_attachment().size(), controller.remote_side().c_str(),
                std::string(ToString(controller.connection()->transport)).c_str(),
                static_cast<long long>(controller.latency_us()));
  }
  return 0;
}
