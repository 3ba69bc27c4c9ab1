// SPDX-License-Identifier: Apache-2.0
//
// Stream sockets by address: `host:port`, `[v6]:port`, `unix:PATH`. Blocking, with
// TCP_NODELAY where that exists, closed on exec.

#ifndef FARCALL_BENCHMARKS_RAW_ECHO_SOCKET_H_
#define FARCALL_BENCHMARKS_RAW_ECHO_SOCKET_H_

#include <cerrno>
#include <string>

#include "absl/status/statusor.h"
#include "transport/base/unique_fd.h"

namespace farcall::bench {

// Errors name the address. A unix socket's file is replaced by ListenOn if it is there.
absl::StatusOr<UniqueFd> ListenOn(const std::string& address);
absl::StatusOr<UniqueFd> ConnectTo(const std::string& address);

// Waits for a connection; -1 with errno otherwise. For a listening socket that blocks.
UniqueFd AcceptFrom(int listener);

// Why recv(2) or send(2) failed: nothing is wrong, it would have blocked or was interrupted.
inline bool TryAgain() { return errno == EAGAIN || errno == EINTR; }
// Where a socket is bound to, as ConnectTo takes it.
std::string AddressOf(int fd);

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_RAW_ECHO_SOCKET_H_
