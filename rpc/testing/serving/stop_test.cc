// SPDX-License-Identifier: Apache-2.0
//
// Servers that stop, and what becomes of the calls.

#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/kept_answers.h"
#include "rpc/testing/raw_peer.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "transport/address.h"
#include "transport/base/unique_fd.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

int IdleCode(Channel& channel) {
  Controller controller;
  test::Nothing request;
  test::Nothing response;
  test::TestService_Stub(&channel).Idle(&controller, &request, &response, nullptr);
  return controller.ErrorCode();
}

// Whether a connect to `address` is refused.
bool IsRefused(const std::string& address) {
  const auto parsed = Address::Parse(address);
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(parsed->port());
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::connect(fd.get(), reinterpret_cast<sockaddr*>(&to), sizeof(to)) != 0;
}

TEST(StopTest, WaitsForAnswersAndRefusesNewRequests) {
  KeptAnswers kept;
  TestServer server(kept.Handler());
  TestClient client(server.address());
  std::vector<TestCall> calls(5);
  for (TestCall& call : calls) call.Start(client.channel());
  ASSERT_TRUE(kept.Wait(5));
  RawPeer peer(server.address());
  wire::RpcMeta unknown = EchoMeta(6);
  unknown.mutable_request()->set_method_name("Unknown");
  ASSERT_TRUE(peer.Send(FrameBytes(unknown, nullptr)));
  ASSERT_TRUE(peer.Receive().has_value()) << "it was accepted";
  auto stopped = std::async(std::launch::async, [&] { return server.server().Stop(kTestTimeout); });
  EXPECT_TRUE(Eventually([&] { return IdleCode(client.channel()) == kLogoff; }));
  ASSERT_TRUE(peer.Send(EchoFrame(7)));
  const auto refused = peer.Receive();
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->meta.correlation_id(), 7);
  EXPECT_EQ(refused->meta.response().error_code(), kLogoff);
  EXPECT_EQ(refused->meta.response().error_text(), "the server is stopping");
  peer.Close();
  TestClient newcomer(server.address());
  EXPECT_EQ(IdleCode(newcomer.channel()), kFailedSocket) << "no client is accepted any more";

  kept.RunAll();
  for (TestCall& call : calls) {
    ASSERT_TRUE(call.Wait());
    EXPECT_TRUE(call.Echoed()) << call.Error();
  }
  EXPECT_TRUE(stopped.get().ok());
  EXPECT_EQ(server.server().connection_count(), 0);
  EXPECT_EQ(IdleCode(client.channel()), kFailedSocket);
}

TEST(StopTest, ASecondStopWaitsForTheFirst) {
  KeptAnswers kept;
  TestServer server(kept.Handler());
  TestClient client(server.address());
  TestCall call;
  call.Start(client.channel());
  ASSERT_TRUE(kept.Wait(1));
  auto first = std::async(std::launch::async, [&] { return server.server().Stop(kTestTimeout); });
  ASSERT_TRUE(Eventually([&] { return IsRefused(server.address()); }));
  auto second = std::async(std::launch::async, [&] { return server.server().Stop(kTestTimeout); });
  // Meanwhile it could have returned.
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(IsRefused(server.address()));
  EXPECT_EQ(second.wait_for(Duration::zero()), std::future_status::timeout);
  kept.RunAll();
  EXPECT_TRUE(second.get().ok());
  EXPECT_EQ(server.server().connection_count(), 0);
  EXPECT_TRUE(first.get().ok());
  ASSERT_TRUE(call.Wait());
  EXPECT_TRUE(call.Echoed()) << call.Error();
}

TEST(StopTest, LargeAnswersStillArriveWhole) {
  KeptAnswers kept;
  TestServer server(kept.Handler());
  TestClient client(server.address());
  constexpr size_t kBytes = size_t{16} << 20;  // more than a socket takes to send
  TestCall call;
  call.controller.request_attachment().Append(std::string(kBytes, 'x'));
  call.Start(client.channel());
  ASSERT_TRUE(kept.Wait(1));
  auto stopped = std::async(std::launch::async, [&] { return server.server().Stop(kTestTimeout); });
  kept.RunAll();
  EXPECT_TRUE(stopped.get().ok());
  ASSERT_TRUE(call.Wait());
  EXPECT_TRUE(call.Echoed()) << call.Error();
  EXPECT_EQ(call.controller.response_attachment().size(), kBytes);
}

TEST(StopTest, CountsWhatWasNotAnsweredInTime) {
  KeptAnswers kept;
  TestServer server(kept.Handler());
  TestClient client(server.address());
  std::vector<TestCall> calls(3);
  for (TestCall& call : calls) call.Start(client.channel());
  ASSERT_TRUE(kept.Wait(3));
  const absl::Status stopped = server.server().Stop(milliseconds(50));
  EXPECT_TRUE(absl::IsDeadlineExceeded(stopped)) << stopped;
  EXPECT_EQ(stopped.message(), "3 calls were not answered within 50 ms");
  EXPECT_EQ(server.server().connection_count(), 0);
  for (TestCall& call : calls) {
    ASSERT_TRUE(call.Wait());
    EXPECT_EQ(call.controller.ErrorCode(), kFailedSocket) << call.Error();
  }
  kept.RunAll();
  EXPECT_EQ(calls[0].ends(), 1);
}

