// SPDX-License-Identifier: Apache-2.0
//
// Which calls a ClientSession does not begin.

#include <string>

#include "absl/strings/str_cat.h"
#include "rpc/errors.h"
#include "rpc/session/client/client_session.h"

namespace farcall {

// Of the connection, after it got all that it shall send.
size_t ClientSession::Backlog() {
  output_.Flush();
  return connection_->backlog();
}

void ClientSession::Refuse(SessionCall& call, TimePoint deadline, size_t bytes) {
  const ChannelOptions& options = environment_->options;
  int code = kOvercrowded;
  std::string text;
  if (bytes > kFrameHeaderSize + max_request_body_ && connected()) {
    code = kBadRequest;
    text = absl::StrCat("the request has ", bytes - kFrameHeaderSize, " bytes, and ", target_.text,
                        " takes at most ", max_request_body_,
                        " (its max_body_size): send less at once, or raise the limit there");
  } else if (deadline <= loop_.now()) {
    code = kRpcTimedOut;
    text = absl::StrCat("no time was left to send the request to ", target_.text);
  } else if (Overfull(bytes)) {
    const size_t backlog = connected() ? Backlog() : waiting_.bytes();
    text = absl::StrCat(backlog, " bytes wait to be sent to ", target_.text,
                        " already (max_backlog ", options.max_backlog, ")");
  } else {
    text = absl::StrCat(calls_.size(), " calls wait for answers from ", target_.text,
                        " already (max_pending_calls)");
  }
  output_.Leave();
  Fail(call, code, text, /*may_have_run=*/false);
}

}  // namespace farcall
