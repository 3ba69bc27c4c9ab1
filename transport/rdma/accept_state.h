// SPDX-License-Identifier: Apache-2.0
//
// The accepting side of rdma_cm(7), as a table: what each event means in each state. It
// begins when RDMA_CM_EVENT_CONNECT_REQUEST has shown a good token.
//
//   kAdmitted --kPrepared--> kAccepting --kEstablished--> kEstablished
//       |                         |                            |
//       |                         +------ kFirstMessage -------+------> kOpen
//       v                         v                            v          v
//    kFailed <------------------------------------------------------------+
//
// On iWARP the connecting side must send first, so nothing is sent before its first message
// has come, on any kind of device. That message may be read before kEstablished, from another
// queue, and says as much. Events of rdma_cm that are not listed mean nothing here.

#ifndef FARCALL_TRANSPORT_RDMA_ACCEPT_STATE_H_
#define FARCALL_TRANSPORT_RDMA_ACCEPT_STATE_H_

#include <cstdint>

#include "transport/why_not_rdma.h"

namespace farcall {

enum class AcceptState : uint8_t { kAdmitted, kAccepting, kEstablished, kOpen, kFailed };
constexpr int kAcceptStates = 5;

enum class AcceptEvent : uint8_t {
  kPrepared,       // the queue pair is there, and receives for its peer
  kEstablished,    // RDMA_CM_EVENT_ESTABLISHED
  kFirstMessage,   // the first completed receive
  kSetUpFailed,    // a call here failed, or there are no receives for it
  kConnectError,   // RDMA_CM_EVENT_CONNECT_ERROR, _UNREACHABLE, _REJECTED
  kDisconnected,   // RDMA_CM_EVENT_DISCONNECTED, or a completion in error
  kDeviceRemoved,  // RDMA_CM_EVENT_DEVICE_REMOVAL
  kTimeout,        // the time for all of it is over
  kCancelled,      // nobody waits for it any more
};
constexpr int kAcceptEvents = 9;

enum class AcceptAction : uint8_t {
  kNone,
  kAccept,  // rdma_accept
  kOpen,    // what waited to be sent may be sent
  kReject,  // rdma_reject with the reason, and destroy what there is
  kFail,    // destroy what there is, and say why
  kClose,   // the open connection is told that it broke, and why
  kDrop,    // destroy what there is; nobody is told
};

struct AcceptStep {
  AcceptState next = AcceptState::kFailed;
  AcceptAction action = AcceptAction::kNone;
  WhyNotRdma why = WhyNotRdma::kInUse;  // of kReject, kFail and kClose

  bool operator==(const AcceptStep&) const = default;
};

// What a failure is called. The caller may know better: kSetUpFailed has a status.
constexpr WhyNotRdma WhyAcceptFailed(AcceptEvent event) {
  switch (event) {
    case AcceptEvent::kSetUpFailed:
      return WhyNotRdma::kDeviceRefused;
    case AcceptEvent::kTimeout:
      return WhyNotRdma::kTimedOut;
    case AcceptEvent::kCancelled:
      return WhyNotRdma::kRejected;  // what the peer is told
    default:
      return WhyNotRdma::kBroken;
  }
}

// Total: no pair is undefined. In kFailed nothing happens any more.
constexpr AcceptStep Advance(AcceptState state, AcceptEvent event) {
  using State = AcceptState;
  using Event = AcceptEvent;
  using Action = AcceptAction;
  if (event == Event::kCancelled && state != State::kAdmitted) {
    return {State::kFailed, state == State::kFailed ? Action::kNone : Action::kDrop};
  }
  switch (state) {
    case State::kAdmitted:
      if (event == Event::kPrepared) return {State::kAccepting, Action::kAccept};
      // Before rdma_accept the peer still waits for an answer, while there is a device to
      // give it.
      if (event == Event::kSetUpFailed || event == Event::kTimeout || event == Event::kCancelled) {
        return {State::kFailed, Action::kReject, WhyAcceptFailed(event)};
      }
      return {State::kFailed, Action::kFail, WhyAcceptFailed(event)};
    case State::kAccepting:
      if (event == Event::kEstablished) return {State::kEstablished, Action::kNone};
      if (event == Event::kFirstMessage) return {State::kOpen, Action::kOpen};
      return {State::kFailed, Action::kFail, WhyAcceptFailed(event)};
    case State::kEstablished:
      if (event == Event::kFirstMessage) return {State::kOpen, Action::kOpen};
      if (event == Event::kEstablished) return {State::kEstablished, Action::kNone};
      return {State::kFailed, Action::kFail, WhyAcceptFailed(event)};
    case State::kOpen:
      if (event == Event::kPrepared || event == Event::kEstablished ||
          event == Event::kFirstMessage || event == Event::kTimeout) {
        return {State::kOpen, Action::kNone};  // what came too late
      }
      return {State::kFailed, Action::kClose, WhyNotRdma::kBroken};
    case State::kFailed:
      break;
  }
  return {};
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_ACCEPT_STATE_H_
