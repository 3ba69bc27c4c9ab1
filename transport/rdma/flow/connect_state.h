// SPDX-License-Identifier: Apache-2.0
//
// The connecting side of rdma_cm(7), as a table: what each event means in each state.
//
//   kResolvingAddress --kAddressResolved--> kResolvingRoute --kRouteResolved--> kConnecting
//          |                                      |                                 |
//          |                                      |                           kEstablished
//          |                                      |                                 v
//          +-- any error, timeout, removal, or    |                               kOpen
//              an event out of its turn           |                                 |
//          v                                      v                                 v
//       kFailed <-----------------------------------------------------------  kDisconnected ...
//
// The first action, rdma_resolve_addr, is the start's. A time limit covers all of it. Events
// of rdma_cm that are not listed (RDMA_CM_EVENT_TIMEWAIT_EXIT, _ADDR_CHANGE) mean nothing here.

#ifndef FARCALL_TRANSPORT_RDMA_FLOW_CONNECT_STATE_H_
#define FARCALL_TRANSPORT_RDMA_FLOW_CONNECT_STATE_H_

#include <cstdint>

#include "transport/why_not_rdma.h"

namespace farcall {

enum class ConnectState : uint8_t {
  kResolvingAddress,
  kResolvingRoute,
  kConnecting,
  kOpen,
  kFailed
};
constexpr int kConnectStates = 5;

enum class ConnectEvent : uint8_t {
  kAddressResolved,  // RDMA_CM_EVENT_ADDR_RESOLVED
  kRouteResolved,    // RDMA_CM_EVENT_ROUTE_RESOLVED
  kEstablished,      // RDMA_CM_EVENT_ESTABLISHED, with accept data that can be used
  kBadAnswer,        // the same, with accept data that cannot
  kAddressError,     // RDMA_CM_EVENT_ADDR_ERROR
  kRouteError,       // RDMA_CM_EVENT_ROUTE_ERROR
  kConnectError,     // RDMA_CM_EVENT_CONNECT_ERROR
  kUnreachable,      // RDMA_CM_EVENT_UNREACHABLE
  kRejected,         // RDMA_CM_EVENT_REJECTED; its data may give a better reason
  kSetUpFailed,      // a call here failed: rdma_create_qp, posting, rdma_connect
  kDisconnected,     // RDMA_CM_EVENT_DISCONNECTED
  kDeviceRemoved,    // RDMA_CM_EVENT_DEVICE_REMOVAL
  kTimeout,          // the time for all of it is over
  kCancelled,        // it is not waited for any more
};
constexpr int kConnectEvents = 14;

enum class ConnectAction : uint8_t {
  kNone,
  kResolveRoute,  // rdma_resolve_route
  kConnect,       // join the ledger, rdma_create_qp, rdma_connect
  kOpen,          // hand the queue pair to its loop, which sends first: a bare count
  kFail,          // destroy what there is, and say why
  kClose,         // the open connection gets the reason why it broke
  kDrop,          // destroy what there is, without a callback
};

struct ConnectStep {
  ConnectState next = ConnectState::kFailed;
  ConnectAction action = ConnectAction::kNone;
  WhyNotRdma why = WhyNotRdma::kInUse;  // of kFail and kClose

  bool operator==(const ConnectStep&) const = default;
};

// Total: no pair is undefined. In kFailed nothing happens any more.
constexpr ConnectStep Advance(ConnectState state, ConnectEvent event) {
  using State = ConnectState;
  using Event = ConnectEvent;
  using Action = ConnectAction;
  if (state == State::kFailed) return {};
  if (event == Event::kCancelled) return {State::kFailed, Action::kDrop};
  if (state == State::kOpen) {
    switch (event) {
      case Event::kDisconnected:
      case Event::kDeviceRemoved:
      case Event::kConnectError:
      case Event::kUnreachable:
      case Event::kRejected:
      case Event::kBadAnswer:
      case Event::kSetUpFailed:
        return {State::kFailed, Action::kClose, WhyNotRdma::kBroken};
      default:  // what came too late
        return {State::kOpen, Action::kNone};
    }
  }
  if (state == State::kResolvingAddress && event == Event::kAddressResolved) {
    return {State::kResolvingRoute, Action::kResolveRoute};
  }
  if (state == State::kResolvingRoute && event == Event::kRouteResolved) {
    return {State::kConnecting, Action::kConnect};
  }
  if (state == State::kConnecting && event == Event::kEstablished) {
    return {State::kOpen, Action::kOpen};
  }
  const auto fail = [](WhyNotRdma why) { return ConnectStep{State::kFailed, Action::kFail, why}; };
  switch (event) {
    case Event::kAddressError:
    case Event::kRouteError:
    case Event::kUnreachable:
      return fail(WhyNotRdma::kUnreachable);
    case Event::kRejected:
    case Event::kBadAnswer:
      return fail(WhyNotRdma::kRejected);
    case Event::kSetUpFailed:
      return fail(WhyNotRdma::kDeviceRefused);
    case Event::kTimeout:
      return fail(WhyNotRdma::kTimedOut);
    default:  // it broke, or came out of its turn
      return fail(WhyNotRdma::kBroken);
  }
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_FLOW_CONNECT_STATE_H_
