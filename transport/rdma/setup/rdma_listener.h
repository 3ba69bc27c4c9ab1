// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_SETUP_RDMA_LISTENER_H_
#define FARCALL_TRANSPORT_RDMA_SETUP_RDMA_LISTENER_H_

#include <memory>
#include <mutex>

#include "absl/status/statusor.h"
#include "transport/address.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/loop_group.h"
#include "transport/rdma/host/rdma_host.h"
#include "transport/rdma/setup/port_listener.h"
#include "transport/transport.h"

namespace farcall {

// A Listener that lets in everybody who shows a token of zeros: what Transport::Listen gives.
// When the device of its address goes away it listens again as soon as that is back.
// Any thread, no loop held; waits for the control loop, which is driven until it is closed.
class RdmaListener final : public Listener {
 public:
  // kAlreadyExists: the address is in use. A reason (why_not_rdma.h)
  // where it has no RDMA.
  static absl::StatusOr<std::unique_ptr<Listener>> Open(RdmaHost& host, EventLoop& control,
                                                        LoopGroup& loops, const Address& address,
                                                        const ListenOptions& options,
                                                        Transport::OnAccept on_accept);
  ~RdmaListener() override { Close(); }

  const Address& address() const override { return address_; }
  void Close() override;

 private:
  class Acceptor;
  class ListeningPort;
  RdmaListener(EventLoop& control, Address address, std::shared_ptr<Acceptor> acceptor,
               std::shared_ptr<ListeningPort> listening_port);

  EventLoop& control_;
  const Address address_;
  const std::shared_ptr<Acceptor> acceptor_;
  std::mutex mutex_;
  std::shared_ptr<ListeningPort> listening_port_;  // guarded by mutex_; null after Close
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_SETUP_RDMA_LISTENER_H_
