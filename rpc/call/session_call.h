// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CALL_SESSION_CALL_H_
#define FARCALL_RPC_CALL_SESSION_CALL_H_

#include <memory>

#include "absl/strings/string_view.h"
#include "rpc/call/call_table.h"
#include "rpc/wire/frame.h"
#include "transport/connection_info.h"

namespace farcall {

// One attempt of a call, as the session that carries it sees it. Ends exactly once, by one of
// these, with the loop held and out of the session's table; unless it is forgotten before.
class SessionCall : public PendingCall {
 public:
  using Info = std::shared_ptr<const ConnectionInfo>;

  virtual ~SessionCall() = default;
  // An answer came, an error perhaps. May take payload and attachment out of `frame`.
  virtual void OnAnswer(Frame& frame, const Info& connection) = 0;
  // None will. `may_have_run`: see RetryPolicy. `connection` is null where there was none.
  // May start calls on the session.
  virtual void OnFailure(int code, absl::string_view text, bool may_have_run,
                         const Info& connection) = 0;
  // Ends the whole call that this is an attempt of, with ECANCELED. In the table until then.
  virtual void Cancel() = 0;
};

}  // namespace farcall

#endif  // FARCALL_RPC_CALL_SESSION_CALL_H_
