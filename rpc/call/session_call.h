// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CALL_SESSION_CALL_H_
#define FARCALL_RPC_CALL_SESSION_CALL_H_

#include <memory>

#include "absl/strings/string_view.h"
#include "rpc/call/call_table.h"
#include "rpc/wire/frame.h"
#include "transport/buffer/buffer.h"
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
  // Its answer began and will never be whole: the request is not sent again, whatever the policy
  // says. As OnFailure otherwise, which it is where nothing is sent again anyway.
  virtual void OnBrokenAnswer(int code, absl::string_view text, const Info& connection) {
    OnFailure(code, text, /*may_have_run=*/true, connection);
  }
  // Memory for [offset, offset + bytes) of the attachment, of `size` bytes, of an answer without an
  // error that has begun to come: as Connection::Handler::PlaceFor. Empty: it has no place.
  virtual Buffer PlaceFor(size_t /*size*/, size_t /*offset*/, size_t /*bytes*/) { return {}; }
  // As Connection::Handler: the caller gets that memory back when it was dropped, even if the
  // attempt ended before.
  virtual std::shared_ptr<void> HoldPlace() { return nullptr; }
  // Ends the whole call that this is an attempt of, with ECANCELED. In the table until then.
  virtual void Cancel() = 0;
};

}  // namespace farcall

#endif  // FARCALL_RPC_CALL_SESSION_CALL_H_
