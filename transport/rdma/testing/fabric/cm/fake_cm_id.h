// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_CM_FAKE_CM_ID_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_CM_FAKE_CM_ID_H_

#include <rdma/rdma_cma.h>

#include <array>
#include <cstdint>
#include <memory>

#include "transport/address.h"
#include "transport/rdma/testing/fabric/device/fake_device.h"

namespace farcall {

class FakeQp;
struct FakeId;

struct FakeCmEvent : rdma_cm_event {
  // Whom the acknowledgement counts for: of a request, the listener.
  FakeId* counted = nullptr;
  // For as long as the event is: private data.
  std::array<uint8_t, 256> data{};
  bool injected = false;  // it is as it is, and means nothing for its id
};

struct FakeCmChannel : rdma_event_channel {
  FakeCmChannel() : rdma_event_channel{} { fd = events.fd(); }
  int ids = 0;
  bool destroyed = false;
  FakeFdQueue<std::unique_ptr<FakeCmEvent>> events;
};

// An id of the program and the kernel's part of it, in one.
struct FakeId : rdma_cm_id {
  enum class State {
    kIdle,
    kBound,
    kListening,
    kResolvingAddress,
    kAddressResolved,
    kResolvingRoute,
    kRouteResolved,
    kConnecting,  // asked; no answer yet
    kAnswered,    // the answer lies in the channel
    kRequested,   // made by a request that is neither accepted nor rejected
    kAccepted,    // the active side has not confirmed yet
    kConnected,
    kDisconnecting,  // asked the peer to; no answer yet
    kLeft,           // the peer asked; it is not answered yet
    kEnded,          // rejected, failed or disconnected
  };

  FakeId(FakeCmChannel& fake_channel, void* user);

  FakeQp* queue_pair() const;
  Address source() const;
  Address destination() const;

  FakeCmChannel& events;
  State state = State::kIdle;
  bool handed_out = true;  // false: the request that made it was not read yet
  bool from_request = false;
  bool destroyed = false;
  bool removed = false;  // so is its device
  FakeDevice* device = nullptr;
  FakeId* peer = nullptr;
  // The queue pair that it connected, which may be destroyed by now.
  FakeQp* joined = nullptr;
  // CONNECT_ERROR has come: librdmacm keeps the reject that follows to itself.
  bool connect_error = false;
  int unacknowledged = 0;

  // Of a listener: requests that may lie in the channel, and that do.
  int backlog = 0;
  int queued = 0;

  // What rdma_connect or rdma_accept was given.
  uint8_t retry_count = 0;
  uint8_t rnr_retry_count = 0;

  int tos = -1;
  int ack_timeout = -1;
  int reuse_address = -1;
  int af_only = -1;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_CM_FAKE_CM_ID_H_
