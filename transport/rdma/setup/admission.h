// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_SETUP_ADMISSION_H_
#define FARCALL_TRANSPORT_RDMA_SETUP_ADMISSION_H_

#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "transport/loop/event_loop.h"
#include "transport/rdma/flow/private_data.h"
#include "transport/transport.h"
#include "transport/upgrade.h"

namespace farcall {

// Where a connection that was let in goes.
struct Admitted {
  EventLoop* loop = nullptr;
  ConnectionOptions options;
  PeerTrust trust = PeerTrust::kTrusted;
  // With `loop` held. Who does not want it any more destroys it.
  absl::AnyInvocable<void(std::unique_ptr<Connection>)> deliver;
  UpgradeToken answer{};  // what the peer is shown
};

// Who is let in at a listener. With the control loop held.
class Admission {
 public:
  // The error goes to the peer: a reason (why_not_rdma.h) and its text.
  // `here`: where it connects to.
  virtual absl::StatusOr<Admitted> Admit(const ConnectData& data, const Address& here) = 0;

 protected:
  ~Admission() = default;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_SETUP_ADMISSION_H_
