// SPDX-License-Identifier: Apache-2.0
//
// A block pool at its limit: calls fail or wait, and it goes on when blocks come home.

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/healthy_client.h"
#include "rpc/testing/raw_peer.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

namespace farcall {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// 2 MiB of blocks of each of the three sizes.
RuntimeOptions SmallPool() {
  RuntimeOptions options = OneLoop();
  options.pool.region_bytes = 2 * kMiB;
  options.pool.max_bytes = 6 * kMiB;
  return options;
}

TEST(PoolLimitTest, AMessageThatFindsNoBlocksIsNotSent) {
  TestServer server;
  TestClient client(server.address(), Patient(), SmallPool());
  TestCall large(std::string(8 * kMiB, 'x'));
  large.Call(client.channel());
  EXPECT_EQ(large.controller.ErrorCode(), kOvercrowded) << large.Error();
  EXPECT_TRUE(absl::StrContains(large.controller.ErrorText(), "pool.max_bytes")) << large.Error();
  TestCall small;
  EXPECT_TRUE(small.Call(client.channel()).Echoed()) << small.Error();
}

ServerOptions On(TestRuntime& runtime) {
  ServerOptions options;
  options.runtime = &*runtime;
  return options;
}

// Calls that may time out on the way, until one succeeds.
bool GetsThrough(TestClient& client) {
  return Eventually([&] {
    TestCall call;
    call.controller.set_timeout_ms(1000);
    return call.Call(client.channel()).Echoed();
  });
}

TEST(PoolLimitTest, ARequestLargerThanTheServersPoolBlocksNobodyForLong) {
  TestRuntime runtime(SmallPool());
  TestServer server(EchoBack, On(runtime));
  TestClient client(server.address());
  TestCall large;
  large.controller.request_attachment().Append(std::string(16 * kMiB, 'x'));
  large.Call(client.channel());
  EXPECT_EQ(large.controller.ErrorCode(), kFailedSocket) << large.Error();
  EXPECT_TRUE(runtime.log().Wait("the block pool is at its limit"));
  TestClient other(server.address());
  EXPECT_TRUE(GetsThrough(other));
  EXPECT_TRUE(GetsThrough(client));
}

// Each has a part of the pool, and none can have the rest.
TEST(PoolLimitTest, RequestsThatFillThePoolTogetherBlockNobodyForLong) {
  TestRuntime runtime(SmallPool());
  TestServer server(EchoBack, On(runtime));
  std::vector<std::unique_ptr<TestClient>> clients;
  std::vector<TestCall> calls(6);
  for (TestCall& call : calls) {
    clients.push_back(std::make_unique<TestClient>(server.address()));
    call.controller.request_attachment().Append(std::string(3 * kMiB, 'x'));
    call.Start(clients.back()->channel());
  }
  for (TestCall& call : calls) {
    ASSERT_TRUE(call.Wait());
    const int code = call.controller.ErrorCode();
    EXPECT_TRUE(code == 0 || code == kFailedSocket) << call.Error();
  }
  for (const auto& client : clients) EXPECT_TRUE(GetsThrough(*client));
}

// Each holds 4 MiB of answers and a request, by its leave; together they hold all there is.
TEST(PoolLimitTest, OfSlowReadersThatFillThePoolWhoHoldsMostGoesAndNobodyElse) {
  RuntimeOptions options = SmallPool();
  options.pool.max_bytes = 24 * kMiB;
  TestRuntime runtime(options);
  ServerOptions server_options = On(runtime);
  server_options.handler_threads = 0;
  TestServer server(EchoBack, server_options);
  HealthyClient healthy(server.address());
  ASSERT_TRUE(healthy.Serves());
  test::EchoRequest request;
  request.set_message("never read");
  const std::string frame = FrameBytes(EchoMeta(1), &request, std::string(kMiB / 2, 'x'));
  std::vector<RawPeer> peers;
  std::vector<std::thread> senders;
  for (int i = 0; i < 12; ++i) {
    peers.emplace_back(server.address());
    peers.back().LimitReceiveBuffer(16 << 10);
  }
  for (RawPeer& peer : peers) {
    senders.emplace_back([&] {
      while (peer.Send(frame)) {
      }
    });
  }
  EXPECT_TRUE(runtime.log().Wait("this one held the most of the block pool"))
      << runtime.log().All();
  EXPECT_TRUE(healthy.Serves());
  for (RawPeer& peer : peers) peer.Shutdown();
  for (std::thread& sender : senders) sender.join();
  EXPECT_TRUE(healthy.Serves());
  EXPECT_EQ(healthy.hurt(), 0);
}

// Parts of messages whose senders have died give their blocks back.
TEST(PoolLimitTest, SendersThatDieInTheMiddleGiveTheirBlocksBack) {
  TestRuntime runtime(SmallPool());
  TestServer server(EchoBack, On(runtime));
  std::vector<RawPeer> peers;
  for (int i = 0; i < 6; ++i) {
    peers.emplace_back(server.address());
    peers.back().Send(HeaderBytes(8 * kMiB, 20) + std::string(kMiB, 'x'));
  }
  peers.clear();
  TestClient client(server.address());
  EXPECT_TRUE(GetsThrough(client));
  client.Destroy();
  EXPECT_TRUE(Eventually([&] { return server.server().connection_count() == 0; }));
  EXPECT_TRUE(Eventually([&] { return runtime.used_bytes() == 0; }));
}

TEST(PoolLimitTest, AnAnswerLargerThanTheClientsPoolFailsItsCall) {
  TestServer server([](Controller& controller, const auto& request, auto& response, auto* done) {
    response.set_message(request.message());
    const size_t bytes = request.message() == "large" ? 16 * kMiB : 1;
    controller.response_attachment().Append(std::string(bytes, 'x'));
    done->Run();
  });
  TestClient client(server.address(), Patient(), SmallPool());
  TestCall large("large");
  large.Call(client.channel());
  EXPECT_EQ(large.controller.ErrorCode(), kFailedSocket) << large.Error();
  EXPECT_TRUE(absl::StrContains(large.controller.ErrorText(), "the block pool is at its limit"))
      << large.Error();
  EXPECT_TRUE(GetsThrough(client));
}

}  // namespace
}  // namespace farcall
