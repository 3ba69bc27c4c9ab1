// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_SERVER_CALL_H_
#define FARCALL_RPC_SESSION_SERVER_SERVER_CALL_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "google/protobuf/service.h"
#include "rpc/controller.h"
#include "rpc/dispatch/handler_pool.h"
#include "rpc/dispatch/service_map.h"
#include "rpc/session/server/server_core.h"
#include "transport/loop/drive/blocking.h"
#include "transport/loop/queues/user_queue.h"

namespace farcall {

class ServerSession;

// One request on the server, from its admission to its answer, whatever protocol it came by. Lives
// as long as the session lists it, its handler runs, or somebody has yet to run its closure.
class ServerCall : public UserTask, private WatchedCode {
 public:
  // How the request was counted when it was admitted; filled by ServerSession::Admit.
  struct Admission {
    ServiceMap::Found method;
    ConcurrencyLimit::Entry at_server = ConcurrencyLimit::Entry::kFree;
    ConcurrencyLimit::Entry at_method = ConcurrencyLimit::Entry::kFree;
  };

  ServerCall(const ServerCall&) = delete;
  ServerCall& operator=(const ServerCall&) = delete;

  // Parses the request and runs the handler, unless it was claimed: once, with nothing held. Or
  // leaves that to a handler thread.
  void Run() final;
  // Gives it to the handler threads, if the method belongs there: then it may be gone. With the
  // session's loop held, before Run.
  bool GoToPool(HandlerPool::Calling calling) { return BelongsOnPool() && SubmitToPool(calling); }
  // Whoever asks first has the call: the thread that is to run it, or who answers it instead.
  bool Claim() { return !claimed_.exchange(true, std::memory_order_acq_rel); }
  // Ends a call that was claimed, and not run. Any thread, with nothing held.
  void Refuse(int code, absl::string_view text);
  // With the session's loop held: its connection has closed, or it was claimed. A call whose
  // request is not complete fails with this, and waits for nothing of it any more; others go on.
  virtual void GiveUp(int code, absl::string_view text) {
    static_cast<void>(code);
    static_cast<void>(text);
  }

  // Runs what the handler asked for with NotifyOnCancel. `closed`: its connection was, else the
  // call is over. With no loop held.
  void NotifyCancel(bool closed);

  Controller& controller() { return controller_; }
  const Controller& controller() const { return controller_; }
  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref(int count = 1);  // drops so many

  // The session's list, with its loop held.
  ServerCall* previous = nullptr;
  ServerCall* next = nullptr;

 protected:
  // With the session's loop held, from its protocol. There are two references: the closure's, and
  // that of Run, which drops it. What came with the request is set in controller() before Submit.
  ServerCall(ServerSession& session, const Admission& admission);
  virtual ~ServerCall() = default;

  // Other handlers wait for a thread, whose answers follow. Any thread, also after the Server.
  bool MoreWait() const;
  // Fills the request; on the handler's thread, with nothing held. An error fails the call with
  // its message: kResourceExhausted, there is no memory for it now, with EOVERCROWDED, others
  // with EREQUEST.
  virtual absl::Status ParseRequest(google::protobuf::Message& request) = 0;
  // Makes the answer of what controller() and `response` (null: the call has failed) say, and
  // brings it to the session: session()->Respond(*this, ...), on its loop, now or later. Once,
  // on any thread, with nothing held; must not throw. Before the session has it: Count.
  virtual void SendAnswer(const google::protobuf::Message* response) = 0;
  // The call ends with an answer of this code, which is not always controller()'s: what cannot be
  // encoded, or finds no memory, is answered with another. Once, before the answer leaves, whose
  // receiver may ask or call again at once. Returns the time, which it has read.
  TimePoint Count(int code);
  // Empty ones of its method, which go back to its MessagePool.
  std::unique_ptr<CallMessages> TakeMessages();
  // Bytes of the messages, set by the code that has read or writes them, so that they are measured
  // once.
  void set_request_bytes(size_t bytes) { request_bytes_ = bytes; }
  size_t MeasureResponse(const google::protobuf::Message& response) {
    if (response_bytes_ == MessagePool::kUnmeasured) response_bytes_ = response.ByteSizeLong();
    return response_bytes_;
  }
  // Of memory of the service into which the request came: OK, the handler runs next; else why none
  // does. Once, by Run, with nothing held.
  virtual void GiveMemoryBack(const absl::Status& how) { static_cast<void>(how); }
  // The last reference is gone.
  virtual void Dispose() { delete this; }

  const std::shared_ptr<ServerSession>& session() const { return session_; }
  // Of Dispose, which may use what the session keeps alive, and nothing else of the call.
  std::shared_ptr<ServerSession> TakeSession() { return std::move(session_); }
  ServerCore& core() const { return *core_; }
  const google::protobuf::MethodDescriptor& method() const { return *admission_.method.method; }
  const ServiceMap::Found& found() const { return admission_.method; }

 private:
  // What the handler gets as `done`: any thread, no loop held.
  class Done final : public google::protobuf::Closure {
   public:
    explicit Done(ServerCall& call) : call_(call) {}
    void Run() override { call_.Finish(); }

   private:
    ServerCall& call_;
  };

  bool BelongsOnPool() const {
    return core_->handlers != nullptr &&
           (core_->options.handlers_on_pool || admission_.method.state->pace.on_pool());
  }
  bool SubmitToPool(HandlerPool::Calling calling);
  // WatchedCode, where it was read and others can take over.
  void OnLong() override;
  void OnBlocking() override { EndCount(); }
  std::string Name() const override { return method().full_name(); }
  void EndCount();
  void EndWatched();
  void RunOnPool();
  void RunNow();
  CallMessages MakeMessages() const;
  bool MayRun();
  void FailUnparsed(const absl::Status& why);
  bool AskInterceptors();
  void CallHandler();
  void Finish();
  void GiveMessagesBack();
  void NotifyInterceptors();
  // Runs code of the program. What it threw is logged and returned.
  template <typename Code>
  std::optional<std::string> Guarded(absl::string_view whose, Code&& code);

  std::shared_ptr<ServerSession> session_;
  ServerCore* const core_;  // which the session keeps
  const Admission admission_;
  const TimePoint arrival_;
  std::atomic<int> references_{2};
  std::atomic<bool> claimed_{false};
  std::atomic<bool> finished_{false};
  bool on_pool_ = false;    // it was given to the handler threads
  bool ran_ = false;        // its handler was called
  bool counted_ = false;    // OnLong has counted it among the handlers that run
  size_t intercepted_ = 0;  // interceptors whose OnRequest was run
  Done done_{*this};
  Controller controller_;
  std::unique_ptr<CallMessages> messages_;  // null: it has not come so far
  size_t request_bytes_ = MessagePool::kUnmeasured;
  size_t response_bytes_ = MessagePool::kUnmeasured;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_SERVER_CALL_H_
