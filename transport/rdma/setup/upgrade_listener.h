// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_SETUP_UPGRADE_LISTENER_H_
#define FARCALL_TRANSPORT_RDMA_SETUP_UPGRADE_LISTENER_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "transport/rdma/cm/port_set_up.h"
#include "transport/rdma/cm/set_up_line.h"
#include "transport/rdma/host/rdma_host.h"
#include "transport/rdma/setup/admission.h"
#include "transport/rdma/setup/network_status_file.h"
#include "transport/rdma/setup/offer.h"
#include "transport/rdma/setup/port_listener.h"
#include "transport/upgrade.h"

namespace farcall {

// One connection that is awaited.
struct Awaited {
  EventLoop& loop;
  const UpgradePass pass;
  const ConnectionOptions options;
  const PeerTrust trust;
  // With the loop held; null: called, or withdrawn.
  UpgradeTransport::OnOffer offered;
  UpgradeTransport::OnAdmit admitted;
  const std::shared_ptr<SetUpLine> line;
  // With the control loop held: what was offered.
  std::vector<UpgradeAddress> places = {};
};

// The listeners of a server that offers RDMA, one for each address of a device that may be
// used, and the tokens that let a client in. Opened at first need, and kept up while
// there is need. With the control loop held.
class UpgradeListener final : private Admission {
 public:
  explicit UpgradeListener(RdmaHost& host) : host_(host) {}

  // Where to connect to, or why not; `awaited` is let in from now on.
  absl::StatusOr<std::vector<UpgradeAddress>> Await(const std::shared_ptr<Awaited>& awaited);
  void Withdraw(const Awaited& awaited);
  // A message on the connection of `awaited`.
  void OnSetUp(const Awaited& awaited, const std::string& message);
  // No address is listened on, no client is let in.
  void Close();

 private:
  static constexpr Duration kRefreshEvery = std::chrono::seconds(3);

  struct Expected {
    std::shared_ptr<Awaited> awaited;
    PortHold where;  // in the first place, until it comes
  };

  absl::StatusOr<const RdmaDevice*> DeviceOf(ibv_context* context);
  absl::Status Listen();
  absl::Status OfferPorts(const EventLoop& loop, std::vector<OfferedPlace>& offer);
  absl::Status Connect(const Awaited& awaited, const PortSetUp& connect);
  void Refresh(const std::vector<LocalIp>& addresses);
  void ListenOn(const Address& address);
  std::vector<Address> Wanted(const std::vector<LocalIp>& addresses) const;
  void ReadNetworkStatus(const std::vector<LocalIp>& addresses);
  absl::StatusOr<Admitted> Admit(const ConnectData& data, const Address& here) override;

  RdmaHost& host_;
  std::map<UpgradeToken, Expected> awaited_;
  std::map<std::string, std::unique_ptr<PortListener>> ports_;  // by address without port
  std::vector<Address> wanted_;                                 // as of the last Refresh
  std::optional<TimePoint> refreshed_;
  uint64_t arrivals_ = 0;                            // of the host, then
  std::optional<NetworkStatusFile> network_status_;  // from the first Refresh on
  // Of ports_, those of networks beside the default one: nothing else is offered if one of them
  // can be.
  std::set<std::string> preferred_;
  absl::Status why_not_;  // the last address that could not be listened on
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_SETUP_UPGRADE_LISTENER_H_
