// SPDX-License-Identifier: Apache-2.0
//
// The list of the calls of a ServerSession that have no answer yet.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "rpc/errors.h"
#include "rpc/session/cancel_notice.h"
#include "rpc/session/server_call.h"
#include "rpc/session/server_session.h"

namespace farcall {

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
