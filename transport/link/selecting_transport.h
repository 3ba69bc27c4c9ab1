// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_SELECTING_TRANSPORT_H_
#define FARCALL_TRANSPORT_LINK_SELECTING_TRANSPORT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "transport/link/link_transport.h"
#include "transport/link/upgrade/upgrade_options.h"
#include "transport/link/upgrade/upgrade_record.h"
#include "transport/transport.h"
#include "transport/upgrade.h"

namespace farcall {

// The Transport of a process: what ConnectOptions::rdma and ListenOptions::rdma ask for
// decides what becomes of each connection.
class SelectingTransport final : public Transport {
 public:
  // `options` are valid; their use_rdma and require_rdma count for nothing. The others outlive
  // this, its connections and listeners, and the loops' last turn.
  SelectingTransport(Transport& tcp, UpgradeTransport& rdma, UpgradeRecord& record,
                     const UpgradeOptions& options);

  void Connect(EventLoop& loop, const Address& peer, const ConnectOptions& options,
               OnConnect done) override;
  // kRequire waits until it is known whether this host has RDMA: at most kProbeTime.
  absl::StatusOr<std::unique_ptr<Listener>> Listen(LoopGroup& loops, const Address& address,
                                                   const ListenOptions& options,
                                                   OnAccept on_accept) override;

 private:
  static constexpr Duration kProbeTime = std::chrono::seconds(10);

  LinkTransport& For(UseRdma use);
  absl::Status WaitForProbe(EventLoop& loop);

  UpgradeTransport& rdma_;
  LinkTransport plain_;
  LinkTransport preferred_;
  LinkTransport required_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_SELECTING_TRANSPORT_H_
