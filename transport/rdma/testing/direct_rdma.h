// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_DIRECT_RDMA_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_DIRECT_RDMA_H_

#include <memory>
#include <mutex>

#include "absl/status/statusor.h"
#include "transport/address.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/loop_group.h"
#include "transport/rdma/host/rdma_host.h"
#include "transport/rdma/rdma_transport.h"
#include "transport/rdma/setup/port_listener.h"
#include "transport/transport.h"

namespace farcall {

// RDMA as a Transport of its own, without a TCP connection beside it: for the conformance suite,
// and tests of queue pairs alone. Who connects shows a token of zeros, and is let in.
class DirectRdma final : public Transport {
 public:
  // `transport`, whose control loop this is, outlives it.
  DirectRdma(RdmaTransport& transport, EventLoop& control)
      : host_(transport.host()), control_(control) {}

  void Connect(EventLoop& loop, const Address& peer, const ConnectOptions& options,
               OnConnect done) override;
  // kAlreadyExists: the address is in use. A reason (why_not_rdma.h) where it has no RDMA. Any
  // thread, no loop held; waits for the control loop, which is driven until the listener is closed.
  absl::StatusOr<std::unique_ptr<Listener>> Listen(LoopGroup& loops, const Address& address,
                                                   const ListenOptions& options,
                                                   OnAccept on_accept) override;

 private:
  RdmaHost& host_;
  EventLoop& control_;
};

// When the device of its address goes away it listens again as soon as that is back.
class DirectListener final : public Listener {
 public:
  static absl::StatusOr<std::unique_ptr<Listener>> Open(RdmaHost& host, EventLoop& control,
                                                        LoopGroup& loops, const Address& address,
                                                        const ListenOptions& options,
                                                        Transport::OnAccept on_accept);
  ~DirectListener() override { Close(); }

  const Address& address() const override { return address_; }
  void Close() override;

 private:
  class Acceptor;
  class ListeningPort;
  DirectListener(EventLoop& control, Address address, std::shared_ptr<Acceptor> acceptor,
                 std::shared_ptr<ListeningPort> listening_port);

  EventLoop& control_;
  const Address address_;
  const std::shared_ptr<Acceptor> acceptor_;
  std::mutex mutex_;
  std::shared_ptr<ListeningPort> listening_port_;  // guarded by mutex_; null after Close
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_DIRECT_RDMA_H_
