// SPDX-License-Identifier: Apache-2.0
//
// Calls as coroutines: each task makes calls one after the other, and all tasks run side by side.

#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"
#include "examples/echo/echo.pb.h"
#include "farcall/channel.h"
#include "farcall/coroutine.h"
#include "farcall/setting_flags.h"

ABSL_FLAG(std::string, server, "127.0.0.1:8002", "host:port, ip:port, [v6]:port or unix:PATH");
ABSL_FLAG(int, tasks, 10, "how many tasks, side by side");
ABSL_FLAG(int, calls, 100, "how many calls each of them makes, one after the other");
ABSL_FLAG(bool, use_rdma, true, "prefer RDMA; TCP carries the calls where it cannot be had");

namespace {

// One call. What it needs are variables of the coroutine, which live until the answer is here.
farcall::Task<bool> Echo(farcall::Channel& channel, std::string message) {
  example::EchoService_Stub stub(&channel);
  farcall::Controller controller;
  example::EchoRequest request;
  example::EchoResponse response;
  request.set_message(message);
  if (!co_await farcall::CallAsync(stub, &example::EchoService_Stub::Echo, &controller, &request,
                                   &response)) {
    std::fprintf(stderr, "%s\n", controller.status().ToString().c_str());
    co_return false;
  }
  co_return response.message() == message;
}

farcall::Task<int> EchoOften(farcall::Channel& channel, int task, int calls) {
  int failed = 0;
  for (int i = 0; i < calls; ++i) {
    const std::string message = absl::StrCat("call ", i, " of task ", task);
    if (!co_await Echo(channel, message)) ++failed;
  }
  co_return failed;
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("calls example.EchoService from coroutines");
  farcall::TakeSettingFlags(&argc, argv);
  absl::ParseCommandLine(argc, argv);

  farcall::ChannelOptions options;
  options.use_rdma = absl::GetFlag(FLAGS_use_rdma);
  options.timeout_ms = 30'000;
  const auto channel = farcall::Channel::Create(absl::GetFlag(FLAGS_server), options);
  if (!channel.ok()) {
    std::fprintf(stderr, "echo_coroutine_client: %s\n", channel.status().ToString().c_str());
    return 1;
  }
  const int calls = absl::GetFlag(FLAGS_calls);
  std::vector<farcall::Task<int>> tasks;
  for (int i = 0; i < absl::GetFlag(FLAGS_tasks); ++i) {
    tasks.push_back(EchoOften(**channel, i, calls));
  }
  const size_t count = tasks.size();
  int failed = 0;
  for (const int of_one : farcall::SyncWait(farcall::WhenAll(std::move(tasks)))) failed += of_one;
  std::printf("%zu tasks of %d calls, %d failed\n", count, calls, failed);
  return failed == 0 ? 0 : 1;
}
