// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_CALL_H_
#define FARCALL_RPC_SESSION_SERVER_CALL_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "google/protobuf/message.h"
#include "google/protobuf/service.h"
#include "rpc/controller.h"
#include "rpc/dispatch/service_map.h"
#include "rpc/session/server_core.h"
#include "rpc/wire/frame.h"
#include "transport/loop/user_queue.h"

namespace farcall {

class ServerSession;

// One request on the server, from its frame to its answer. Lives as long as the session
// lists it, its handler runs, or somebody has yet to run its closure.
class ServerCall final : public UserTask {
 public:
  // With the session's loop held. Takes payload and attachment out of `frame`. The
  // first reference is the closure's.
  ServerCall(std::shared_ptr<ServerCore> core, std::shared_ptr<ServerSession> session,
             ServiceMap::Found method, Frame& frame, TimePoint now);
  ServerCall(const ServerCall&) = delete;
  ServerCall& operator=(const ServerCall&) = delete;

  // Parses the request and runs the handler: once, with nothing held.
  void Run() override;

  Controller& controller() { return controller_; }
  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref();

  // The session's list, with its loop held.
  ServerCall* previous = nullptr;
  ServerCall* next = nullptr;

 private:
  // What the handler gets as `done`: any thread, no loop held.
  class Done final : public google::protobuf::Closure {
   public:
    explicit Done(ServerCall& call) : call_(call) {}
    void Run() override { call_.Finish(); }

   private:
    ServerCall& call_;
  };

  ~ServerCall() = default;
  bool MayRun();
  void CallHandler();
  void Finish();
  void Send();

  const std::shared_ptr<ServerCore> core_;
  const std::shared_ptr<ServerSession> session_;
  const ServiceMap::Found method_;
  const int64_t correlation_id_;
  std::atomic<int> references_{1};
  std::atomic<bool> finished_{false};
  Done done_{*this};
  Controller controller_;
  Buffer payload_;
  std::unique_ptr<google::protobuf::Message> request_;
  std::unique_ptr<google::protobuf::Message> response_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_CALL_H_
