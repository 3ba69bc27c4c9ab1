// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TCP_SOCKET_OPTIONS_H_
#define FARCALL_TRANSPORT_TCP_SOCKET_OPTIONS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/base/unique_fd.h"

namespace farcall {

// A non-blocking stream socket that no child process inherits. `family`: AF_INET,
// AF_INET6 or AF_UNIX. kResourceExhausted: out of file descriptors.
absl::StatusOr<UniqueFd> OpenStreamSocket(int family);

// For a connection, before connect(2) or after accept4(2). TCP_NODELAY: a turn's output
// leaves in one piece already, so waiting for more (RFC 896) would only cost time.
// A host that answers nothing for 2 minutes (power lost, a route gone) ends the connection, bytes
// under way or not; the kernel's own limits are a quarter of an hour and none. Not sooner, since a
// peer that reads nothing for so long while bytes wait for it counts as silent, too.
// `traffic_class` as in ConnectionOptions; the kernel keeps the two ECN bits of a TCP
// socket to itself, ip(7).
absl::Status ConfigureConnection(int fd, int family, int traffic_class);

// For a listener, before bind(2). SO_REUSEADDR: connections of a former process in
// TIME_WAIT do not hold the port. An IPv6 wildcard takes IPv4 too.
absl::Status ConfigureListener(int fd, int family, int traffic_class);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TCP_SOCKET_OPTIONS_H_
