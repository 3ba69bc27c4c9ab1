// SPDX-License-Identifier: Apache-2.0
//
// A server and a client, each on a runtime of its own, over real sockets.

#ifndef FARCALL_RPC_TESTING_TEST_PEERS_H_
#define FARCALL_RPC_TESTING_TEST_PEERS_H_

#include <memory>
#include <string>

#include "rpc/runtime/channel.h"
#include "rpc/runtime/runtime.h"
#include "rpc/runtime/server.h"
#include "rpc/testing/log_lines.h"
#include "rpc/testing/scripted_service.h"
#include "transport/buffer/block_pool.h"

namespace farcall {

// One loop: so that what can meet on it does. Devices are found or missed, however busy the
// machine.
RuntimeOptions OneLoop();
// Deadlines that decide no test, even on a machine under load; and what a single attempt comes to.
ChannelOptions Patient();
// Where handlers run, beside the default: always on their loop, and always on handler threads.
ServerOptions Inline();
ServerOptions OnPool(int threads = 2);
// `options` on `runtime`.
std::unique_ptr<Channel> OpenChannel(const std::string& target, Runtime& runtime,
                                     ChannelOptions options = Patient());

// A runtime and its log.
class TestRuntime {
 public:
  explicit TestRuntime(RuntimeOptions options = OneLoop());

  Runtime& operator*() { return *runtime_; }
  LogLines& log() { return log_; }
  // Bytes in blocks that somebody refers to.
  size_t used_bytes() const { return pool().stats().used_bytes; }
  BlockPool& pool() const { return *runtime_->parts().pool; }

 private:
  LogLines log_;
  std::unique_ptr<Runtime> runtime_;
};

// A server that has started.
class TestServer {
 public:
  // options.runtime null: one of its own.
  explicit TestServer(EchoHandler echo = EchoBack, ServerOptions options = {},
                      const std::string& address = "127.0.0.1:0",
                      const ServiceOptions& service = {});

  std::string address() const { return server_->listen_address().ToString(); }
  Server& server() { return *server_; }
  ScriptedService& service() { return service_; }
  // Of the runtime of its own.
  TestRuntime& runtime() { return *runtime_; }
  LogLines& log() { return runtime_->log(); }
  // The server is destroyed; what is left is the runtime.
  void Destroy() { server_ = nullptr; }

 private:
  std::unique_ptr<TestRuntime> runtime_;
  ScriptedService service_;
  std::unique_ptr<Server> server_ = std::make_unique<Server>();
};

// A channel on a runtime of its own.
class TestClient {
 public:
  explicit TestClient(const std::string& target, const ChannelOptions& options = Patient(),
                      const RuntimeOptions& runtime = OneLoop())
      : runtime_(runtime), channel_(OpenChannel(target, *runtime_, options)) {}

  Channel& channel() { return *channel_; }
  TestRuntime& runtime() { return runtime_; }
  LogLines& log() { return runtime_.log(); }
  // The channel is destroyed; what is left is the runtime.
  void Destroy() { channel_ = nullptr; }

 private:
  TestRuntime runtime_;
  std::unique_ptr<Channel> channel_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_TEST_PEERS_H_
