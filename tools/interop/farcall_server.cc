// SPDX-License-Identifier: Apache-2.0
//
// farcall_server ADDRESS: serves farcall.interop.EchoService until Stop is called or it is
// killed. Exits with 0 after Stop.

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

#include "absl/strings/string_view.h"
#include "rpc/closure.h"
#include "rpc/runtime/server.h"
#include "tools/interop/interop.pb.h"

namespace farcall::interop {
namespace {

// Stop was called, which waits for calls that sleep: they must be under way when the server stops.
class StopSignal {
 public:
  void Sleep(std::chrono::milliseconds time) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++sleeping_;
      changed_.notify_all();
    }
    std::this_thread::sleep_for(time);
    const std::lock_guard<std::mutex> lock(mutex_);
    --sleeping_;
  }
  void WaitForSleepers(int count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(5), [&] { return sleeping_ >= count; });
  }
  void Give() {
    const std::lock_guard<std::mutex> lock(mutex_);
    given_ = true;
    changed_.notify_all();
  }
  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return given_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int sleeping_ = 0;
  bool given_ = false;
};

class EchoServiceImpl final : public EchoService {
 public:
  explicit EchoServiceImpl(StopSignal& stop) : stop_(stop) {}

  void Echo(google::protobuf::RpcController* rpc_controller, const Request* request,
            Response* response, google::protobuf::Closure* done) override {
    const ClosureGuard guard(done);
    auto& controller = *static_cast<Controller*>(rpc_controller);
    if (request->sleep_ms() > 0) stop_.Sleep(std::chrono::milliseconds(request->sleep_ms()));
    if (request->has_fail_text()) {
      controller.SetFailed(request->fail_code(), request->fail_text());
      return;
    }
    response->set_message(request->message());
    response->set_log_id(controller.log_id());
    controller.response_attachment().Append(std::move(controller.request_attachment()));
  }
  void Stop(google::protobuf::RpcController*, const Request* request, Response* response,
            google::protobuf::Closure* done) override {
    stop_.WaitForSleepers(request->sleepers());
    response->set_message(request->message());
    done->Run();
    stop_.Give();
  }
  void FarcallOnly(google::protobuf::RpcController*, const Request* request, Response* response,
                   google::protobuf::Closure* done) override {
    response->set_message(request->message());
    done->Run();
  }

 private:
  StopSignal& stop_;
};

int Serve(absl::string_view address) {
  StopSignal stop;
  EchoServiceImpl echo(stop);
  Server server;
  absl::Status status = server.AddService(&echo, SERVER_DOESNT_OWN_SERVICE);
  if (status.ok()) status = server.Start(address);
  if (!status.ok()) {
    std::fprintf(stderr, "farcall_server: %s\n", status.ToString().c_str());
    return 1;
  }
  stop.Wait();
  status = server.Stop(std::chrono::seconds(5));
  if (status.ok()) return 0;
  std::fprintf(stderr, "farcall_server: stop: %s\n", status.ToString().c_str());
  return 1;
}

}  // namespace
}  // namespace farcall::interop

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: farcall_server ADDRESS\n");
    return 2;
  }
  return farcall::interop::Serve(argv[1]);
}
