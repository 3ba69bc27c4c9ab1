// SPDX-License-Identifier: Apache-2.0
//
// The accepting side of rdma_cm(7), as a table: what each event means in each state. It
// begins when RDMA_CM_EVENT_CONNECT_REQUEST has shown a good token.
//
//   kAdmitted --kPrepared--> kAccepting --kEstablished--> kOpen
//       |                         |
//       +-------------------------+--------------------> kFailed
//
// In kOpen the queue pair is its loop's, and what happens to it is no business of this. On iWARP
// the connecting side must send first: that its first message is waited for, which may be read
// before kEstablished, from another queue, is the message channel's (message_channel.h). Events of
// rdma_cm that are not listed mean nothing here.

#ifndef FARCALL_TRANSPORT_RDMA_FLOW_ACCEPT_STATE_H_
#define FARCALL_TRANSPORT_RDMA_FLOW_ACCEPT_STATE_H_

#include <cstdint>

#include "transport/why_not_rdma.h"

namespace farcall {

enum class AcceptState : uint8_t { kAdmitted, kAccepting, kOpen, kFailed };
constexpr int kAcceptStates = 4;

enum class AcceptEvent : uint8_t {
  kPrepared,       // the queue pair is there, and receives for its peer
  kEstablished,    // RDMA_CM_EVENT_ESTABLISHED
  kSetUpFailed,    // a call here failed, or there are no receives for it
  kConnectError,   // RDMA_CM_EVENT_CONNECT_ERROR, _UNREACHABLE, _REJECTED
  kDisconnected,   // RDMA_CM_EVENT_DISCONNECTED, or a completion in error
  kDeviceRemoved,  // RDMA_CM_EVENT_DEVICE_REMOVAL
  kTimeout,        // the time for all of it is over
  kCancelled,      // it is not waited for any more
};
constexpr int kAcceptEvents = 8;

enum class AcceptAction : uint8_t {
  kNone,
  kAccept,  // rdma_accept
  kOpen,    // the queue pair is given to its loop
  kReject,  // rdma_reject with the reason, and destroy what there is
  kFail,    // destroy what there is
};

struct AcceptStep {
  AcceptState next = AcceptState::kFailed;
  AcceptAction action = AcceptAction::kNone;
  WhyNotRdma why = WhyNotRdma::kInUse;  // of kReject: the reason that the peer gets

  bool operator==(const AcceptStep&) const = default;
};

// Total: no pair is undefined. In kOpen and kFailed nothing happens any more.
constexpr AcceptStep Advance(AcceptState state, AcceptEvent event) {
  using State = AcceptState;
  using Event = AcceptEvent;
  using Action = AcceptAction;
  switch (state) {
    case State::kAdmitted:
      // Before rdma_accept the peer still waits for an answer, while there is a device to
      // give it. The caller of kSetUpFailed knows better why.
      if (event == Event::kPrepared) return {State::kAccepting, Action::kAccept};
      if (event == Event::kSetUpFailed) {
        return {State::kFailed, Action::kReject, WhyNotRdma::kDeviceRefused};
      }
      if (event == Event::kTimeout) {
        return {State::kFailed, Action::kReject, WhyNotRdma::kTimedOut};
      }
      if (event == Event::kCancelled) {
        return {State::kFailed, Action::kReject, WhyNotRdma::kRejected};
      }
      return {State::kFailed, Action::kFail};
    case State::kAccepting:
      if (event == Event::kEstablished) return {State::kOpen, Action::kOpen};
      return {State::kFailed, Action::kFail};
    case State::kOpen:
    case State::kFailed:
      break;
  }
  return {state, Action::kNone};
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_FLOW_ACCEPT_STATE_H_
