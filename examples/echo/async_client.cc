// SPDX-License-Identifier: Apache-2.0
//
// Many calls at once: each has a closure, which is run when its answer is there.

#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"
#include "examples/echo/echo.pb.h"
#include "farcall/channel.h"
#include "farcall/closure.h"
#include "farcall/setting_flags.h"

ABSL_FLAG(std::string, server, "127.0.0.1:8002", "host:port, ip:port, [v6]:port or unix:PATH");
ABSL_FLAG(int, calls, 1000, "how many calls, all at once");
ABSL_FLAG(bool, use_rdma, true, "prefer RDMA; TCP carries the calls where it cannot be had");

namespace {

// What must live until a call has ended.
struct Call {
  farcall::Controller controller;
  example::EchoRequest request;
  example::EchoResponse response;
};

class Tally {
 public:
  // On a thread of the runtime. Closures may make further calls, but should not block for long.
  void Ended(const Call& call) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (call.controller.Failed() || call.response.message() != call.request.message()) {
      ++failed_;
      last_error_ = call.controller.ErrorText();
    }
    ++ended_;
    changed_.notify_one();
  }
  // Each call ends, at the latest by its deadline, so this does too.
  bool WaitFor(int calls) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return ended_ == calls; });
    std::printf("%d calls, %d failed%s%s\n", ended_, failed_, failed_ > 0 ? ": " : "",
                last_error_.c_str());
    return failed_ == 0;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int ended_ = 0;
  int failed_ = 0;
  std::string last_error_;
};

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("calls example.EchoService many times at once");
  farcall::TakeSettingFlags(&argc, argv);
  absl::ParseCommandLine(argc, argv);

  farcall::ChannelOptions options;
  options.use_rdma = absl::GetFlag(FLAGS_use_rdma);
  options.timeout_ms = 30'000;
  const auto channel = farcall::Channel::Create(absl::GetFlag(FLAGS_server), options);
  if (!channel.ok()) {
    std::fprintf(stderr, "echo_async_client: %s\n", channel.status().ToString().c_str());
    return 1;
  }
  example::EchoService_Stub stub(channel->get());
  Tally tally;
  for (int i = 0; i < absl::GetFlag(FLAGS_calls); ++i) {
    auto call = std::make_shared<Call>();
    call->request.set_message(absl::StrCat("hello ", i));
    stub.Echo(&call->controller, &call->request, &call->response,
              farcall::NewClosure([call, &tally] { tally.Ended(*call); }));
  }
  return tally.WaitFor(absl::GetFlag(FLAGS_calls)) ? 0 : 1;
}
