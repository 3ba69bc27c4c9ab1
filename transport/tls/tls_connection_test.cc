// SPDX-License-Identifier: Apache-2.0
//
// TLS connections on the simulated network, one end of which may be no TLS at all.

#include "transport/tls/tls_connection.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "transport/testing/sim_harness.h"
#include "transport/tls/testing/engine_pair.h"
#include "transport/tls/testing/tls_harness.h"
#include "transport/tls/testing/tls_peers.h"

namespace farcall {
namespace {

void ExpectError(const absl::Status& status, absl::StatusCode code,
                 std::initializer_list<std::string> parts) {
  EXPECT_EQ(status.code(), code) << status;
  for (const std::string& part : parts) {
    EXPECT_TRUE(absl::StrContains(status.message(), part)) << part << " is not in: " << status;
  }
}

class TlsConnectionTest : public testing::Test {
 protected:
  bool Until(absl::FunctionRef<bool()> done) { return harness_.Until(done); }
  Transport& tls() { return harness_.transport(); }
  Transport& plain() { return harness_.plain(); }

  TlsHarness harness_{std::make_unique<SimHarness>(7)};
};

TEST_F(TlsConnectionTest, InfoTellsTheVersionAndThePeersCertificate) {
  TlsTestPair pair(harness_, tls(), tls());
  ASSERT_TRUE(pair.Connect());
  ASSERT_TRUE(pair.connected->ok()) << *pair.connected;
  pair.Write(pair.client, "hello");
  ASSERT_TRUE(Until([&] { return pair.server.read() == "hello"; }));
  harness_.Run(pair.client.loop(), [&] {
    const ConnectionInfo info = pair.client.connection().info();
    EXPECT_TRUE(absl::StartsWith(info.tls, "TLSv1.3 ")) << info.tls;
    EXPECT_EQ(info.tls_peer, "/CN=server");
    EXPECT_EQ(info.bytes_written, 5u);
    EXPECT_EQ(info.why_not_rdma, WhyNotRdma::kNotAsked);
  });
}

TEST_F(TlsConnectionTest, TlsThatForbidsRdmaSaysSo) {
  const TestTls& tls = TestTls::Usual();
  TlsTransport transport(plain());
  EventLoop& loop = harness_.loops().at(0);
  TlsTestEnd server;
  TlsTestEnd client;
  ListenOptions listen;
  listen.tls = tls.server;
  listen.tls_forbids_rdma = true;
  auto listener = transport.Listen(
      harness_.loops(), harness_.FreeAddress(), listen,
      [&](EventLoop& its, auto connection) { server.Adopt(its, std::move(connection)); });
  ASSERT_TRUE(listener.ok());
  ConnectOptions connect;
  connect.tls = tls.client;
  connect.tls_forbids_rdma = true;
  harness_.Run(loop, [&] {
    transport.Connect(loop, (*listener)->address(), connect, [&](auto connection) {
      if (connection.ok()) client.Adopt(loop, *std::move(connection));
    });
  });
  ASSERT_TRUE(Until([&] { return client.started() && server.started(); }));
  for (TlsTestEnd* const end : {&client, &server}) {
    harness_.Run(end->loop(), [&] {
      EXPECT_EQ(end->connection().info().why_not_rdma, WhyNotRdma::kTls);
      end->Drop();
    });
  }
}

TEST_F(TlsConnectionTest, APeerWithoutTlsIsToldAndGetsAnAnswer) {
  TlsTestPair pair(harness_, plain(), tls());
  ASSERT_TRUE(pair.Connect());
  pair.Write(pair.client, "GET / HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(Until([&] { return pair.server.closed() && pair.client.closed(); }));
  ExpectError(*pair.server.closed(), absl::StatusCode::kInvalidArgument,
              {"this port speaks TLS", "GET / HT"});
  EXPECT_TRUE(absl::StrContains(pair.client.read(), "this port speaks TLS")) << pair.client.read();
}

TEST_F(TlsConnectionTest, AServerWithoutTlsIsNamed) {
  TlsTestPair pair(harness_, tls(), plain());
  pair.Begin();
  // It answers the ClientHello as HTTP would.
  ASSERT_TRUE(Until([&] { return !pair.server.read().empty(); }));
  pair.Write(pair.server, "HTTP/1.1 400 Bad Request\r\n\r\n");
  pair.Close(pair.server, CloseMode::kFlush);
  ASSERT_TRUE(Until([&] { return pair.connected.has_value(); }));
  ExpectError(*pair.connected, absl::StatusCode::kInvalidArgument,
              {"cannot connect to", "the peer does not speak TLS", "HTTP/1.1"});
}

TEST_F(TlsConnectionTest, ASilentServerTimesTheClientOut) {
  TlsTestPair pair(harness_, tls(), plain());
  ASSERT_TRUE(pair.Connect(std::chrono::milliseconds(100)));
  ExpectError(*pair.connected, absl::StatusCode::kDeadlineExceeded,
              {"cannot connect to", "TLS handshake", "100ms"});
}

TEST_F(TlsConnectionTest, ASilentClientTimesOutAtTheServer) {
  TlsTestPair pair(harness_, plain(), tls());
  ASSERT_TRUE(pair.Connect());
  ASSERT_TRUE(Until([&] { return pair.server.closed().has_value(); }));
  ExpectError(*pair.server.closed(), absl::StatusCode::kDeadlineExceeded,
              {"no end of the TLS handshake with", "10s", "this port speaks TLS"});
}

// One byte now and then holds a server no longer than silence.
TEST_F(TlsConnectionTest, ASlowHandshakeTimesOutAsWell) {
  TlsTestPair pair(harness_, plain(), tls());
  ASSERT_TRUE(pair.Connect());
  ASSERT_TRUE(Until([&] { return pair.server.started(); }));
  pair.Write(pair.client, absl::string_view("\x16\x03\x01\x02\x00\x01\x00", 7));
  ASSERT_TRUE(Until([&] { return pair.server.closed().has_value(); }));
  EXPECT_TRUE(absl::IsDeadlineExceeded(*pair.server.closed())) << *pair.server.closed();
}

TEST_F(TlsConnectionTest, AHandshakeThatIsCutOffIsToldAtBothEnds) {
  TlsTestPair server_side(harness_, plain(), tls());
  ASSERT_TRUE(server_side.Connect());
  server_side.Write(server_side.client, absl::string_view("\x16\x03\x01\x02\x00\x01\x00", 7));
  server_side.Close(server_side.client, CloseMode::kFlush);
  ASSERT_TRUE(Until([&] { return server_side.server.closed().has_value(); }));
  ExpectError(*server_side.server.closed(), absl::StatusCode::kUnavailable,
              {"the TLS handshake was cut off", "closed by peer"});

  TlsTestPair client_side(harness_, tls(), plain());
  client_side.Begin();
  ASSERT_TRUE(Until([&] { return !client_side.server.read().empty(); }));
  client_side.Close(client_side.server, CloseMode::kFlush);
  ASSERT_TRUE(Until([&] { return client_side.connected.has_value(); }));
  ExpectError(*client_side.connected, absl::StatusCode::kUnavailable,
              {"cannot connect to", "the TLS handshake was cut off", "does it speak TLS"});
}

TEST_F(TlsConnectionTest, AnEndInOrderIsThePeersClose) {
  TlsTestPair pair(harness_, tls(), tls());
  ASSERT_TRUE(pair.Connect());
  pair.Write(pair.client, "last words");
  pair.Close(pair.client, CloseMode::kFlush);
  ASSERT_TRUE(Until([&] { return pair.server.closed() && pair.client.closed(); }));
  EXPECT_EQ(pair.server.read(), "last words");
  ExpectError(*pair.server.closed(), absl::StatusCode::kUnavailable, {"closed by peer"});
  EXPECT_FALSE(absl::StrContains(pair.server.closed()->message(), "close_notify"));
}

TEST_F(TlsConnectionTest, AnEndWithoutCloseNotifyIsTold) {
  TlsTestPair pair(harness_, tls(), tls());
  ASSERT_TRUE(pair.Connect());
  pair.Write(pair.client, "half a message");
  ASSERT_TRUE(Until([&] { return !pair.server.read().empty(); }));
  pair.Close(pair.client, CloseMode::kAbort);
  ASSERT_TRUE(Until([&] { return pair.server.closed().has_value(); }));
  ExpectError(*pair.server.closed(), absl::StatusCode::kUnavailable,
              {"without close_notify", "may be cut off"});
}

TEST_F(TlsConnectionTest, WhatAServerWritesBeforeTheHandshakeLeavesAfterIt) {
  TlsTestPair pair(harness_, tls(), tls());
  pair.Begin();
  ASSERT_TRUE(Until([&] { return pair.server.started(); }));
  pair.Write(pair.server, "welcome");
  pair.Close(pair.server, CloseMode::kFlush);
  ASSERT_TRUE(Until([&] { return pair.client.closed() && pair.server.closed(); }));
  EXPECT_EQ(pair.client.read(), "welcome");
  EXPECT_TRUE(absl::IsCancelled(*pair.server.closed()));
}

TEST_F(TlsConnectionTest, ACloseDuringAHandshakeThatNeverEndsEnds) {
  TlsTestPair pair(harness_, plain(), tls());
  ASSERT_TRUE(pair.Connect());
  ASSERT_TRUE(Until([&] { return pair.server.started(); }));
  pair.Write(pair.server, "nobody will read this");
  pair.Close(pair.server, CloseMode::kFlush);
  ASSERT_TRUE(Until([&] { return pair.server.closed().has_value(); }));
  EXPECT_TRUE(absl::IsCancelled(*pair.server.closed())) << *pair.server.closed();
  EXPECT_EQ(pair.client.read(), "");
}

// A client whose TLS the test does by hand.
class ByHand : public testing::Test {
 protected:
  ByHand() : engine_(*TlsEngine::Client(context_, "server.test", *pool_)) {}

  // Takes what came, and sends what the engine says.
  void Exchange() {
    if (engine_outcome_ == TlsEngine::Outcome::kMore) {
      Buffer input(pair_.client.TakeRead());
      engine_outcome_ = engine_->Handshake(input);
    }
    const std::string out = engine_->TakeOutput().ToString();
    if (!out.empty()) pair_.Write(pair_.client, out);
  }
  bool Shake() {
    if (!pair_.Connect()) return false;
    return harness_.Until([&] {
      Exchange();
      return engine_outcome_ == TlsEngine::Outcome::kDone;
    });
  }
  TlsTestEnd& server() { return pair_.server; }

  TestCa ca_;
  const std::unique_ptr<BlockPool> pool_ = *BlockPool::Create(BlockPoolOptions());
  const std::shared_ptr<const LoadedContext> context_ = *LoadClientContext(ca_.Client());
  SSL** const ssl_ = EnginePair::Catch(*context_);
  const std::unique_ptr<TlsEngine> engine_;
  TlsEngine::Outcome engine_outcome_ = TlsEngine::Outcome::kMore;
  TlsHarness harness_{std::make_unique<SimHarness>(9), TestTls::Of(ca_.Client(), ca_.Server())};
  TlsTestPair pair_{harness_, harness_.plain(), harness_.transport()};
};

TEST_F(ByHand, GarbageAfterTheHandshakeIsAnErrorThatNamesThePeer) {
  ASSERT_TRUE(Shake()) << engine_->error();
  std::string good = EnginePair::Encrypted(*engine_, "good").ToString();
  pair_.Write(pair_.client, good + "\x17\x03\x03\x01\x01" + std::string(300, 'g'));
  ASSERT_TRUE(harness_.Until([&] { return server().closed().has_value(); }));
  EXPECT_EQ(server().read(), "good");
  ExpectError(*server().closed(), absl::StatusCode::kDataLoss, {"TLS failed", "10.1."});
}

// Each asks for an answer, and none is read: RFC 8446 section 4.6.3.
TEST_F(ByHand, KeyUpdatesWithoutEndTakeNoMemory) {
  ASSERT_TRUE(Shake()) << engine_->error();
  harness_.Run(pair_.client.loop(), [&] { pair_.client.connection().PauseRead(); });
  for (int i = 0; i < 2000 && !server().closed(); ++i) {
    ASSERT_EQ(SSL_key_update(*ssl_, SSL_KEY_UPDATE_REQUESTED), 1);
    pair_.Write(pair_.client, EnginePair::Encrypted(*engine_, "x").ToString());
    harness_.Settle();
  }
  EXPECT_LT(harness_.pool().stats().used_bytes, size_t{2} << 20);
}

TEST_F(ByHand, ManySmallRecordsArriveAsOneStream) {
  ASSERT_TRUE(Shake()) << engine_->error();
  std::string all;
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += std::to_string(i);
    all += EnginePair::Encrypted(*engine_, std::to_string(i)).ToString();
  }
  pair_.Write(pair_.client, all);
  ASSERT_TRUE(harness_.Until([&] { return server().read().size() == text.size(); }));
  EXPECT_EQ(server().read(), text);
}

TEST_F(ByHand, WritesOfATurnShareARecord) {
  ASSERT_TRUE(Shake()) << engine_->error();
  ASSERT_TRUE(harness_.Until([&] { return server().started(); }));
  // The server is done when it has heard the client's last flight.
  pair_.Write(pair_.client, EnginePair::Encrypted(*engine_, "go").ToString());
  ASSERT_TRUE(harness_.Until([&] { return server().read() == "go"; }));
  pair_.client.TakeRead();
  harness_.Run(server().loop(), [&] {
    for (int i = 0; i < 1000; ++i) {
      server().connection().Write(Buffer(absl::string_view("0123456789")));
    }
  });
  harness_.Settle();
  // One record, with its header and what TLS 1.3 adds, RFC 8446 section 5.2.
  EXPECT_EQ(pair_.client.read().size(), 10'000u + 5 + 1 + 16);
}

// All blocks of the harness's pool; the test's engine has a pool of its own.
std::vector<BlockRef> TakeAll(BlockPool& pool) {
  std::vector<BlockRef> all;
  while (BlockRef block = pool.Allocate(BlockPool::kSmall)) all.push_back(std::move(block));
  return all;
}

TEST_F(ByHand, WithoutMemoryReadingWaits) {
  ASSERT_TRUE(Shake()) << engine_->error();
  std::vector<BlockRef> all = TakeAll(harness_.pool());
  pair_.Write(pair_.client, EnginePair::Encrypted(*engine_, "patience").ToString());
  for (int i = 0; i < 1000; ++i) harness_.Settle();
  EXPECT_EQ(server().read(), "");
  EXPECT_FALSE(server().closed().has_value());
  all.clear();
  ASSERT_TRUE(harness_.Until([&] { return server().read() == "patience"; }));
}

// Its blocks may be just what others wait for.
TEST_F(ByHand, WithoutMemoryForTheRestOfAMessageItEnds) {
  ASSERT_TRUE(Shake()) << engine_->error();
  server().TakeNothing();
  pair_.Write(pair_.client,
              EnginePair::Encrypted(*engine_, std::string(BlockPool::kSmall, 'x')).ToString());
  harness_.Settle();
  const std::vector<BlockRef> all = TakeAll(harness_.pool());
  pair_.Write(pair_.client, EnginePair::Encrypted(*engine_, "the rest").ToString());
  ASSERT_TRUE(harness_.Until([&] { return server().closed().has_value(); }));
  ExpectError(*server().closed(), absl::StatusCode::kResourceExhausted, {"no memory to decrypt"});
}

TEST_F(TlsConnectionTest, DrainingIsToldWhateverTheMarksAre) {
  for (const auto& [low, high] : {std::pair<size_t, size_t>{0, 1}, {1, 2}, {100, 30'000}}) {
    TlsTestPair pair(harness_, tls(), tls());
    pair.marks.low_water = low;
    pair.marks.high_water = high;
    ASSERT_TRUE(pair.Connect());
    for (int round = 1; round <= 3; ++round) {
      pair.Write(pair.client, std::string(100'000, 'd'));
      ASSERT_TRUE(Until([&] { return pair.client.drained() == round; })) << low << " " << high;
    }
    ASSERT_TRUE(Until([&] { return pair.server.read().size() == 300'000; }));
  }
}

}  // namespace
}  // namespace farcall
