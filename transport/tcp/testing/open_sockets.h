// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TCP_TESTING_OPEN_SOCKETS_H_
#define FARCALL_TRANSPORT_TCP_TESTING_OPEN_SOCKETS_H_

#include "transport/address.h"

namespace farcall {

// This process's socket between these two addresses; -1: there is none.
int FindSocket(const Address& local, const Address& peer);
// An integer option of it; -1: it has none.
int SocketOption(int fd, int level, int option);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TCP_TESTING_OPEN_SOCKETS_H_
