// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_CLIENT_CONNECT_TO_TARGET_H_
#define FARCALL_RPC_SESSION_CLIENT_CONNECT_TO_TARGET_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "rpc/naming/target.h"
#include "rpc/runtime_parts.h"
#include "transport/transport.h"

namespace farcall {

// Connects to a target: resolves its name, where it has one, and tries the addresses in
// turn, each for at most options.timeout. With `loop` held; `done` runs once, with the
// loop held, later. What `parts` point to outlives the attempt.
void ConnectToTarget(const RuntimeParts& parts, EventLoop& loop, const Target& target,
                     const ConnectOptions& options, Transport::OnConnect done);

// The same for the addresses (not empty) of a name that is resolved already; `target` is
// named in the error.
void ConnectInTurn(Transport& transport, EventLoop& loop, absl::string_view target,
                   std::vector<Address> addresses, const ConnectOptions& options,
                   Transport::OnConnect done);

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_CLIENT_CONNECT_TO_TARGET_H_
