// SPDX-License-Identifier: Apache-2.0
//
// In the steady state a call costs no allocation, with each balancer and with one server. The
// global operator new is replaced by one that counts, hence a program of its own.

#include <gtest/gtest.h>

#include <chrono>

#include "rpc/cluster/server_set.h"
#include "transport/testing/allocations/counted_new.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

class AllocationTest : public testing::TestWithParam<const char*> {
 protected:
  static size_t AllocationsOfCalls(uint16_t servers) {
    ChannelOptions options;
    options.load_balancer = GetParam();
    options.circuit_breaker.enabled = true;
    options.circuit_breaker.latency_factor = 10;
    ServerSet set(options, 1);
    TimePoint now{std::chrono::seconds(1)};
    std::vector<ServerNode> nodes(servers);
    for (uint16_t i = 0; i < servers; ++i) nodes[i].address = Address::Ipv4({10, 0, 0, 1}, i);
    set.Update(nodes, now);
    size_t before = 0;
    for (uint64_t i = 0; i < 3000; ++i) {
      if (i == 2000) before = AllocationsSoFar();
      now += milliseconds(1);
      const auto first = set.Pick(i, {}, now);
      const ServerSet::ServerId tried[] = {*first};
      for (const auto id : {*first, *set.Pick(i, tried, now)}) {
        set.OnStart(id);
        set.OnEnd(id, ServerSet::Outcome::kSuccess, milliseconds(1), now);
      }
    }
    return AllocationsSoFar() - before;
  }
};

TEST_P(AllocationTest, CallsAllocateNothing) {
  EXPECT_EQ(AllocationsOfCalls(1), 0u);
  EXPECT_EQ(AllocationsOfCalls(2), 0u);
  EXPECT_EQ(AllocationsOfCalls(50), 0u);
}

INSTANTIATE_TEST_SUITE_P(All, AllocationTest,
                         testing::Values("rr", "random", "wrr", "wr", "c_hash", "la"));

}  // namespace
}  // namespace farcall
