// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_RDMA_TRANSPORT_H_
#define FARCALL_TRANSPORT_RDMA_RDMA_TRANSPORT_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "transport/rdma/host/rdma_host.h"
#include "transport/rdma/setup/upgrade_listener.h"
#include "transport/rdma_status.h"
#include "transport/transport.h"
#include "transport/upgrade.h"

namespace farcall {

// Queue pairs under connections, by rdma_cm or over TCP: InfiniBand, RoCE and iWARP. All errors
// carry their reason (why_not_rdma.h).
//
// Until it is asked for something it loads no library and uses no memory of the pool. What
// concerns devices and queue pairs happens with `control` held, a loop of its own: such
// calls take up to milliseconds. Tasks posted between it and the data loops are all that
// joins them.
class RdmaTransport final : public UpgradeTransport {
 public:
  // What `options` refers to outlives the transport; the pool tells the registrar of its
  // regions. `options.rdma` is valid.
  explicit RdmaTransport(RdmaHost::Options options);
  RdmaTransport(const RdmaTransport&) = delete;
  RdmaTransport& operator=(const RdmaTransport&) = delete;
  // With no loop held, after all connections, listeners and tickets, when no thread drives the
  // control loop or a data loop any more, and before they are destroyed: it runs their last
  // tasks itself, until no object of a device is left.
  ~RdmaTransport() override;

  void Probe(EventLoop& loop, OnAvailable done) override;
  std::unique_ptr<UpgradeTicket> ConnectToOffer(EventLoop& loop,
                                                std::vector<UpgradeAddress> addresses,
                                                const UpgradePass& pass,
                                                const OfferConnectOptions& options, SendSetUp send,
                                                Transport::OnConnect done) override;
  std::unique_ptr<UpgradeTicket> Await(EventLoop& loop, const UpgradePass& pass,
                                       const ConnectionOptions& options, PeerTrust trust,
                                       SendSetUp send, OnOffer offered, OnAdmit admitted) override;
  std::unique_ptr<UpgradeTicket> Watch(EventLoop& loop, OnCome come) override;
  std::unique_ptr<BrpcPair> MakeForBrpc(EventLoop& loop, const BrpcWish& wish,
                                        OnBrpcEnd made) override;

  // Any thread, no loop held. Waits for the control loop for at most `timeout`: it may be busy
  // with registrations, or with a device whose driver hangs.
  RdmaStatus Status(Duration timeout);
  // For tests, which connect without a link (DirectRdma). With the control loop held.
  RdmaHost& host() { return host_; }

 private:
  EventLoop& control_;
  RdmaRegistrar& registrar_;
  RdmaHost host_;
  UpgradeListener listener_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_RDMA_TRANSPORT_H_
