// SPDX-License-Identifier: Apache-2.0
//
// A deadline travels to the server, which runs nothing for a call that is over.

#include <atomic>
#include <chrono>
#include <string>

#include "gtest/gtest.h"
#include "rpc/testing/leaping_runtime.h"
#include "rpc/testing/raw_peer.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST(ServerDeadlineTest, TravelsToTheServer) {
  constexpr std::chrono::hours kTimeout(1);
  std::atomic<steady_clock::rep> left{0};
  std::atomic<steady_clock::rep> deadline{0};
  TestServer server([&](Controller& controller, const auto& request, auto& response, auto* done) {
    deadline = controller.deadline().time_since_epoch().count();
    left = (controller.deadline() - steady_clock::now()).count();
    EchoBack(controller, request, response, done);
  });
  TestClient client(server.address());
  TestCall call;
  call.controller.set_timeout_ms(milliseconds(kTimeout).count());
  const auto before = steady_clock::now();
  ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  EXPECT_LE(steady_clock::duration(left), kTimeout);
  // What the client waited for its connection is over when the server reads how much is left.
  EXPECT_GE(TimePoint(steady_clock::duration(deadline)),
            before + kTimeout - std::chrono::minutes(1));
  EXPECT_GE(call.controller.deadline(), before + kTimeout);
}

TEST(ServerDeadlineTest, MinusOneIsNone) {
  std::atomic<bool> none{false};
  TestServer server([&](Controller& controller, const auto& request, auto& response, auto* done) {
    none = controller.deadline() == TimePoint::max();
    EchoBack(controller, request, response, done);
  });
  TestClient client(server.address());
  TestCall call;
  call.controller.set_timeout_ms(-1);
  ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  EXPECT_TRUE(none);
  EXPECT_EQ(call.controller.deadline(), TimePoint::max());
}

// What waited for a handler thread beyond its deadline is not run: the client does not wait for it.
TEST(ServerDeadlineTest, ARequestThatIsLateIsNotRun) {
  LeapingRuntime runtime;
  TestEvent entered;
  TestEvent leave;
  TestServer server(
      [&](Controller& controller, const auto& request, auto& response, auto* done) {
        if (request.message() == "first") {
          entered.Signal();
          EXPECT_TRUE(leave.Wait());
        }
        EXPECT_NE(request.message(), "late");
        EchoBack(controller, request, response, done);
      },
      [&] {
        ServerOptions one_thread;
        one_thread.runtime = &*runtime;
        one_thread.handler_threads = 1;
        one_thread.handlers_on_pool = true;
        return one_thread;
      }());
  TestClient client(server.address());
  TestCall first("first");
  first.Start(client.channel());
  ASSERT_TRUE(entered.Wait());

  // By hand, so that the end of its time at the server is known.
  RawPeer peer(server.address());
  wire::RpcMeta late = EchoMeta(1);
  late.mutable_request()->set_timeout_ms(3'600'000);
  test::EchoRequest request;
  request.set_message("late");
  ASSERT_TRUE(peer.Send(FrameBytes(late, &request)));
  wire::RpcMeta unknown = EchoMeta(2);
  unknown.mutable_request()->set_method_name("Unknown");
  ASSERT_TRUE(peer.Send(FrameBytes(unknown, nullptr)));
  const auto refused = peer.Receive();
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->meta.correlation_id(), 2);
  // So the one before it has arrived too.
  runtime.Leap(std::chrono::hours(1));
  leave.Signal();

  const auto answer = peer.Receive();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->meta.correlation_id(), 1);
  EXPECT_EQ(answer->meta.response().error_code(), kRpcTimedOut);
  ASSERT_TRUE(first.Wait());
  EXPECT_EQ(server.service().runs(), 1);
}

}  // namespace
}  // namespace farcall
