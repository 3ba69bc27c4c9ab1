// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_BENCHMARKS_ECHO_ECHO_CLIENT_H_
#define FARCALL_BENCHMARKS_ECHO_ECHO_CLIENT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/common/load_options.h"
#include "benchmarks/echo/echo_load.h"
#include "rpc/runtime/channel.h"
#include "rpc/runtime/runtime.h"

namespace farcall::bench {

// `threads` event loops; `polling`: event, adaptive or busy.
absl::StatusOr<std::unique_ptr<Runtime>> MakeRuntime(int threads, const std::string& polling);

// To options.server, by the flags of a client.
absl::StatusOr<std::unique_ptr<Channel>> MakeChannel(const LoadOptions& options, Runtime& runtime);

// Puts the load on, and prints the report. Fails when no call succeeded or some failed.
// With options.use_rdma the load waits until RDMA is set up, or known not to be had.
absl::Status RunEchoClient(const LoadOptions& options, bool put);

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_ECHO_ECHO_CLIENT_H_
