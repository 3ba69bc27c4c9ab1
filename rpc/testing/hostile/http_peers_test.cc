// SPDX-License-Identifier: Apache-2.0
//
// Peers that misuse HTTP: their own connection ends, in time and with bounded memory, and a
// healthy one beside them notices nothing.

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/http_peer.h"
#include "rpc/testing/leaping_runtime.h"
#include "rpc/testing/test_peers.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

constexpr char kEcho[] = "/TestService/Echo";

class HttpPeersTest : public ::testing::Test {
 protected:
  void Start(ServerOptions options = {}) {
    options.runtime = &*runtime_;
    server_ = std::make_unique<TestServer>(EchoBack, options);
    healthy_ = std::make_unique<HttpPeer>(server_->address());
    ExpectHealthy();
  }
  void ExpectHealthy() {
    const auto answer = healthy_->Ask(HttpPost(kEcho, "{\"message\":\"hi\"}"));
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, 200);
  }
  ~HttpPeersTest() override {
    ExpectHealthy();
    EXPECT_TRUE(Eventually([&] { return server_->server().connection_count() == 1; }));
  }

  LeapingRuntime runtime_;
  std::unique_ptr<TestServer> server_;
  std::unique_ptr<HttpPeer> healthy_;
};

TEST_F(HttpPeersTest, SmugglersAreAnsweredOnceAndClosed) {
  Start();
  const std::string hidden = HttpPost(kEcho, "{\"message\":\"smuggled\"}");
  const std::string start = "POST /TestService/Echo HTTP/1.1\r\nHost: a\r\n";
  const std::string shapes[] = {
      start + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
      start + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + hidden,
      start + "Content-Length: 5\r\nContent-Length: 0\r\n\r\n" + hidden,
      start + "Content-Length: 0, 5\r\n\r\n" + hidden,
      start + "Transfer-Encoding: identity\r\n\r\n" + hidden,
      start + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + hidden,
      start + "Transfer-Encoding: chunked\r\n\r\n0\n\n" + hidden,
      start + "X: y\r\n Content-Length: 5\r\n\r\n" + hidden,
  };
  const int runs = server_->service().runs();
  for (const std::string& shape : shapes) {
    HttpPeer peer(server_->address());
    const auto answer = peer.Ask(shape);
    ASSERT_TRUE(answer.has_value()) << shape;
    EXPECT_TRUE(answer->status == 400 || answer->status == 501) << shape << answer->head;
    EXPECT_TRUE(absl::StrContains(answer->head, "Connection: close\r\n"));
    EXPECT_TRUE(peer.WaitForEnd()) << shape;
  }
  EXPECT_EQ(server_->service().runs(), runs);
  EXPECT_TRUE(runtime_.log().Wait("HTTP 400: "));
}

TEST_F(HttpPeersTest, HalfARequestAndThenNothing) {
  Start();
  const std::string request = HttpPost(kEcho, "{\"message\":\"hi\"}");
  for (size_t cut = 1; cut < request.size(); cut += 7) {
    HttpPeer peer(server_->address());
    ASSERT_TRUE(peer.Send(request.substr(0, cut)));
  }
}

TEST_F(HttpPeersTest, OneByteAtATimeIsNoMistake) {
  Start();
  HttpPeer peer(server_->address());
  for (const char byte : HttpPost(kEcho, "{\"message\":\"slow\"}")) {
    ASSERT_TRUE(peer.Send(absl::string_view(&byte, 1)));
  }
  const auto answer = peer.Receive();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->body, "{\"message\":\"slow\"}");
}

TEST_F(HttpPeersTest, ARequestThatDoesNotEndIsNotWaitedForLong) {
  ServerOptions options;
  options.idle_timeout_ms = -1;
  Start(options);
  std::vector<std::unique_ptr<HttpPeer>> peers;
  const std::string starts[] = {
      "GET / HTTP/1.1\r\n",
      "POST /TestService/Echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n",
      "POST /TestService/Echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"};
  for (const std::string& start : starts) {
    peers.push_back(std::make_unique<HttpPeer>(server_->address()));
    ASSERT_TRUE(peers.back()->Send(start));
  }
  ASSERT_TRUE(Eventually([&] { return server_->server().connection_count() == 4; }));
  EXPECT_TRUE(runtime_.LeapUntil([&] { return server_->server().connection_count() == 1; }));
  for (const auto& peer : peers) EXPECT_TRUE(peer->WaitForEnd());
  EXPECT_TRUE(runtime_.log().Wait("a request was not complete within read_timeout_ms"));
}

TEST_F(HttpPeersTest, WhoReadsNothingIsGivenUp) {
  ServerOptions options;
  options.idle_timeout_ms = -1;
  Start(options);
  HttpPeer greedy(server_->address());
  greedy.LimitReceiveBuffer(4096);
  const std::string request =
      HttpPost(kEcho, absl::StrCat("{\"message\":\"", std::string(1 << 20, 'm'), "\"}"));
  EXPECT_TRUE(runtime_.LeapUntil([&] {
    // No time passes while the server still reads: it would miss the rest of a request.
    while (greedy.SendOver(request)) runtime_.Leap(Duration::zero());
    return runtime_.log().Count("it read nothing of its answers within read_timeout_ms") > 0;
  })) << runtime_.log().All();
}

TEST_F(HttpPeersTest, RandomDamageToGoodRequests) {
  Start();
  TestRandom random(8);
  for (int round = 0; round < 60; ++round) {
    std::string bytes;
    for (int i = 1; i < 6; ++i) {
      bytes += HttpPost(kEcho,
                        absl::StrCat("{\"message\":\"", std::string(random.Size(300), 'm'), "\"}"));
    }
    const uint64_t flips = 1 + random.Below(4);
    for (uint64_t i = 0; i < flips; ++i) {
      bytes[random.Below(bytes.size())] ^= static_cast<char>(1 << random.Below(8));
    }
    HttpPeer peer(server_->address());
    peer.Send(bytes);
  }
}

}  // namespace
}  // namespace farcall
