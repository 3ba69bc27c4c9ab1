// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_COROUTINE_CALL_H_
#define FARCALL_RPC_COROUTINE_CALL_H_

#include <coroutine>

#include "google/protobuf/service.h"
#include "google/protobuf/stubs/callback.h"

namespace farcall {

// A call that is awaited. Lives in the coroutine's frame, and is the call's closure too, so that
// awaiting allocates nothing.
template <typename Start>
class CallAwaiter final : public google::protobuf::Closure {
 public:
  CallAwaiter(google::protobuf::RpcController& controller, Start start)
      : controller_(controller), start_(start) {}

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    waiting_ = waiting;
    // A copy: the closure may run on another thread before this returns, and end this object.
    const Start start = start_;
    start(this);
  }
  bool await_resume() const { return !controller_.Failed(); }
  void Run() override { waiting_.resume(); }

 private:
  google::protobuf::RpcController& controller_;
  const Start start_;
  std::coroutine_handle<> waiting_;
};

// Awaits a call: the arguments are those of the stub's method without its closure.
//
//   const bool well = co_await CallAsync(stub, &EchoService_Stub::Echo, &controller, &request,
//   &response);
//
// False: it failed, and the controller tells why. All of them live until then, as variables of
// the coroutine do. It goes on where closures run, with no loop held; it may make further calls
// there, and should not block for long. StartCancel of the controller ends the wait.
template <typename Stub, typename StubClass, typename Request, typename Response>
[[nodiscard]] auto CallAsync(Stub& stub,
                             void (StubClass::*method)(google::protobuf::RpcController*,
                                                       const Request*, Response*,
                                                       google::protobuf::Closure*),
                             google::protobuf::RpcController* controller, const Request* request,
                             Response* response) {
  return CallAwaiter(*controller, [=, &stub](google::protobuf::Closure* done) {
    (stub.*method)(controller, request, response, done);
  });
}

}  // namespace farcall

#endif  // FARCALL_RPC_COROUTINE_CALL_H_
