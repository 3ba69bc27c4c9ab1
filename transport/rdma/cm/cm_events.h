// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_CM_CM_EVENTS_H_
#define FARCALL_TRANSPORT_RDMA_CM_CM_EVENTS_H_

#include <rdma/rdma_cma.h>

#include <optional>

#include "transport/rdma/flow/accept_state.h"
#include "transport/rdma/flow/connect_state.h"

namespace farcall {

// What an event of rdma_cm means while a connection is set up, by the tables of connect_state.h
// and accept_state.h. Nothing: it says nothing about that.
std::optional<ConnectEvent> ConnectEventOf(rdma_cm_event_type type);
std::optional<AcceptEvent> AcceptEventOf(rdma_cm_event_type type);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CM_CM_EVENTS_H_
