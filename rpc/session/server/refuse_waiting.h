// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_REFUSE_WAITING_H_
#define FARCALL_RPC_SESSION_SERVER_REFUSE_WAITING_H_

#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "rpc/session/server/server_session.h"
#include "transport/base/time.h"

namespace farcall {

// Answers the calls of `sessions` whose handlers have not begun, and will not. Any thread, with
// nothing held; waits for loops that are busy, at most for `timeout`.
void RefuseWaiting(const std::vector<std::shared_ptr<ServerSession>>& sessions, int code,
                   absl::string_view text, Duration timeout);

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_REFUSE_WAITING_H_
