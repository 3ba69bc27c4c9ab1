// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_SETUP_OFFER_H_
#define FARCALL_TRANSPORT_RDMA_SETUP_OFFER_H_

#include <optional>
#include <vector>

#include "transport/rdma/device/port_counts.h"
#include "transport/rdma/host/rdma_host.h"
#include "transport/upgrade.h"

namespace farcall {

// A place that a server offers, and the port that it leads to.
struct OfferedPlace {
  UpgradeAddress place;
  PortCounts::Port port{};
  double share = 0;  // of its rate, for a connection more of the loop that awaits it
};

// `place` with what the client gets to know of its port, for a connection of `loop`. Nothing: that
// is not active. Port 0: any of the device's.
std::optional<OfferedPlace> Describe(const RdmaHost& host, const EventLoop& loop,
                                     UpgradeAddress place, PortCounts::Port port);

// In the order in which a client should try them that knows nothing better: addresses, then ports;
// of either, first one of each port, those first of which a connection has the most. At most
// kMaxOffered, at least half of them for either kind.
void PutInOrder(std::vector<OfferedPlace>& offer);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_SETUP_OFFER_H_
