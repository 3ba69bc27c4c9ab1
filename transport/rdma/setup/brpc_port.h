// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_SETUP_BRPC_PORT_H_
#define FARCALL_TRANSPORT_RDMA_SETUP_BRPC_PORT_H_

#include "absl/status/statusor.h"
#include "transport/loop/event_loop.h"
#include "transport/rdma/device/local_port.h"
#include "transport/rdma/host/rdma_host.h"
#include "transport/upgrade.h"

namespace farcall {

// The port for a queue pair to brpc. Who knows the peer takes the best way to it, as for set-up
// over TCP (WaysTo); who does not, the port with the address of the TCP connection, else the one of
// which a connection more has the most. With the control loop held, after the host was ready. An
// error is a reason (why_not_rdma.h).
absl::StatusOr<LocalPort> ChooseBrpcPort(RdmaHost& host, const EventLoop& loop,
                                         const BrpcWish& wish);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_SETUP_BRPC_PORT_H_
