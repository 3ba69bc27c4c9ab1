// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_CHOICE_FABRIC_H_
#define FARCALL_TRANSPORT_RDMA_CHOICE_FABRIC_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "transport/rdma/choice/port_end.h"

namespace farcall {

// What joins two ports, the best first.
enum class Fabric : uint8_t {
  kSamePort,  // both ends are of one host
  kNetwork,   // the subnet of InfiniBand, or of IP
  kRoutes,    // there may be a route
};

absl::string_view ToString(Fabric fabric);  // "the same network"

// None: they do not reach each other, whatever the network is like. Two ports talk only if their
// link layers are the same, their partitions too (of two limited members none talks to the other),
// and their GIDs are of a kind: InfiniBand in one subnet, RoCE both v1 or both v2, both link-local
// or none, both IPv4 or none.
std::optional<Fabric> FabricOf(const OwnEnd& own, const OfferedEnd& offered);

// How many bits the names have in common, from the first on.
int CommonBits(const PortEnd& one, const PortEnd& other);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CHOICE_FABRIC_H_
