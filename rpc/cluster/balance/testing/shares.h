// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_BALANCE_TESTING_SHARES_H_
#define FARCALL_RPC_CLUSTER_BALANCE_TESTING_SHARES_H_

#include <map>
#include <string>
#include <vector>

#include "rpc/channel_options.h"
#include "rpc/cluster/server_set.h"
#include "rpc/naming/server_node.h"
#include "transport/base/time.h"

namespace farcall {

// How many of `calls`, one after the other and each of one millisecond, each machine gets; by port.
// `now` moves by `step` with each. Request codes count from 0.
std::map<int, int> CountCalls(ServerSet& set, const std::vector<ServerSet::View>& views, int calls,
                              TimePoint& now, Duration step);

// All servers are well: whether the balancer gives each its share. What is wrong, or "".
std::string CheckShares(ServerSet& set, const std::string& balancer, TimePoint& now);

// c_hash: a set that never saw any trouble, made from the same nodes in another order, gives each
// code to the same server; and without one of them, only its codes move.
std::string CheckSameCodes(ServerSet& set, const ChannelOptions& options, TimePoint now);

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_BALANCE_TESTING_SHARES_H_
