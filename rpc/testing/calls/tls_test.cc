// SPDX-License-Identifier: Apache-2.0
//
// Calls over TLS, and peers that hold handshakes up.

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/leaping_runtime.h"
#include "rpc/testing/raw_peer.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "rpc/testing/tls_testing.h"
#include "transport/tls/testing/test_certificates.h"

namespace farcall {
namespace {

// What the server saw of the call.
struct Seen {
  std::string tls;
  std::string peer;
  WhyNotRdma why = WhyNotRdma::kPending;
};
EchoHandler Look(Seen& seen) {
  return [&seen](Controller& controller, const auto& request, auto& response, auto* done) {
    const auto connection = controller.connection();
    seen = {connection->tls, connection->tls_peer, connection->why_not_rdma};
    EchoBack(controller, request, response, done);
  };
}

TEST(TlsTest, CallsTravelByTls) {
  TestCa ca;
  Seen seen;
  TestServer server(Look(seen), WithTls(ca.Server()));
  TestClient client(server.address(), WithTls(ca.Client()));
  for (int i = 0; i < 100; ++i) {
    TestCall call(absl::StrCat("call ", i));
    ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
    EXPECT_TRUE(absl::StartsWith(call.controller.connection()->tls, "TLSv1.3 "));
    EXPECT_EQ(call.controller.connection()->tls_peer, "/CN=server");
    EXPECT_EQ(call.controller.connection()->transport, TransportKind::kTcp);
  }
  EXPECT_TRUE(absl::StartsWith(seen.tls, "TLSv1.3 ")) << seen.tls;
  EXPECT_EQ(seen.peer, "");
}

TEST(TlsTest, LargeMessagesTravelByTls) {
  TestCa ca;
  TestServer server(EchoBack, WithTls(ca.Server()));
  TestClient client(server.address(), WithTls(ca.Client()));
  for (const size_t size : {size_t{1} << 10, size_t{100} << 10, size_t{8} << 20}) {
    TestCall call;
    const std::string bytes(size, 'a');
    call.controller.request_attachment().Append(bytes);
    ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
    EXPECT_EQ(call.controller.response_attachment().ToString(), bytes);
  }
}

TEST(TlsTest, WithMutualTlsTheServerKnowsWhoCalls) {
  TestCa ca;
  ServerTlsOptions tls = ca.Server();
  tls.require_client_certificate = true;
  Seen seen;
  TestServer server(Look(seen), WithTls(tls));
  ClientTlsOptions mine = ca.Client();
  TestLeaf leaf;
  leaf.subject = "billing";
  mine.files = ca.Issue("client", leaf);
  TestClient client(server.address(), WithTls(mine));
  TestCall call;
  ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  EXPECT_EQ(seen.peer, "/CN=billing");
}

TEST(TlsTest, ACertificateIsReloadedWhileCallsGoOn) {
  TestCa ca;
  ServerTlsOptions tls = ca.Server();
  tls.files = ca.Issue("pair");
  TestServer server(EchoBack, WithTls(tls));
  TestClient old(server.address(), WithTls(ca.Client()));
  std::atomic<bool> stop{false};
  std::atomic<int> failed{0};
  std::atomic<int> done{0};
  std::thread caller([&] {
    while (!stop) {
      if (!TestCall().Call(old.channel()).Echoed()) ++failed;
      ++done;
    }
  });
  EXPECT_TRUE(Eventually([&] { return done > 10; }));
  TestLeaf leaf;
  leaf.subject = "server renewed";
  ca.Issue("pair", leaf);
  EXPECT_TRUE(Eventually([&] {
    TestClient fresh(server.address(), WithTls(ca.Client()));
    TestCall call;
    return call.Call(fresh.channel()).Echoed() &&
           call.controller.connection()->tls_peer == "/CN=server renewed";
  }));
  const int before = done;
  EXPECT_TRUE(Eventually([&] { return done > before + 10; }));
  stop = true;
  caller.join();
  EXPECT_EQ(failed, 0);
  TestCall call;
  ASSERT_TRUE(call.Call(old.channel()).Echoed()) << call.Error();
  EXPECT_EQ(call.controller.connection()->tls_peer, "/CN=server");
}

TEST(TlsTest, TlsIsTheReasonWhyRdmaIsNotUsed) {
  TestCa ca;
  Seen seen;
  ServerOptions server_options = WithTls(ca.Server());
  server_options.use_rdma = true;
  TestServer server(Look(seen), server_options);
  ChannelOptions options = WithTls(ca.Client());
  options.use_rdma = true;
  TestClient client(server.address(), options);
  TestCall call;
  ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  EXPECT_EQ(call.controller.connection()->why_not_rdma, WhyNotRdma::kTls);
  EXPECT_EQ(seen.why, WhyNotRdma::kTls);
}

// The server refuses what this client would allow.
TEST(TlsTest, AServersRefusalOfRdmaIsToldToTheClient) {
  TestCa ca;
  ServerOptions server_options = WithTls(ca.Server());
  server_options.use_rdma = true;
  TestServer server(EchoBack, server_options);
  ChannelOptions options = WithTls(ca.Client());
  options.use_rdma = true;
  options.rdma_with_tls = RdmaWithTls::kAllow;
  TestClient client(server.address(), options);
  TestCall call;
  ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  const WhyNotRdma why = call.controller.connection()->why_not_rdma;
  // Where this host has no RDMA, that comes first.
  EXPECT_TRUE(why == WhyNotRdma::kTls || why == WhyNotRdma::kNoLibrary ||
              why == WhyNotRdma::kNoDevice || why == WhyNotRdma::kDeviceNotPermitted)
      << Name(why);
}

// So who begins handshakes and leaves them there takes no more than max_connections of them.
TEST(TlsTest, HandshakesUnderWayAreConnectionsThatCount) {
  TestCa ca;
  ServerTlsOptions tls = ca.Server();
  tls.handshake_timeout = std::chrono::minutes(5);
  ServerOptions options = WithTls(tls);
  options.max_connections = 3;
  TestServer server(EchoBack, options);
  std::vector<RawPeer> half;
  for (int i = 0; i < 3; ++i) {
    half.emplace_back(server.address());
    EXPECT_TRUE(half.back().Send(absl::string_view("\x16\x03\x01\x02\x00\x01\x00", 7)));
  }
  EXPECT_TRUE(Eventually([&] { return server.server().connection_count() == 3; }));
  RawPeer late(server.address());
  EXPECT_TRUE(late.WaitForEnd());
  EXPECT_EQ(server.log().Count("max_connections 3 is reached"), 1);
  half.clear();
  EXPECT_TRUE(Eventually([&] {
    TestClient client(server.address(), WithTls(ca.Client()));
    return TestCall().Call(client.channel()).Echoed();
  }));
}

TEST(TlsTest, SilentAndGarbledClientsHoldNobodyUp) {
  TestCa ca;
  LeapingRuntime runtime;
  ServerOptions options = WithTls(ca.Server());
  options.runtime = &*runtime;
  options.idle_timeout_ms = -1;
  TestServer server(EchoBack, options);
  RawPeer silent(server.address());
  RawPeer garbled(server.address());
  EXPECT_TRUE(garbled.Send(std::string(1000, 'g')));
  RawPeer half(server.address());
  EXPECT_TRUE(half.Send(absl::string_view("\x16\x03\x01\x02\x00\x01\x00", 7)));
  TestClient client(server.address(), WithTls(ca.Client()));
  TestCall call;
  EXPECT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  EXPECT_TRUE(runtime.LeapUntil([&] { return server.server().connection_count() == 1; }));
  EXPECT_TRUE(silent.WaitForEnd());
  EXPECT_TRUE(half.WaitForEnd());
  EXPECT_TRUE(garbled.WaitForEnd());
}

}  // namespace
}  // namespace farcall
