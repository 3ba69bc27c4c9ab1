// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_CM_CM_OPTIONS_H_
#define FARCALL_TRANSPORT_RDMA_CM_CM_OPTIONS_H_

#include <cerrno>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transport/rdma/cm/endpoint.h"
#include "transport/rdma/device/rdma_parts.h"
#include "transport/rdma/verbs/verbs_api.h"
#include "transport/rdma_options.h"
#include "transport/sockaddr.h"

namespace farcall {

// rdma_cm(7) chooses a port that no other id has. An iWARP device then takes the same one of TCP,
// in rdma_connect(3) and rdma_listen(3), which fail where a socket has it, or had it not long ago
// (TIME_WAIT). A new id gets another port: so many ids in all are tried for a connection or
// listener.
constexpr int kPortTries = 16;

// `error`: the errno of rdma_connect or rdma_listen.
constexpr bool TcpHasPort(int error) { return error == EADDRINUSE || error == EADDRNOTAVAIL; }

// What both ends set on a new id, before its route is resolved or it is accepted: the type
// of service (nothing for 0) and the time after which a packet counts as lost, which is
// local to each end.
absl::Status SetCmOptions(const RdmaParts& parts, rdma_cm_id& id, int traffic_class);

// Of rdma_connect(3) and rdma_accept(3). `data` outlives the call. `answers`, `begins`: RDMA
// READs at once, of the peer and of this end; one at least is asked for.
rdma_conn_param ConnectParameters(const RdmaOptions& options, absl::string_view data,
                                  uint8_t answers, uint8_t begins);

// What a reject without data of ours means.
absl::Status RejectStatus(int reason);

// Why not RDMA, where the last call of `end` failed with this errno.
absl::Status SetUpError(const Endpoint& end, int error);

// The ends of an id, with their ports.
SocketAddress LocalOf(const rdma_cm_id& id);
SocketAddress PeerOf(const rdma_cm_id& id);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CM_CM_OPTIONS_H_
