// SPDX-License-Identifier: Apache-2.0
//
// Calls that succeed, over real sockets.

#include <atomic>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/closure.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/kept_answers.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "transport/testing/temp_dir.h"

namespace farcall {
namespace {

TEST(CallsTest, ASynchronousCallReturnsWithItsAnswer) {
  TestServer server;
  TestClient client(server.address());
  TestCall call("hello");
  EXPECT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  EXPECT_EQ(call.response.message(), "hello");
  EXPECT_TRUE(call.controller.status().ok());
}

TEST(CallsTest, AClosureRunsOnceWithTheAnswer) {
  TestServer server;
  TestClient client(server.address());
  TestCall call;
  call.Start(client.channel());
  ASSERT_TRUE(call.Wait());
  EXPECT_TRUE(call.Echoed()) << call.Error();
  // What comes later on the same loop comes after a second run, if there were one.
  EXPECT_TRUE(TestCall().Call(client.channel()).Echoed());
  EXPECT_EQ(call.ends(), 1);
}

TEST(CallsTest, InlineHandlersAnswerToo) {
  TestServer server(EchoBack, Inline());
  TestClient client(server.address());
  for (int i = 0; i < 100; ++i) {
    TestCall call(absl::StrCat("message ", i));
    ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  }
}

TEST(CallsTest, MessagesMayBeEmpty) {
  TestServer server;
  TestClient client(server.address());
  Controller controller;
  test::Nothing request;
  test::Nothing response;
  test::TestService_Stub(&client.channel()).Idle(&controller, &request, &response, nullptr);
  EXPECT_FALSE(controller.Failed()) << controller.ErrorText();

  TestCall empty("");
  EXPECT_TRUE(empty.Call(client.channel()).Echoed()) << empty.Error();
}

TEST(CallsTest, AMessageOf8MiBArrivesWhole) {
  TestServer server;
  TestClient client(server.address());
  std::string message(size_t{8} << 20, '\0');
  for (size_t i = 0; i < message.size(); ++i) message[i] = static_cast<char>('a' + i % 23);
  TestCall call(message);
  EXPECT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
}

TEST(CallsTest, TheLogIdTravels) {
  std::atomic<int64_t> seen{0};
  TestServer server([&](Controller& controller, const auto& request, auto& response, auto* done) {
    seen = controller.log_id();
    EchoBack(controller, request, response, done);
  });
  TestClient client(server.address());
  TestCall call;
  call.controller.set_log_id(-77);
  EXPECT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  EXPECT_EQ(seen, -77);
}

TEST(CallsTest, BothSidesKnowTheirConnection) {
  std::string peer_of_server;
  TestServer server([&](Controller& controller, const auto& request, auto& response, auto* done) {
    peer_of_server = controller.remote_side();
    EchoBack(controller, request, response, done);
  });
  TestClient client(server.address());
  TestCall call;
  EXPECT_EQ(call.controller.connection(), nullptr);
  EXPECT_EQ(call.controller.remote_side(), "");
  ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  EXPECT_EQ(call.controller.remote_side(), server.address());
  EXPECT_EQ(call.controller.local_side(), peer_of_server);
  ASSERT_NE(call.controller.connection(), nullptr);
  EXPECT_EQ(call.controller.connection()->transport, TransportKind::kTcp);
  EXPECT_GT(call.controller.latency_us(), 0);

  TestCall second;
  ASSERT_TRUE(second.Call(client.channel()).Echoed());
  EXPECT_EQ(second.controller.connection(), call.controller.connection()) << "one for all calls";
  EXPECT_EQ(server.server().connection_count(), 1);
}

TEST(CallsTest, AControllerServesAnotherCallAfterReset) {
  TestServer server;
  TestClient client(server.address());
  TestCall call;
  call.controller.set_log_id(5);
  call.controller.set_timeout_ms(1000 * 60);
  call.controller.request_attachment().Append("attached");
  ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  EXPECT_EQ(call.controller.response_attachment().ToString(), "attached");

  call.controller.Reset();
  EXPECT_EQ(call.controller.log_id(), 0);
  EXPECT_EQ(call.controller.timeout_ms(), Controller::kNotSet);
  EXPECT_EQ(call.controller.latency_us(), 0);
  EXPECT_EQ(call.controller.connection(), nullptr);
  ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  EXPECT_TRUE(call.controller.response_attachment().empty()) << "of the first call";
}

TEST(CallsTest, AClosureNeverRunsInsideCallMethod) {
  static thread_local bool inside = false;
  TestServer server(EchoBack, Inline());
  TestClient client(server.address());
  constexpr int kCalls = 300;
  std::atomic<int> caught_inside{0};
  TestEvent ended;
  std::vector<std::unique_ptr<TestCall>> calls;
  for (int i = 0; i < kCalls; ++i) {
    calls.push_back(std::make_unique<TestCall>());
    TestCall& call = *calls.back();
    // Each third fails before it is sent.
    if (i % 3 == 0) call.request.clear_message();
    inside = true;
    test::TestService_Stub(&client.channel())
        .Echo(&call.controller, &call.request, &call.response, NewClosure([&] {
          caught_inside += inside ? 1 : 0;
          ended.Signal();
        }));
    inside = false;
  }
  ASSERT_TRUE(ended.Wait(kCalls));
  EXPECT_EQ(caught_inside, 0);
}

TEST(CallsTest, CallsOutliveTheirChannel) {
  KeptAnswers kept;
  TestServer server(kept.Handler());
  TestClient client(server.address());
  constexpr int kCalls = 10;
  std::vector<TestCall> calls(kCalls);
  for (TestCall& call : calls) call.Start(client.channel());
  ASSERT_TRUE(kept.Wait(kCalls));
  client.Destroy();
  kept.RunAll();
  for (TestCall& call : calls) {
    ASSERT_TRUE(call.Wait());
    EXPECT_TRUE(call.Echoed()) << call.Error();
  }
  EXPECT_TRUE(Eventually([&] { return server.server().connection_count() == 0; }))
      << "the connection outlived the last call";
}

TEST(CallsTest, AChannelThatIsDestroyedWhileItConnectsStillEndsItsCalls) {
  TestServer server;
  TestClient client(server.address());
  TestCall call;
  call.Start(client.channel());
  client.Destroy();
  ASSERT_TRUE(call.Wait());
  EXPECT_TRUE(call.Echoed()) << call.Error();
}

TEST(CallsTest, AClosureMayDestroyItsChannel) {
  TestServer server(EchoBack, Inline());
  TestClient client(server.address());
  TestCall other;
  other.Start(client.channel());
  TestCall call;
  TestEvent ended;
  test::TestService_Stub(&client.channel())
      .Echo(&call.controller, &call.request, &call.response, NewClosure([&] {
        client.Destroy();
        ended.Signal();
      }));
  ASSERT_TRUE(ended.Wait());
  EXPECT_TRUE(call.Echoed()) << call.Error();
  ASSERT_TRUE(other.Wait());
  EXPECT_TRUE(other.Echoed()) << other.Error();
}

TEST(CallsTest, WithoutARuntimeTheDefaultOneServesBothSides) {
  ScriptedService service(EchoBack);
  Server server;
  ASSERT_TRUE(server.AddService(&service, SERVER_DOESNT_OWN_SERVICE).ok());
  ASSERT_TRUE(server.Start("127.0.0.1:0").ok());
  const auto channel = Channel::Create(server.listen_address().ToString(), Patient());
  ASSERT_TRUE(channel.ok());
  TestCall call;
  EXPECT_TRUE(call.Call(**channel).Echoed()) << call.Error();
}

class TargetTest : public ::testing::Test {
 protected:
  static void ExpectEcho(const std::string& listen, absl::string_view target_host = "") {
    TestServer server(EchoBack, {}, listen);
    std::string target = server.address();
    if (!target_host.empty()) {
      target = absl::StrCat(target_host, ":", server.server().listen_address().port());
    }
    TestClient client(target);
    TestCall call;
    EXPECT_TRUE(call.Call(client.channel()).Echoed()) << target << ": " << call.Error();
  }
};

TEST_F(TargetTest, Ipv4) { ExpectEcho("127.0.0.1:0"); }
TEST_F(TargetTest, Ipv6) { ExpectEcho("[::1]:0"); }
TEST_F(TargetTest, Ipv4OnAListenerForBoth) { ExpectEcho("[::]:0", "127.0.0.1"); }
TEST_F(TargetTest, Unix) {
  const TempDir dir;
  ExpectEcho(absl::StrCat("unix:", dir.path(), "/socket"));
}
// Whatever the system resolves it to first: the addresses are tried in turn.
TEST_F(TargetTest, NameOfAnIpv4Host) { ExpectEcho("127.0.0.1:0", "localhost"); }

TEST_F(TargetTest, EveryAddressOfTheMachine) {
  TestRuntime runtime;
  ScriptedService service(EchoBack);
  Server server;
  ASSERT_TRUE(server.AddService(&service, SERVER_DOESNT_OWN_SERVICE).ok());
  ServerOptions options;
  options.runtime = &*runtime;
  ASSERT_TRUE(server.Start(uint16_t{0}, options).ok());
  TestClient client(absl::StrCat("127.0.0.1:", server.listen_address().port()));
  EXPECT_TRUE(TestCall().Call(client.channel()).Echoed());
}

}  // namespace
}  // namespace farcall
