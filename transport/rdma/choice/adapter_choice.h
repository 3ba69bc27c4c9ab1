// SPDX-License-Identifier: Apache-2.0
//
// Which adapter of this host, and which of the other one, a connection is set up over.

#ifndef FARCALL_TRANSPORT_RDMA_CHOICE_ADAPTER_CHOICE_H_
#define FARCALL_TRANSPORT_RDMA_CHOICE_ADAPTER_CHOICE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "transport/rail_ports.h"
#include "transport/rdma/choice/port_end.h"

namespace farcall {

// A way to try.
struct AdapterPair {
  // Of `own`. None: over whichever device the routes of this host lead to the address.
  std::optional<size_t> own;
  size_t offered = 0;
  int fabric = kNoFabric;
  std::string why;  // for people: what speaks for it, and why it is not before the first
};

struct ChoiceCircumstances {
  // Of the processors that drive the connection's loop; -1: of several nodes, or not known.
  int loop_node = -1;
  // Decides between what is equal in all else: the same seed makes the same choice.
  uint64_t seed = 0;
  // How often a way has failed lately. `own` null: AdapterPair::own is none.
  absl::FunctionRef<uint32_t(const OwnEnd* own, const OfferedEnd& offered)> failures;
  // OfferConnectOptions'.
  std::span<const RailPorts> rails = {};
  bool apart = false;
};

// What a connection more would have of a port of `rate` with so many: an equal share. A device on
// another NUMA node than the loop counts half, so that it is taken when the nearer ones have more
// than twice as many.
double ShareOf(uint32_t rate, uint32_t connections, bool far);

// Whether both nodes are known, and are not the same.
bool IsFar(int numa_node, int loop_node);

// The ways from here to there, in the order in which they are to be tried; what cannot work is left
// out. Does not depend on the order of `own` and `offered`. The order is by
//
//  1. of a further rail: ports that the fewest of its rails use, even if others have not failed,
//     since it stays where it is; and over no worse fabric than these;
//  2. failures lately, the fewest first;
//  3. rdma_cm before set-up over TCP;
//  4. the fabric: the same port, then the same network, then what routes may join;
//  5. of the first: what the connection will have of the rates, with those that are there now, at
//     the end that has less of it; then the higher rate, the nearer device, what the other end
//     has of it, the server's order (where it tells connections), and chance;
//     of the others: ports that none of those before it uses, and then the same.
//
// Each offered end comes once, with the best of this host's; the first address once more at the
// end, as the routes of this host lead there, if there was a choice of ports.
//
// With `apart` there are only ways over ports that no rail uses and, so that nothing is dialled
// again and again that the network may not have, over a fabric as good as the best of all ways and
// rails.
std::vector<AdapterPair> ChooseAdapters(const std::vector<OwnEnd>& own,
                                        const std::vector<OfferedEnd>& offered,
                                        const ChoiceCircumstances& circumstances);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CHOICE_ADAPTER_CHOICE_H_
