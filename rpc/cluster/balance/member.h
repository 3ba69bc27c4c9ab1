// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_BALANCE_MEMBER_H_
#define FARCALL_RPC_CLUSTER_BALANCE_MEMBER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rpc/channel_options.h"
#include "rpc/cluster/balance/circuit_breaker.h"
#include "rpc/cluster/balance/health.h"
#include "rpc/cluster/balance/measures.h"
#include "rpc/naming/server_node.h"

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

// From the id of a member to its place. Ids are given in a row and a table is built as a whole, so
// that few share a place, and a set of one finds it at the first. Pure.
class MemberIndex {
 public:
  // Ids are not 0.
  void Build(const std::vector<Member>& members) {
    size_t size = 1;
    while (size < 2 * members.size()) size *= 2;
    table_.assign(size, Entry());
    mask_ = static_cast<uint32_t>(size - 1);
    for (uint32_t i = 0; i < members.size(); ++i) {
      uint32_t at = members[i].id & mask_;
      while (table_[at].id != 0) at = (at + 1) & mask_;
      table_[at] = {members[i].id, i};
    }
  }
  // Null: it is gone.
  Member* Find(std::vector<Member>& members, uint32_t id) const {
    if (id == 0) return nullptr;
    for (uint32_t at = id & mask_; table_[at].id != 0; at = (at + 1) & mask_) {
      if (table_[at].id == id) return &members[table_[at].index];
    }
    return nullptr;
  }

 private:
  struct Entry {
    uint32_t id = 0;  // 0: free; half of them are
    uint32_t index = 0;
  };
  std::vector<Entry> table_{2};
  uint32_t mask_ = 1;
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_BALANCE_MEMBER_H_
