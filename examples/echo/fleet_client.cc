// SPDX-License-Identifier: Apache-2.0
//
// Calls to several servers that go on while some of them are away: retries, backup requests,
// and an interceptor that counts.

#include <atomic>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "examples/echo/echo.pb.h"
#include "farcall/channel.h"
#include "farcall/interceptor.h"
#include "farcall/retry_policy.h"
#include "farcall/setting_flags.h"

ABSL_FLAG(std::string, servers, "list://127.0.0.1:8002,127.0.0.1:8003",
          "any target of docs/naming.md");
ABSL_FLAG(std::string, load_balancer, "rr", "rr, random, wrr, wr, c_hash, la");
ABSL_FLAG(int, calls, 6, "how many calls");
ABSL_FLAG(int, max_retry, 3, "attempts beyond the first");
ABSL_FLAG(int, backup_request_ms, -1, "a second request after so long without an answer");
ABSL_FLAG(bool, once, false, "never send again what may have run");
ABSL_FLAG(bool, use_rdma, true, "prefer RDMA; TCP carries the calls where it cannot be had");

namespace {

// Counts calls, and marks each with a field that the server's interceptors can read.
class Marker final : public farcall::ClientInterceptor {
 public:
  bool OnCall(const google::protobuf::MethodDescriptor&, farcall::Controller& controller,
              const google::protobuf::Message&) override {
    controller.request_user_fields().Set("call", std::to_string(++calls_));
    return true;
  }
  void OnEnd(const google::protobuf::MethodDescriptor&, farcall::Controller& controller,
             const google::protobuf::Message*) override {
    if (controller.Failed()) ++failed_;
  }
  int failed() const { return failed_; }

 private:
  std::atomic<int> calls_{0};
  std::atomic<int> failed_{0};
};

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("calls example.EchoService on whichever server can");
  farcall::TakeSettingFlags(&argc, argv);
  absl::ParseCommandLine(argc, argv);

  const auto marker = std::make_shared<Marker>();
  farcall::ChannelOptions options;
  options.use_rdma = absl::GetFlag(FLAGS_use_rdma);
  options.timeout_ms = 30'000;
  options.load_balancer = absl::GetFlag(FLAGS_load_balancer);
  options.max_retry = absl::GetFlag(FLAGS_max_retry);
  options.backup_request_ms = absl::GetFlag(FLAGS_backup_request_ms);
  if (absl::GetFlag(FLAGS_once)) options.retry_policy = farcall::RetryPolicy::OnlyIfNotRun();
  options.interceptors = {marker};
  const auto channel = farcall::Channel::Create(absl::GetFlag(FLAGS_servers), options);
  if (!channel.ok()) {
    std::fprintf(stderr, "echo_fleet_client: %s\n", channel.status().ToString().c_str());
    return 1;
  }
  example::EchoService_Stub stub(channel->get());

  for (int i = 0; i < absl::GetFlag(FLAGS_calls); ++i) {
    farcall::Controller controller;
    example::EchoRequest request;
    example::EchoResponse response;
    request.set_message("hello");
    stub.Echo(&controller, &request, &response, /*done=*/nullptr);
    if (controller.Failed()) {
      std::printf("failed: %s\n", controller.status().ToString().c_str());
    } else {
      std::printf("%s from %s, tried again %d times%s\n", response.message().c_str(),
                  controller.remote_side().c_str(), controller.retried_count(),
                  controller.has_backup_request() ? ", with a backup request" : "");
    }
  }
  std::printf("%d of %d calls failed\n", marker->failed(), absl::GetFlag(FLAGS_calls));
  return marker->failed() == 0 ? 0 : 1;
}
