// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_SOCKADDR_H_
#define FARCALL_TRANSPORT_SOCKADDR_H_

#include <sys/socket.h>

#include "absl/status/statusor.h"
#include "transport/address.h"

namespace farcall {

// An address as the system calls want it.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
};

// kInvalidArgument for kNone.
absl::StatusOr<SocketAddress> ToSocketAddress(const Address& address);

// kNone for what an Address cannot say: the unnamed socket of a unix client, unix(7), or
// another family. An IPv4 peer of an IPv6 socket, ::ffff:a.b.c.d, becomes an IPv4 address.
Address FromSocketAddress(const SocketAddress& from);

// What getsockname(2) and getpeername(2) say; kNone where they fail.
Address LocalAddress(int fd);
Address PeerAddress(int fd);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_SOCKADDR_H_
