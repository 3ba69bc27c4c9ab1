// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_BALANCE_MEMBER_H_
#define FARCALL_RPC_CLUSTER_BALANCE_MEMBER_H_

#include <cstdint>
#include <string>
#include <utility>

#include "rpc/channel_options.h"
#include "rpc/cluster/balance/circuit_breaker.h"
#include "rpc/cluster/balance/cost.h"
#include "rpc/cluster/balance/health.h"
#include "rpc/cluster/balance/moving_mean.h"
#include "rpc/cluster/balance/slow_start.h"
#include "rpc/cluster/server_node.h"

namespace farcall {

// All that is known of one server of a set. Pure.
struct Member {
  // `options` outlive it.
  Member(uint32_t new_id, ServerNode new_node, std::string new_key, const ChannelOptions& options)
      : id(new_id),
        breaker(options.circuit_breaker),
        health(std::chrono::milliseconds(options.health_check_interval_ms),
               std::chrono::milliseconds(options.longest_health_check_interval_ms)),
        node(std::move(new_node)),
        key(std::move(new_key)) {}

  bool live() const { return health.up() && !breaker.open(); }

  uint32_t id;
  int in_flight = 0;
  bool in_pool = false;  // of those that the next call is given to
  MovingMean latency;    // nanoseconds, timeouts among them
  Cost cost;             // the same, but a failure is never cheap
  SlowStart slow_start;
  CircuitBreaker breaker;
  Health health;
  ServerNode node;
  std::string key;  // what makes it the same server: address and tag
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_BALANCE_MEMBER_H_
