// SPDX-License-Identifier: Apache-2.0
//
// A server that stops while a handler holds up a loop: it waits as long as Stop may, 9 s.

#include <chrono>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "rpc/testing/raw_peer.h"
#include "rpc/testing/test_peers.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

// For longer than Stop waits. What is left on its loop would end the process with the runtime.
// Stop waits for nine seconds for a loop that is held up, which is nearly the timeout of an event.
void HoldUntil(TestEvent& leave) {
  while (!leave.Wait()) continue;
}

TEST(HeldUpStopTest, ALoopThatAHandlerHoldsUpKeepsNoConnectionOfAServerThatHasGone) {
  TestEvent entered;
  TestEvent leave;
  std::vector<RawPeer> peers;  // they stay for longer than the server and its runtime
  TestServer server(
      [&](Controller& controller, const auto& request, auto& response, auto* done) {
        entered.Signal();
        HoldUntil(leave);
        EchoBack(controller, request, response, done);
      },
      Inline());
  for (int i = 0; i < 2; ++i) peers.emplace_back(server.address());
  ASSERT_TRUE(peers[1].Send(EchoFrame(1)));
  ASSERT_TRUE(entered.Wait());
  EXPECT_FALSE(server.server().Stop(milliseconds(0)).ok());
  EXPECT_EQ(server.server().connection_count(), 2);
  leave.Signal();
  server.Destroy();
}

// One of two loops is held up by the call of peer `which`, and others connect meanwhile. Peers go
// to the loops in turn, so some of the others come to this one, and are not begun.
void EndWhileOneOfTwoLoopsIsHeldUp(size_t which, bool use_rdma) {
  TestEvent entered;
  TestEvent leave;
  std::vector<RawPeer> peers;  // they stay for longer than the server and its runtime
  RuntimeOptions two;
  two.event_loops = 2;
  TestRuntime runtime(two);
  ServerOptions options = Inline();
  options.runtime = &*runtime;
  options.use_rdma = use_rdma;
  TestServer server(
      [&](Controller& controller, const auto& request, auto& response, auto* done) {
        if (request.message() == "hold") {
          entered.Signal();
          HoldUntil(leave);
        }
        EchoBack(controller, request, response, done);
      },
      options);
  for (size_t i = 0; i < 4; ++i) {
    peers.emplace_back(server.address());
    ASSERT_TRUE(peers[i].Send(EchoFrame(1)));
    ASSERT_TRUE(peers[i].Receive().has_value()) << "it has its loop";
  }
  ASSERT_TRUE(peers[which].Send(EchoFrame(2, "hold")));
  ASSERT_TRUE(entered.Wait());
  for (int i = 0; i < 6; ++i) peers.emplace_back(server.address());
  RawPeer& free = peers[which ^ 1];
  ASSERT_TRUE(free.Send(EchoFrame(2)));
  ASSERT_TRUE(free.Receive().has_value()) << "the other loop goes on";
  EXPECT_FALSE(server.server().Stop(milliseconds(0)).ok());
  EXPECT_GE(server.server().connection_count(), 1);
  leave.Signal();
  server.Destroy();
}

TEST(HeldUpStopTest, WhereOneOfTwoLoopsIsHeldUpNoConnectionIsLeftOnEither) {
  // Each takes as long as Stop waits.
  std::vector<std::thread> scenes;
  for (const size_t which : {0, 1}) {
    for (const bool use_rdma : {false, true}) {
      scenes.emplace_back([=] { EndWhileOneOfTwoLoopsIsHeldUp(which, use_rdma); });
    }
  }
  for (std::thread& scene : scenes) scene.join();
}

}  // namespace
}  // namespace farcall
