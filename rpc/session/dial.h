// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_DIAL_H_
#define FARCALL_RPC_SESSION_DIAL_H_

#include "rpc/cluster/target.h"
#include "rpc/runtime_parts.h"
#include "transport/transport.h"

namespace farcall {

// Connects to a target: resolves its name, where it has one, and tries the addresses in
// turn, each for at most options.timeout. With `loop` held; `done` runs once, with the
// loop held, later. What `parts` point to outlives the attempt.
void Dial(const RuntimeParts& parts, EventLoop& loop, const Target& target,
          const ConnectOptions& options, Transport::OnConnect done);

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_DIAL_H_
