// SPDX-License-Identifier: Apache-2.0
//
// rdma_cm(7) chooses a port that no other id has. An iWARP device then takes the same one of
// TCP, in rdma_connect(3) and rdma_listen(3), which fail where a socket has it, or had it not
// long ago (TIME_WAIT). A new id gets another port.

#ifndef FARCALL_TRANSPORT_RDMA_CM_CM_PORTS_H_
#define FARCALL_TRANSPORT_RDMA_CM_CM_PORTS_H_

#include <cerrno>

namespace farcall {

// Ids in all that are tried for one connection or listener.
constexpr int kPortTries = 16;

// `error`: the errno of rdma_connect or rdma_listen.
constexpr bool TcpHasPort(int error) { return error == EADDRINUSE || error == EADDRNOTAVAIL; }

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CM_CM_PORTS_H_
