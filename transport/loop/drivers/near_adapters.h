// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_DRIVERS_NEAR_ADAPTERS_H_
#define FARCALL_TRANSPORT_LOOP_DRIVERS_NEAR_ADAPTERS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "transport/base/host/numa_node.h"

namespace farcall {

// Where the threads of a loop run.
struct LoopPlace {
  std::vector<int> cpus;  // empty: wherever the scheduler puts them
  int node = -1;          // that has all of these processors; -1: none, or it is not known
};

// Of each of so many loops: those processors of an adapter's NUMA node that may be used, the nodes
// by turns. `adapter_nodes`: -1 is one that is not known. None: there is nothing to choose, since
// all that may be used is of one node; or nothing to gain, since of the adapters' nodes none is
// known or may be used; or there are fewer processors than loops, or a single one, on which a loop
// would wait for whatever else runs there.
std::vector<LoopPlace> PlacesNear(const std::vector<int>& adapter_nodes, const HostCpus& host,
                                  size_t loops);

// All of them, in their order.
std::vector<int> CpusOf(const std::vector<LoopPlace>& places);

// "4 loops on node 0 (0-15), 4 loops on node 1 (16-31)"; "" of none.
std::string Describe(const std::vector<LoopPlace>& places);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_DRIVERS_NEAR_ADAPTERS_H_
