// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CALL_CLIENT_CALL_H_
#define FARCALL_RPC_CALL_CLIENT_CALL_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"
#include "google/protobuf/service.h"
#include "rpc/call/call_table.h"
#include "rpc/controller.h"
#include "rpc/wire/frame.h"
#include "transport/loop/event_loop.h"

namespace farcall {

// One call on the client, from CallMethod to its end. With a closure it owns itself
// and ends as user code of its loop; without one it lives on the stack of the
// caller, who waits for it.
class ClientCall final : public PendingCall, public UserTask {
 public:
  // `controller` and `response` are the caller's and live until the call has ended.
  // `done` null: synchronous.
  ClientCall(Controller& controller, google::protobuf::Message* response,
             google::protobuf::Closure* done, const Clock& clock);

  bool synchronous() const { return done_ == nullptr; }
  TimePoint started() const { return started_; }
  // Whether StartCancel was called. Asked with the loop held, where the call begins to wait:
  // a cancellation that came to the loop before found nothing to cancel.
  bool canceled() const { return controller_.IsCanceled(); }

  // The outcome: one of these once, by whoever took the call, with its loop held or before
  // it came to one. Nothing of the call may be touched after Complete.
  void Fail(int code, absl::string_view text);
  void Answer(Frame& frame);
  void set_connection(std::shared_ptr<const ConnectionInfo> connection) {
    connection_ = std::move(connection);
  }
  // With `loop` held: wakes the caller, or queues the closure.
  void Complete(EventLoop& loop);

  // The caller of a synchronous call, no loop held: waits for Complete, then ends the call.
  void Wait();
  // Ends a call with a closure: with nothing held. Deletes this.
  void Run() override;

 private:
  void End();

  Controller& controller_;
  google::protobuf::Message* const response_;
  google::protobuf::Closure* const done_;
  const Clock& clock_;
  const TimePoint started_;

  int error_code_ = 0;
  std::string error_text_;
  Buffer payload_;
  Buffer attachment_;
  std::shared_ptr<const ConnectionInfo> connection_;

  std::mutex mutex_;
  std::condition_variable completed_;
  bool complete_ = false;  // guarded by mutex_
};

}  // namespace farcall

#endif  // FARCALL_RPC_CALL_CLIENT_CALL_H_
