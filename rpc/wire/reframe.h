// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_WIRE_REFRAME_H_
#define FARCALL_RPC_WIRE_REFRAME_H_

#include "absl/functional/function_ref.h"
#include "rpc/wire/rpc_meta.pb.h"
#include "transport/base/time.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// The same frame with another meta: what `change` makes of it. Payload and attachment are
// shared, not copied. `frame` is one whole frame that this process encoded. For what is
// rare: it parses the meta and writes it anew.
Buffer Reframe(Buffer frame, absl::FunctionRef<void(wire::RpcMeta&)> change);

// The time that a request has left, in milliseconds, rounded up and at least 1: 0 is no limit.
void SetTimeLeft(wire::RpcMeta& meta, Duration left);

}  // namespace farcall

#endif  // FARCALL_RPC_WIRE_REFRAME_H_
