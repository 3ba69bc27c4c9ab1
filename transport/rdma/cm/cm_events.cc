// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/cm/cm_events.h"

namespace farcall {

std::optional<ConnectEvent> ConnectEventOf(rdma_cm_event_type type) {
  switch (type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      return ConnectEvent::kAddressResolved;
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      return ConnectEvent::kRouteResolved;
    case RDMA_CM_EVENT_ESTABLISHED:
      return ConnectEvent::kEstablished;
    case RDMA_CM_EVENT_ADDR_ERROR:
      return ConnectEvent::kAddressError;
    case RDMA_CM_EVENT_ROUTE_ERROR:
      return ConnectEvent::kRouteError;
    case RDMA_CM_EVENT_CONNECT_ERROR:
      return ConnectEvent::kConnectError;
    case RDMA_CM_EVENT_UNREACHABLE:
      return ConnectEvent::kUnreachable;
    case RDMA_CM_EVENT_REJECTED:
      return ConnectEvent::kRejected;
    case RDMA_CM_EVENT_DISCONNECTED:
      return ConnectEvent::kDisconnected;
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      return ConnectEvent::kDeviceRemoved;
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