TEST(StopTest, TwiceIsOnce) {
  TestServer server;
  TestClient client(server.address());
  EXPECT_TRUE(TestCall().Call(client.channel()).Echoed());
  EXPECT_TRUE(server.server().Stop(kTestTimeout).ok());
  EXPECT_TRUE(server.server().Stop(kTestTimeout).ok());
}

TEST(StopTest, OfAServerThatNeverStartedIsNothing) {
  Server server;
  EXPECT_TRUE(server.Stop(kTestTimeout).ok());
}

TEST(StopTest, DestroyingAServerWaitsForTheHandlersThatRun) {
  for (const ServerOptions& options : {Inline(), ServerOptions(), OnPool()}) {
    TestEvent entered;
    TestEvent leave;
    std::atomic<bool> left{false};
    TestServer server(
        [&](Controller& controller, const auto& request, auto& response, auto* done) {
          entered.Signal();
          EXPECT_TRUE(leave.Wait());
          EchoBack(controller, request, response, done);
          left = true;
        },
        options);
    const std::string address = server.address();
    TestClient client(address);
    TestCall call;
    call.Start(client.channel());
    ASSERT_TRUE(entered.Wait());
    std::thread destroyer([&] {
      server.Destroy();
      EXPECT_TRUE(left);
    });
    // That no client is accepted any more shows that the server is being destroyed.
    EXPECT_TRUE(Eventually([&] { return IsRefused(address); }));
    leave.Signal();
    destroyer.join();
    ASSERT_TRUE(call.Wait());
  }
}

TEST(StopTest, AnAnswerAfterTheServerHasGoneIsDropped) {
  KeptAnswers kept;
  TestServer server(kept.Handler());
  TestClient client(server.address());
  std::vector<TestCall> calls(4);
  for (TestCall& call : calls) {
    call.controller.request_attachment().Append(std::string(100'000, 'x'));
    call.Start(client.channel());
  }
  ASSERT_TRUE(kept.Wait(4));
  server.Destroy();
  for (TestCall& call : calls) {
    ASSERT_TRUE(call.Wait());
    EXPECT_EQ(call.controller.ErrorCode(), kFailedSocket) << call.Error();
  }
  kept.RunAll();
  EXPECT_TRUE(Eventually([&] { return server.runtime().used_bytes() == 0; }));
}

TEST(StopTest, AnAnswerAfterTheServerAndItsHandlerThreadsHaveGoneIsDropped) {
  KeptAnswers kept;
  ServerOptions options;
  options.handler_threads = 1;
  options.handlers_on_pool = true;
  TestServer server(kept.Handler(), options);
  TestClient client(server.address());
  TestCall call;
  call.Start(client.channel());
  ASSERT_TRUE(kept.Wait(1));
  server.Destroy();
  ASSERT_TRUE(call.Wait());
  EXPECT_EQ(call.controller.ErrorCode(), kFailedSocket) << call.Error();
  kept.RunAll();
}

TEST(StopTest, AChannelFindsTheNextServerOnTheSamePort) {
  auto first = std::make_unique<TestServer>();
  const std::string address = first->address();
  TestClient client(address);
  for (int restart = 0; restart < 3; ++restart) {
    EXPECT_TRUE(Eventually([&] { return TestCall().Call(client.channel()).Echoed(); }));
    first = nullptr;
    EXPECT_FALSE(TestCall().Call(client.channel()).Echoed());
    first = std::make_unique<TestServer>(EchoBack, ServerOptions(), address);
  }
  EXPECT_TRUE(Eventually([&] { return TestCall().Call(client.channel()).Echoed(); }));
}

// What was admitted is answered, and what was not is refused: no request is lost.
TEST(StopTest, UnderLoadLosesNoAnswer) {
  constexpr int kThreads = 3;
  for (int round = 0; round < 9; ++round) {
    const ServerOptions options = round % 3 == 0   ? Inline()
                                  : round % 3 == 1 ? ServerOptions()
                                                   : OnPool(4);
    TestServer server(EchoBack, options);
    TestClient client(server.address());
    std::atomic<int> echoed{0};
    std::vector<std::thread> callers;
    for (int i = 0; i < kThreads; ++i) {
      callers.emplace_back([&] {
        for (;;) {
          TestCall call;
          if (!call.Call(client.channel()).Echoed()) {
            const int code = call.controller.ErrorCode();
            EXPECT_TRUE(code == kLogoff || code == kFailedSocket) << call.Error();
            return;
          }
          ++echoed;
        }
      });
    }
    EXPECT_TRUE(Eventually([&] { return echoed > 20 * round; }));
    EXPECT_TRUE(server.server().Stop(kTestTimeout).ok());
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(echoed, server.service().runs());
  }
}

}  // namespace
}  // namespace farcall
