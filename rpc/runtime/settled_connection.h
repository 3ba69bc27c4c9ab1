// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_RUNTIME_SETTLED_CONNECTION_H_
#define FARCALL_RPC_RUNTIME_SETTLED_CONNECTION_H_

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "rpc/controller.h"
#include "transport/base/time.h"
#include "transport/connection_info.h"

namespace farcall {

// Waits until it is settled whether RDMA carries a channel's calls. It is set up while calls travel
// over TCP, so this makes calls by `call`, synchronous ones, until one tells that RDMA carries them
// or why it cannot (ConnectionInfo::why_not_rdma), or for `limit`; then it is still kPending.
// Returns the connection of the last call. Whether calls succeed does not matter. kUnavailable: one
// had no connection. For programs that measure, or show what carries them: calls need not wait.
absl::StatusOr<std::shared_ptr<const ConnectionInfo>> SettledConnection(
    absl::FunctionRef<void(Controller&)> call, Duration limit);

}  // namespace farcall

#endif  // FARCALL_RPC_RUNTIME_SETTLED_CONNECTION_H_
