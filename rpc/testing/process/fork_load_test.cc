// SPDX-License-Identifier: Apache-2.0
//
// fork(2) in the midst of many calls. Not for AddressSanitizer: see quiet_fork.h.

#include <unistd.h>

#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/process/call_load.h"
#include "rpc/testing/process/child_process.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

namespace farcall {
namespace {

TEST(ForkLoadTest, NoCallOfTheParentFails) {
  TestServer server;
  TestClient client(server.address());
  CallLoad load(client.channel());
  for (int round = 0; round < 10; ++round) {
    const int succeeded = load.succeeded();
    EXPECT_TRUE(Eventually([&] { return load.succeeded() > succeeded + 100; })) << round;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      EndInTime();
      TestCall call;
      ::_exit(call.Call(client.channel()).controller.Failed() ? 0 : 1);
    }
    EXPECT_EQ(WaitForExit(child), 0);
  }
  load.Stop();
  EXPECT_EQ(load.failed(), 0);
  EXPECT_EQ(load.wrong(), 0);
}

}  // namespace
}  // namespace farcall
