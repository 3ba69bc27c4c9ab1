// SPDX-License-Identifier: Apache-2.0

#include "transport/tcp/testing/open_sockets.h"

#include <sys/socket.h>

#include "transport/sockaddr.h"

namespace farcall {

int FindSocket(const Address& local, const Address& peer) {
  constexpr int kMaxOfATest = 4096;
  for (int fd = 0; fd < kMaxOfATest; ++fd) {
    const Address its_peer = PeerAddress(fd);
    if (its_peer.family() != AddressFamily::kNone && its_peer == peer &&
        LocalAddress(fd) == local) {
      return fd;
    }
  }
  return -1;
}

int SocketOption(int fd, int level, int option) {
  int value = -1;
  socklen_t length = sizeof(value);
  return ::getsockopt(fd, level, option, &value, &length) == 0 ? value : -1;
}

}  // namespace farcall
