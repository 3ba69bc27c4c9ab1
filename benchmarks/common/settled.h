// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_BENCHMARKS_COMMON_SETTLED_H_
#define FARCALL_BENCHMARKS_COMMON_SETTLED_H_

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "rpc/controller.h"
#include "transport/base/time.h"
#include "transport/connection_info.h"

namespace farcall::bench {

// RDMA is set up while calls travel over TCP. Makes calls, by `call`, until one has told that RDMA
// carries them or cannot be had, or for `limit`; returns the connection of the last one. Whether
// calls succeed does not matter. kUnavailable: one had no connection.
absl::StatusOr<std::shared_ptr<const ConnectionInfo>> SettledConnection(
    absl::FunctionRef<void(Controller&)> call, Duration limit);

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_COMMON_SETTLED_H_
