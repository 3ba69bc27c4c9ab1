// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_RUNTIME_RUN_UNTIL_ASKED_TO_QUIT_H_
#define FARCALL_RPC_RUNTIME_RUN_UNTIL_ASKED_TO_QUIT_H_

#include <chrono>

#include "absl/status/status.h"
#include "rpc/runtime/server.h"
#include "transport/base/time.h"

namespace farcall {

// For main(), after Server::Start: waits for SIGTERM or SIGINT, as Kubernetes, systemd and Ctrl-C
// send them, then stops `server`, which finishes within `grace` what it has begun, and returns
// what Server::Stop says. A second signal ends the process at once, with status 128 + its number.
// Choose a grace shorter than what follows the signal with SIGKILL (terminationGracePeriodSeconds).
//
//   if (absl::Status started = server.Start(8002); !started.ok()) ...;
//   absl::Status stopped = farcall::RunUntilAskedToQuit(server, std::chrono::seconds(20));
//
// The signals are caught from here until it returns, whatever threads there are; then they are
// treated as before. Nothing else ends the wait. One call at a time in a process: another fails
// with kFailedPrecondition.
absl::Status RunUntilAskedToQuit(Server& server, Duration grace = std::chrono::seconds(10));

}  // namespace farcall

#endif  // FARCALL_RPC_RUNTIME_RUN_UNTIL_ASKED_TO_QUIT_H_
