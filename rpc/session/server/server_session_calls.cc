// SPDX-License-Identifier: Apache-2.0
//
// Which requests a ServerSession takes, and the list of its calls that have no answer yet.

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "rpc/errors.h"
#include "rpc/session/server/server_call.h"
#include "rpc/session/server/server_session.h"
#include "transport/loop/event_loop.h"

namespace farcall {
namespace {

// Notifies the handlers of calls whose connection closed: user code of the loop, since a
// handler may have asked for a callback.
class CancelNotice final : public UserTask {
 public:
  // `calls`: a session's list, not empty. With `loop` held.
  static void Queue(EventLoop& loop, ServerCall* calls) {
    CancelNotice* const notice = new CancelNotice;
    for (ServerCall* call = calls; call != nullptr; call = call->next) {
      call->Ref();
      notice->calls_.push_back(call);
    }
    loop.RunUser(*notice);
  }

  void Run() override {
    for (ServerCall* const call : calls_) {
      call->NotifyCancel(/*closed=*/true);
      call->Unref();
    }
    delete this;
  }

 private:
  std::vector<ServerCall*> calls_;
};

}  // namespace

Refusal ServerSession::Authenticate(absl::string_view credential) {
  auto context = core_->Verify(credential, info()->peer);
  if (!context.ok()) {
    core_->counters.auth_failed.fetch_add(1, std::memory_order_relaxed);
    return {kAuthFailed, std::string(context.status().message())};
  }
  authenticated_ = true;
  auth_context_ = std::make_shared<const AuthContext>(*std::move(context));
  Trust();
  return {};
}

// By its credential; without an authenticator, by a good request.
void ServerSession::Trust() {
  if (!std::exchange(trusted_, true)) connection_->TrustPeer();
}

Refusal ServerSession::Admit(const ServiceMap::Found& method, ServerCall::Admission& admission) {
  Refusal refusal = Enter(method, admission);
  if (refusal.code != 0) CountRefused(method, refusal.code);
  return refusal;
}

void ServerSession::CountRefused(const ServiceMap::Found& method, int code) {
  if (method.method == nullptr) return;
  core_->sampler.OnCall(loop_.now());
  method.state->stats.OnRefused(code);
}

Refusal ServerSession::Enter(const ServiceMap::Found& method, ServerCall::Admission& admission) {
  ServerCore& core = *core_;
  // Before counting: Stop tells how many calls it has left without an answer, and this is none.
  if (core.stopping.load()) return Stopping();
  core.unanswered.Begin(loop_index_);
  Refusal refusal;
  // And after it: Stop sets it before it waits, so it waits for all that are admitted.
  if (core.stopping.load()) {
    refusal = Stopping();
  } else {
    using Entry = ConcurrencyLimit::Entry;
    admission.method = method;
    admission.at_server = core.limit.Begin();
    admission.at_method =
        admission.at_server == Entry::kRefused ? Entry::kRefused : method.state->limit.Begin();
    if (admission.at_method != Entry::kRefused) {
      method.state->stats.OnStart();
      core.running.Begin(loop_index_);
      if (authenticated_) Trust();
      return {};
    }
    refusal = OverLimit(admission);
  }
  core.unanswered.End(loop_index_);
  return refusal;
}

Refusal ServerSession::Stopping() {
  core_->counters.refused_logoff.fetch_add(1, std::memory_order_relaxed);
  return {kLogoff, "the server is stopping"};
}

Refusal ServerSession::OverLimit(const ServerCall::Admission& admission) {
  using Entry = ConcurrencyLimit::Entry;
  core_->counters.refused_limit.fetch_add(1, std::memory_order_relaxed);
  if (admission.at_server == Entry::kRefused) {
    return {kLimit, absl::StrCat("max_concurrency ", core_->limit.limit(), " is reached")};
  }
  core_->limit.Revoke(admission.at_server);
  return {kLimit, absl::StrCat("max_concurrency ", admission.method.state->limit.limit(), " of ",
                               admission.method.method->full_name(), " is reached")};
}

std::vector<ServerCall*> ServerSession::ClaimWaiting() {
  std::vector<ServerCall*> waiting;
  for (ServerCall* call = calls_; call != nullptr; call = call->next) {
    if (!call->Claim()) continue;
    call->Ref();
    waiting.push_back(call);
    call->GiveUp(kLogoff, "the server is stopping");
  }
  return waiting;
}

// Ends calls whose request is not complete; the others are cancelled: their client has gone.
void ServerSession::EndCalls(const absl::Status& why) {
  const std::string text = absl::StrCat("the connection closed: ", why.message());
  for (ServerCall* call = calls_; call != nullptr;) {
    ServerCall* const next = call->next;
    call->GiveUp(kFailedSocket, text);
    call = next;
  }
  CancelNotice::Queue(loop_, calls_);
}

void ServerSession::Expect(ServerCall& call) {
  call.Ref();
  call.next = calls_;
  if (calls_ != nullptr) calls_->previous = &call;
  calls_ = &call;
  ++call_count_;
}

void ServerSession::Unlist(ServerCall& call) {
  (call.previous != nullptr ? call.previous->next : calls_) = call.next;
  if (call.next != nullptr) call.next->previous = call.previous;
  --call_count_;
}

}  // namespace farcall
