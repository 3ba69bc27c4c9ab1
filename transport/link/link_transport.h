// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_LINK_TRANSPORT_H_
#define FARCALL_TRANSPORT_LINK_LINK_TRANSPORT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "transport/link/connection/link_settings.h"
#include "transport/transport.h"
#include "transport/upgrade.h"

namespace farcall {

// A Transport over TCP whose connections are upgraded to RDMA where both ends can, and
// say why where they cannot (ConnectionInfo::why_not_rdma).
//
// Cheap: each channel and server may have one with options of its own, over the same
// parts. The object may die before its connections and listeners; the parts outlive them.
class LinkTransport final : public Transport {
 public:
  // `options` are valid. `rdma` may be null. All but `options` outlive the transport, its
  // listeners and connections, and the loops' last turn.
  LinkTransport(Transport& tcp, UpgradeTransport* rdma, UpgradeRecord& record,
                const UpgradeOptions& options);
  // With `random` for tokens and jitter.
  LinkTransport(Transport& tcp, UpgradeTransport* rdma, UpgradeRecord& record,
                const UpgradeOptions& options, RandomBytes random);

  // With require_rdma the Connection sends by RDMA when OnConnect gets it, or the error
  // carries the reason (ReasonOf in why_not_rdma.h).
  void Connect(EventLoop& loop, const Address& peer, const ConnectOptions& options,
               OnConnect done) override;
  absl::StatusOr<std::unique_ptr<Listener>> Listen(LoopGroup& loops, const Address& address,
                                                   const ListenOptions& options,
                                                   OnAccept on_accept) override;

 private:
  Transport& tcp_;
  const std::shared_ptr<const LinkSettings> settings_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_LINK_TRANSPORT_H_
