// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/setup/brpc_port.h"

#include <optional>
#include <vector>

#include "transport/rdma/choice/port_end.h"
#include "transport/rdma/cm/brpc_endpoint.h"
#include "transport/rdma/setup/offer.h"
#include "transport/rdma/setup/ways.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

bool TakesPackets(const LocalPort& port) { return port.port.mtu >= BrpcEndpoint::kMtu; }

absl::Status NoPort(RdmaHost& host) {
  if (host.parts().options.set_up == RdmaSetUp::kRdmaCm) {
    return NotRdma(WhyNotRdma::kNoAddress,
                   "brpc's queue pairs are set up without rdma_cm, and rdma.set_up is rdma_cm");
  }
  return NotRdma(WhyNotRdma::kNoAddress,
                 "no port for brpc's queue pairs: they take a GID, and an MTU of 1024 at least");
}

// The GID says which port, but not of which type it is: the one after the other.
std::optional<LocalPort> PortTo(const BrpcEnd& peer, RdmaHost& host, const EventLoop& loop) {
  struct Kind {
    LinkLayer layer;
    GidType type;
  };
  for (const Kind& kind :
       {Kind{LinkLayer::kRoce, GidType::kRoceV2}, Kind{LinkLayer::kRoce, GidType::kRoceV1},
        Kind{LinkLayer::kInfiniBand, GidType::kInfiniBand}}) {
    UpgradeAddress place;
    place.address = Address::Ipv6(peer.gid, 0);
    place.link_layer = kind.layer;
    place.port = FabricPort{peer.gid, kind.type, peer.lid, BrpcEndpoint::kMtu};
    for (const Way& way : WaysTo(host, loop, {place}, OfferConnectOptions())) {
      if (way.local && TakesPackets(*way.local) && host.WhyNot(way.local->context).ok()) {
        return way.local;
      }
    }
  }
  return std::nullopt;
}

std::optional<LocalPort> PortAt(const Address& local, RdmaHost& host, const EventLoop& loop) {
  std::optional<LocalPort> best;
  double share = 0;
  for (const LocalPort& port : host.Ports()) {
    if (!TakesPackets(port) || !host.WhyNot(port.context).ok()) continue;
    if (NameOf(port.address) == NameOf(local)) return port;
    const auto place =
        Describe(host, loop, {Address::Ipv6(port.port.gid, 0), "", port.link_layer, port.port},
                 {port.context, port.number});
    if (!place || (best && place->share <= share)) continue;
    best = port;
    share = place->share;
  }
  return best;
}

}  // namespace

absl::StatusOr<LocalPort> ChooseBrpcPort(RdmaHost& host, const EventLoop& loop,
                                         const BrpcWish& wish) {
  const std::optional<LocalPort> port =
      wish.peer ? PortTo(*wish.peer, host, loop) : PortAt(wish.local, host, loop);
  if (port) return *port;
  return NoPort(host);
}

}  // namespace farcall
