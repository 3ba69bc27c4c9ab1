// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CALL_CLIENT_CALL_H_
#define FARCALL_RPC_CALL_CLIENT_CALL_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/service.h"
#include "rpc/call/answer_place.h"
#include "rpc/controller.h"
#include "rpc/interceptor.h"
#include "rpc/options.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/pack.h"
#include "transport/base/on_demand.h"
#include "transport/copy_tally.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/loop_visitor.h"

namespace farcall {

// What calls of one channel share when they end, on the threads of their closures.
struct CallEnvironment {
  const Clock* clock = nullptr;
  BlockPool* pool = nullptr;
  size_t max_body_size = 0;
  std::vector<std::shared_ptr<ClientInterceptor>> interceptors;
  CopyTally* copied = nullptr;  // null: not counted
  LogSink log = nullptr;        // null: no log
};

// One call on the client, from CallMethod to its end: its outcome, and how the program learns
// of it. With a closure it owns itself and ends as user code of its loop; without one it lives on
// the stack of the caller, who waits for it.
class ClientCall : public UserTask {
 public:
  using Info = std::shared_ptr<const ConnectionInfo>;

  // `controller`, `response` and `method` are the caller's and live until the call has ended.
  // `done` null: synchronous.
  ClientCall(std::shared_ptr<const CallEnvironment> environment,
             const google::protobuf::MethodDescriptor& method, Controller& controller,
             google::protobuf::Message* response, google::protobuf::Closure* done)
      : environment_(std::move(environment)),
        method_(method),
        controller_(controller),
        response_(response),
        done_(done),
        started_(environment_->clock->Now()) {}
  virtual ~ClientCall() = default;

  // Of kSmallHead bytes: for the head of the request, and once the answer has come for the message
  // of that.
  char* memory() { return memory_; }

  bool synchronous() const { return done_ == nullptr; }
  TimePoint started() const { return started_; }
  // Whether StartCancel was called. Asked with the loop held, where the call begins to wait:
  // a cancellation that came to the loop before found nothing to cancel.
  bool canceled() const { return controller_.IsCanceled(); }

  // Before the call begins, on the caller's thread: false, and the controller has failed. What the
  // controller holds from then on is what the call goes by.
  bool AskInterceptors(const google::protobuf::Message& request) {
    const bool none = environment_->interceptors.empty() && !controller_.has_response_memory();
    return none || AskEach(request);
  }
  // Whether interceptors were asked, which may have taken their time.
  bool asked_interceptors() const { return asked_ > 0; }
  // Then: bytes of memory that the caller has set for the attachment of the answer.
  size_t response_memory() const { return extras_.made() ? extras_.IfMade()->place.size() : 0; }

  // The outcome: the last one of these counts, by whoever ends the call, with its loop held or
  // before it came to one. Nothing of the call may be touched after Complete.
  void Fail(int code, absl::string_view text);
  void Answer(Frame& frame);
  void set_connection(const Info& connection) { connection_ = connection; }
  void set_attempts(int retried, bool backup) {
    retried_ = retried;
    backup_ = backup;
  }
  // With `loop` held: wakes the caller, or queues the closure; once no device writes to the memory
  // that the caller set for the answer any more.
  void Complete(EventLoop& loop);

  // The caller of a synchronous call, no loop held: waits for Complete, with the same loop, which
  // it drives meanwhile if no other thread does; then ends the call.
  void Wait(EventLoop& loop);
  // Ends a call with a closure: with nothing held. Disposes of this.
  void Run() override;

 protected:
  // With the loop held. Null, or not set: there is no memory for the attachment of the answer.
  AnswerPlace* place() { return extras_.made() ? &extras_.Get().place : nullptr; }
  // Until it is dropped, with the loop held, a device may write to what was lent last, and the call
  // does not complete.
  std::shared_ptr<void> HoldPlace();
  // The end of a call that owns itself. Which may use what the environment keeps alive, by
  // TakeEnvironment, and nothing else of the call.
  virtual void Dispose() { delete this; }
  std::shared_ptr<const CallEnvironment> TakeEnvironment() { return std::move(environment_); }

 private:
  // What few calls have.
  struct Extras {
    std::string error_text;
    PayloadInfo payload_info;
    Buffer payload;
    Buffer attachment;
    AnswerPlace place;
    UserFields user_fields;
  };

  bool AskEach(const google::protobuf::Message& request);
  void End();
  // Runs code of an interceptor. Whether it threw, which fails the call and is logged.
  template <typename Code>
  bool FailIfThrows(Code&& code);
  bool TakeFields(const wire::RpcMeta& meta);
  void TakeError(const wire::RpcResponseMeta& response);
  void TakePayload(Frame& frame);
  bool ParseSmall();
  bool ParseOrFail();
  absl::Status ParseResponse();
  void TakeResponse();
  void TakeExtras();
  void LandAttachment(Extras& came);
  void OnPlaceDropped();
  void NotifyInterceptors();

  std::shared_ptr<const CallEnvironment> environment_;
  const google::protobuf::MethodDescriptor& method_;
  Controller& controller_;
  google::protobuf::Message* const response_;
  google::protobuf::Closure* const done_;
  const TimePoint started_;

  int error_code_ = 0;
  int retried_ = 0;
  bool backup_ = false;
  std::optional<size_t> small_payload_;  // in place of Extras::payload: so many bytes of memory_
  size_t asked_ = 0;                     // interceptors whose OnCall was run
  EventLoop* complete_on_ = nullptr;     // set: complete, but for Extras::place
  Info connection_;
  LoopVisitor caller_;  // of a synchronous call
  // When the answer comes, a call has often left the caches. Most calls touch nothing from here to
  // memory_ but the flag in front.
  OnDemand<Extras> extras_;
  char memory_[kSmallHead];
};

}  // namespace farcall

#endif  // FARCALL_RPC_CALL_CLIENT_CALL_H_
