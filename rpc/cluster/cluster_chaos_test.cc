// SPDX-License-Identifier: Apache-2.0
//
// Calls through a cluster under steps in any order.

#include <gtest/gtest.h>

#include "rpc/cluster/cluster_testing.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

ConnectionType AnyType(TestRandom& random) {
  return random.Chance(0.5)   ? CONNECTION_TYPE_SINGLE
         : random.Chance(0.5) ? CONNECTION_TYPE_POOLED
                              : CONNECTION_TYPE_SHORT;
}

// Steps in any order. At the end each call has ended once, and nothing is left.
TEST(ClusterChaosTest, EachCallEndsExactlyOnce) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    TestRandom random(seed);
    ChannelOptions options;
    options.max_retry = static_cast<int>(random.Below(4));
    if (random.Chance(0.4)) options.backup_request_ms = static_cast<int64_t>(random.Below(5));
    options.timeout_ms = 30;
    options.connection_type = AnyType(random);
    const bool mixed = random.Chance(0.3);
    options.max_connections_per_server = static_cast<int>(random.Size(4));
    ClusterWorld world(random.Chance(0.3) ? "192.0.2.1:80" : kThree, options);
    for (int step = 0; step < 150; ++step) {
      switch (random.Below(8)) {
        case 0:
        case 1: {
          RoutedCall::Plan plan = world.Plan();
          if (mixed) plan.connection_type = AnyType(random);
          world.Start(plan);
          break;
        }
        case 2:
          random.Chance(0.7) ? world.Connect() : world.FailConnects();
          break;
        case 3:
          for (const ArrivedRequest& request : world.Arrived()) {
            if (random.Chance(0.3)) continue;
            const int code = random.Chance(0.3) ? kLogoff : random.Chance(0.3) ? kLimit : 0;
            world.Answer(request, code, "no");
          }
          break;
        case 4:
          if (world.wires.empty()) break;
          if (random.Chance(0.7)) {
            world.Break(world.wires.front().server);
          } else {
            // The GOAWAY of a server that closes its connections.
            world.AnswerOnAll({world.wires.front().server, 0, 0, ""}, kLogoff);
          }
          break;
        case 5:
          if (!world.calls.empty()) {
            const auto any = random.Below(world.calls.size());
            std::next(world.calls.begin(), static_cast<int64_t>(any))
                ->second.controller.StartCancel();
          }
          break;
        default:
          world.Advance(milliseconds(random.Below(6)));
      }
    }
    world.Retire();
    world.FailConnects();
    world.Advance(milliseconds(40));
    for (const auto& [id, call] : world.calls) EXPECT_EQ(call.ends, 1) << id;
  }
}

}  // namespace
}  // namespace farcall
