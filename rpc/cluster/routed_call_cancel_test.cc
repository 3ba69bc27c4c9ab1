// SPDX-License-Identifier: Apache-2.0
//
// Calls that are cancelled, wherever they are.

#include <gtest/gtest.h>

#include <cerrno>

#include "rpc/cluster/cluster_testing.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

TEST(RoutedCallTest, CancelEndsACallWhereverItIs) {
  for (const int where : {0, 1, 2, 3}) {
    SCOPED_TRACE(where);
    ChannelOptions options;
    options.backup_request_ms = where == 3 ? 10 : -1;
    ClusterWorld world("192.0.2.1:80", options);
    auto& call = world.Start();
    if (where == 1) world.FailConnects();  // in the pause before a retry
    if (where >= 2) world.Connect();
    if (where == 3) world.Advance(milliseconds(10));
    call.controller.StartCancel();
    world.world.Run();
    EXPECT_EQ(call.ends, 1);
    EXPECT_EQ(call.controller.ErrorCode(), ECANCELED);
    world.Advance(milliseconds(1000));
    EXPECT_EQ(call.ends, 1);
  }
}

TEST(RoutedCallTest, ACancellationThatComesBeforeTheCallIsNotLost) {
  ClusterWorld world("192.0.2.1:80");
  ClusterWorld::Call* call = nullptr;
  // While the loop is held, the call waits in the mailbox.
  world.world.loop->RunOrPost([&] { call = &world.calls[1]; });
  auto& started = world.Start();
  started.controller.StartCancel();
  world.world.Run();
  EXPECT_EQ(started.ends, 1);
  EXPECT_EQ(started.controller.ErrorCode(), ECANCELED);
}

}  // namespace
}  // namespace farcall
