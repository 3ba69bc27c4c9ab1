// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/cm/cm_events.h"

namespace farcall {

std::optional<DialEvent> DialEventOf(rdma_cm_event_type type) {
  switch (type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      return DialEvent::kAddressResolved;
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      return DialEvent::kRouteResolved;
    case RDMA_CM_EVENT_ESTABLISHED:
      return DialEvent::kEstablished;
    case RDMA_CM_EVENT_ADDR_ERROR:
      return DialEvent::kAddressError;
    case RDMA_CM_EVENT_ROUTE_ERROR:
      return DialEvent::kRouteError;
    case RDMA_CM_EVENT_CONNECT_ERROR:
      return DialEvent::kConnectError;
    case RDMA_CM_EVENT_UNREACHABLE:
      return DialEvent::kUnreachable;
    case RDMA_CM_EVENT_REJECTED:
      return DialEvent::kRejected;
    case RDMA_CM_EVENT_DISCONNECTED:
      return DialEvent::kDisconnected;
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      return DialEvent::kDeviceRemoved;
    default:  // says nothing about this connection
      return std::nullopt;
  }
}

std::optional<AcceptEvent> AcceptEventOf(rdma_cm_event_type type) {
  switch (type) {
    case RDMA_CM_EVENT_ESTABLISHED:
      return AcceptEvent::kEstablished;
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_REJECTED:
      return AcceptEvent::kConnectError;
    case RDMA_CM_EVENT_DISCONNECTED:
      return AcceptEvent::kDisconnected;
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      return AcceptEvent::kDeviceRemoved;
    default:  // says nothing about this connection
      return std::nullopt;
  }
}

}  // namespace farcall
