// SPDX-License-Identifier: Apache-2.0
//
// A block store in memory: blocks come and go as attachments. What was put is kept in
// the very blocks it arrived in, and what is got is a second reference to them.

#include "rpc/server.h"

#include <csignal>
#include <cstdio>
#include <mutex>
#include <string>
#include <unordered_map>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"
#include "examples/attachment/block_store.pb.h"
#include "rpc/closure.h"

ABSL_FLAG(std::string, listen, "0.0.0.0:8003", "address: ip:port, [v6]:port or unix:PATH");
ABSL_FLAG(bool, use_rdma, true, "let clients that ask for it use RDMA");
ABSL_FLAG(uint64_t, capacity, 256, "blocks that are kept at most");

namespace {

class BlockStoreImpl final : public example::BlockStore {
 public:
  explicit BlockStoreImpl(size_t capacity) : capacity_(capacity) {}

  void Put(google::protobuf::RpcController* rpc_controller, const example::PutRequest* request,
           example::PutResponse*, google::protobuf::Closure* done) override {
    const farcall::ClosureGuard answer(done);
    auto& controller = static_cast<farcall::Controller&>(*rpc_controller);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (blocks_.size() >= capacity_ && blocks_.count(request->block()) == 0) {
      return controller.SetFailed(
          ENOSPC, absl::StrCat("the store holds ", capacity_, " blocks already (--capacity)"));
    }
    blocks_[request->block()] = std::move(controller.request_attachment());
  }

  void Get(google::protobuf::RpcController* rpc_controller, const example::GetRequest* request,
           example::GetResponse*, google::protobuf::Closure* done) override {
    const farcall::ClosureGuard answer(done);
    auto& controller = static_cast<farcall::Controller&>(*rpc_controller);
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = blocks_.find(request->block());
    if (found == blocks_.end()) {
      return controller.SetFailed(ENOENT, absl::StrCat("no block ", request->block()));
    }
    controller.response_attachment() = found->second.Share();
  }

 private:
  const size_t capacity_;
  std::mutex mutex_;
  std::unordered_map<uint64_t, farcall::Buffer> blocks_;  // guarded by mutex_
};

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("serves example.BlockStore until SIGTERM or Ctrl-C");
  absl::ParseCommandLine(argc, argv);
  sigset_t stop_signals;
  sigemptyset(&stop_signals);
  sigaddset(&stop_signals, SIGINT);
  sigaddset(&stop_signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop_signals, nullptr);

  BlockStoreImpl store(absl::GetFlag(FLAGS_capacity));
  farcall::Server server;
  farcall::ServerOptions options;
  options.use_rdma = absl::GetFlag(FLAGS_use_rdma);
  absl::Status status = server.AddService(&store, farcall::SERVER_DOESNT_OWN_SERVICE);
  if (status.ok()) status = server.Start(absl::GetFlag(FLAGS_listen), options);
  if (!status.ok()) {
    std::fprintf(stderr, "block_server: %s\n", status.ToString().c_str());
    return 1;
  }
  std::printf("listening on %s\n", server.listen_address().ToString().c_str());
  std::fflush(stdout);
  int signal = 0;
  sigwait(&stop_signals, &signal);
  return server.Stop(std::chrono::seconds(5)).ok() ? 0 : 1;
}
