// SPDX-License-Identifier: Apache-2.0
//
// What a server that stops tells the clients whose requests it has not run.

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/raw_peer.h"
#include "rpc/testing/test_peers.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

// One handler thread, which is held by the first call: those behind it wait.
class HeldHandlerTest : public ::testing::Test {
 protected:
  static ServerOptions OneThread() {
    ServerOptions options;
    options.handler_threads = 1;
    options.handlers_on_pool = true;
    return options;
  }
  static std::string UnknownMethod(int64_t id) {
    wire::RpcMeta meta = EchoMeta(id);
    meta.mutable_request()->set_method_name("Unknown");
    return FrameBytes(meta, nullptr);
  }

  TestEvent entered_;
  TestEvent leave_;
  TestServer server_{
      [this](Controller& controller, const auto& request, auto& response, auto* done) {
        entered_.Signal();
        EXPECT_TRUE(leave_.Wait());
        EchoBack(controller, request, response, done);
      },
      OneThread()};
  RawPeer peer_{server_.address()};
};

TEST_F(HeldHandlerTest, WhatHasNotBegunIsRefusedWhenTheGraceIsOver) {
  ASSERT_TRUE(peer_.Send(EchoFrame(1) + EchoFrame(2) + EchoFrame(3)));
  ASSERT_TRUE(entered_.Wait());
  ASSERT_TRUE(Eventually([&] {
    RawPeer other(server_.address());
    return other.Send(UnknownMethod(4)) && other.Receive().has_value();
  })) << "what was sent before has arrived";
  auto stopped =
      std::async(std::launch::async, [&] { return server_.server().Stop(milliseconds(20)); });
  for (int i = 0; i < 2; ++i) {
    const auto refused = peer_.Receive();
    ASSERT_TRUE(refused.has_value());
    EXPECT_NE(refused->meta.correlation_id(), 1);
    EXPECT_EQ(refused->meta.response().error_code(), kLogoff);
  }
  EXPECT_FALSE(peer_.Receive().has_value()) << "no GOAWAY while an answer is owed";
  peer_.Close();
  EXPECT_EQ(stopped.get().message(), "1 call was not answered within 20 ms");
  leave_.Signal();
  server_.Destroy();
  EXPECT_EQ(server_.service().runs(), 1);
}

TEST_F(HeldHandlerTest, WhatWaitsOfAClientThatHasGoneIsNotRunAfterTheGrace) {
  ASSERT_TRUE(peer_.Send(EchoFrame(1) + EchoFrame(2) + EchoFrame(3) + UnknownMethod(4)));
  ASSERT_TRUE(peer_.Receive().has_value()) << "what was sent before has arrived";
  ASSERT_TRUE(entered_.Wait());
  peer_.Close();
  ASSERT_TRUE(Eventually([&] { return server_.server().connection_count() == 0; }));
  EXPECT_EQ(server_.server().Stop(milliseconds(20)).message(),
            "3 calls were not answered within 20 ms");
  leave_.Signal();
  server_.Destroy();
  EXPECT_EQ(server_.service().runs(), 1);
}

TEST(StopGoAwayTest, AConnectionThatIsOwedNothingGetsAGoAway) {
  TestServer server;
  RawPeer peer(server.address());
  ASSERT_TRUE(peer.Send(EchoFrame(1)));
  ASSERT_TRUE(peer.Receive().has_value());
  std::thread stopper([&] { EXPECT_TRUE(server.server().Stop(kTestTimeout).ok()); });
  const auto go_away = peer.Receive();
  ASSERT_TRUE(go_away.has_value());
  EXPECT_EQ(go_away->meta.correlation_id(), 0);
  EXPECT_EQ(go_away->meta.response().error_code(), kLogoff);
  // What crossed it is not run, and not answered.
  ASSERT_TRUE(peer.Send(EchoFrame(2)));
  EXPECT_FALSE(peer.Receive().has_value());
  peer.Close();
  stopper.join();
  EXPECT_EQ(server.service().runs(), 1);
}

// Wherever Stop meets it: connecting, accepted, on the way to its loop, read or answered.
TEST(StopGoAwayTest, WhoHasConnectedIsNeverLeftInDoubt) {
  RuntimeOptions four_loops;
  four_loops.event_loops = 4;
  TestRuntime one;
  TestRuntime four(four_loops);
  for (int round = 0; round < 100; ++round) {
    ServerOptions options = Inline();
    options.runtime = round % 2 == 0 ? &*one : &*four;
    TestServer server(EchoBack, options);
    std::vector<std::unique_ptr<RawPeer>> peers;
    for (int i = 0; i < 4; ++i) {
      peers.push_back(std::make_unique<RawPeer>(server.address()));
      ASSERT_TRUE(peers.back()->Send(EchoFrame(1)));
    }
    std::thread stopper([&] { EXPECT_TRUE(server.server().Stop(kTestTimeout).ok()); });
    int answered = 0;
    for (const auto& peer : peers) {
      const auto answer = peer->Receive();
      EXPECT_TRUE(answer.has_value()) << "round " << round;
      if (answer.has_value() && answer->meta.response().error_code() == 0) ++answered;
      peer->Close();
    }
    stopper.join();
    EXPECT_EQ(server.service().runs(), answered) << "round " << round;
  }
}

}  // namespace
}  // namespace farcall
