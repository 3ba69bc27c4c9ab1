// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_SETUP_WAYS_H_
#define FARCALL_TRANSPORT_RDMA_SETUP_WAYS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "transport/rdma/choice/port_end.h"
#include "transport/rdma/device/local_port.h"
#include "transport/rdma/device/port_counts.h"
#include "transport/rdma/host/rdma_host.h"
#include "transport/upgrade.h"

namespace farcall {

// From a port of this host to a place of an offer.
struct Way {
  size_t place = 0;
  OfferedEnd to;
  std::optional<OwnEnd> from;            // none: whichever the routes lead to
  std::optional<PortCounts::Port> port;  // of `from`
  std::optional<LocalPort> local;        // the same, for set-up over TCP
  std::optional<Address> source;         // the same, for rdma_cm
  int fabric = kNoFabric;                // that joins the ports
  std::string why;                       // it comes where it does, for people
};

// The ways to the places of `offer`, in the order in which a connection of `loop` tries them
// (ChooseAdapters), with the rails of `options`. With the control loop held, after the host was
// ready.
std::vector<Way> WaysTo(RdmaHost& host, const EventLoop& loop,
                        const std::vector<UpgradeAddress>& offer,
                        const OfferConnectOptions& options);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_SETUP_WAYS_H_
