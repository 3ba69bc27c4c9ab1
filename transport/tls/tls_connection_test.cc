// SPDX-License-Identifier: Apache-2.0
//
// TLS connections on the simulated network, one end of which may be no TLS at all.

#include "transport/tls/tls_connection.h"

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "transport/testing/sim/sim_harness.h"
#include "transport/tls/testing/expect_error.h"
#include "transport/tls/testing/tls_harness.h"
#include "transport/tls/testing/tls_peers.h"

namespace farcall {
namespace {

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
  ExpectError(*pair.connected, absl::StatusCode::kUnauthenticated,
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
  ASSERT_TRUE(Until([&] { return pair.client.read() == "welcome"; }));
  pair.Close(pair.server, CloseMode::kFlush);
  ASSERT_TRUE(Until([&] { return pair.client.closed() && pair.server.closed(); }));
  EXPECT_TRUE(absl::IsCancelled(*pair.server.closed()));
}

// The end of the client's stream comes as soon as the network allows.
TEST_F(TlsConnectionTest, ACloseWaitsForNoHandshakeThatThePeerHasNotBegun) {
  TlsTestPair pair(harness_, plain(), tls());
  ASSERT_TRUE(pair.Connect());
  ASSERT_TRUE(Until([&] { return pair.server.started(); }));
  EventLoop& loop = pair.server.loop();
  TimePoint begin;
  pair.Write(pair.server, "this is not read");
  harness_.Run(loop, [&] { begin = loop.now(); });
  pair.Close(pair.server, CloseMode::kFlush);
  ASSERT_TRUE(Until([&] { return pair.server.closed() && pair.client.closed(); }));
  TimePoint end;
  harness_.Run(loop, [&] { end = loop.now(); });
  EXPECT_LT(end - begin, ConnectionOptions().close_timeout);
  EXPECT_TRUE(absl::IsCancelled(*pair.server.closed())) << *pair.server.closed();
  EXPECT_EQ(pair.client.read(), "");
}

TEST_F(TlsConnectionTest, ACloseDuringAHandshakeThatNeverEndsEnds) {
  TlsTestPair pair(harness_, plain(), tls());
  ASSERT_TRUE(pair.Connect());
  ASSERT_TRUE(Until([&] { return pair.server.started(); }));
  pair.Write(pair.client, absl::string_view("\x16\x03\x01\x02\x00\x01\x00", 7));
  harness_.Settle();
  pair.Write(pair.server, "this is not read");
  pair.Close(pair.server, CloseMode::kFlush);
  ASSERT_TRUE(Until([&] { return pair.server.closed().has_value(); }));
  EXPECT_TRUE(absl::IsCancelled(*pair.server.closed())) << *pair.server.closed();
  EXPECT_EQ(pair.client.read(), "");
}

TEST_F(TlsConnectionTest, AtRestNothingIsKeptOfWhatWasWritten) {
  TlsTestPair pair(harness_, tls(), tls());
  ASSERT_TRUE(pair.Connect());
  for (const size_t size : {size_t{100}, TlsEngine::kMaxPlain, size_t{100'000}}) {
    pair.Write(pair.client, std::string(size, 'w'));
    ASSERT_TRUE(Until([&] { return pair.server.read().size() == size; })) << size;
    pair.server.TakeRead();
    harness_.Settle();
    // The simulated network keeps one at each end for what it reads.
    EXPECT_LE(harness_.pool().stats().used_bytes, 2 * BlockPool::kSmall) << size;
  }
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
