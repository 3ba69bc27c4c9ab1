// SPDX-License-Identifier: Apache-2.0
//
// Which requests a ServerSession takes.

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "rpc/session/server_session.h"

namespace farcall {

Refusal ServerSession::Authenticate(absl::string_view credential) {
  auto context = core_->Verify(credential, info()->peer);
  if (!context.ok()) return {kAuthFailed, std::string(context.status().message())};
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
  core.unanswered.Begin();
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
      core.running.Begin();
      if (authenticated_) Trust();
      return {};
    }
    refusal = OverLimit(admission);
  }
  core.unanswered.End();
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

}  // namespace farcall
