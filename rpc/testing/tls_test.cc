// SPDX-License-Identifier: Apache-2.0
//
// Calls over TLS, and what stands against them.

#include <atomic>
#include <initializer_list>
#include <memory>
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
#include "transport/tls/testing/test_certificates.h"

namespace farcall {
namespace {

ServerOptions With(const ServerTlsOptions& tls) {
  ServerOptions options;
  options.tls = std::make_shared<const ServerTlsOptions>(tls);
  return options;
}
// A call that fails does so at once.
ChannelOptions With(const ClientTlsOptions& tls) {
  ChannelOptions options = Patient();
  options.tls = std::make_shared<const ClientTlsOptions>(tls);
  options.max_retry = 0;
  return options;
}

void ExpectFails(Channel& channel, std::initializer_list<std::string> parts) {
  TestCall call;
  call.Call(channel);
  EXPECT_TRUE(call.controller.Failed());
  for (const std::string& part : parts) {
    EXPECT_TRUE(absl::StrContains(call.controller.ErrorText(), part))
        << part << " is not in: " << call.Error();
  }
}

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
  TestServer server(Look(seen), With(ca.Server()));
  TestClient client(server.address(), With(ca.Client()));
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
  TestServer server(EchoBack, With(ca.Server()));
  TestClient client(server.address(), With(ca.Client()));
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
  TestServer server(Look(seen), With(tls));
  ClientTlsOptions mine = ca.Client();
  TestLeaf leaf;
  leaf.subject = "billing";
  mine.files = ca.Issue("client", leaf);
  TestClient client(server.address(), With(mine));
  TestCall call;
  ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  EXPECT_EQ(seen.peer, "/CN=billing");
}

TEST(TlsTest, WithMutualTlsAClientWithoutCertificateIsToldSo) {
  TestCa ca;
  ServerTlsOptions tls = ca.Server();
  tls.require_client_certificate = true;
  TestServer server(EchoBack, With(tls));
  TestClient client(server.address(), With(ca.Client()));
  ExpectFails(client.channel(), {server.address(), "certificate required", "mutual TLS"});
  EXPECT_EQ(server.service().runs(), 0);
}

TEST(TlsTest, AServerOfAnotherCaIsRefused) {
  TestCa ca;
  TestCa stranger("stranger");
  TestServer server(EchoBack, With(stranger.Server()));
  TestClient client(server.address(), With(ca.Client()));
  ExpectFails(client.channel(), {server.address(), "certificate verify failed", "stranger"});
}

// It would be refused again.
TEST(TlsTest, ACallThatTlsRefusesIsNotTriedAgainOnTheSameServer) {
  TestCa ca;
  TestCa stranger("stranger");
  TestServer other_ca(EchoBack, With(stranger.Server()));
  ServerTlsOptions mutual = ca.Server();
  mutual.require_client_certificate = true;
  TestServer wants_certificate(EchoBack, With(mutual));
  for (TestServer* const server : {&other_ca, &wants_certificate}) {
    ChannelOptions options = With(ca.Client());
    options.max_retry = 3;
    TestClient client(server->address(), options);
    TestCall call;
    call.Call(client.channel());
    EXPECT_EQ(call.controller.ErrorCode(), kSsl) << call.Error();
    EXPECT_EQ(call.controller.retried_count(), 0) << call.Error();
  }
  TestServer good(EchoBack, With(ca.Server()));
  ChannelOptions options = With(ca.Client());
  options.max_retry = 3;
  TestClient client(absl::StrCat("list://", other_ca.address(), ",", good.address()), options);
  for (int i = 0; i < 4; ++i) {
    TestCall call;
    EXPECT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  }
}

TEST(TlsTest, AnExpiredCertificateIsRefused) {
  TestCa ca;
  TestLeaf leaf;
  leaf.days = -1;
  TestServer server(EchoBack, With(ca.Server(leaf)));
  TestClient client(server.address(), With(ca.Client()));
  ExpectFails(client.channel(), {"certificate verify failed", "expired on"});
}

TEST(TlsTest, ACertificateForAnotherHostIsRefused) {
  TestCa ca;
  TestLeaf leaf;
  leaf.names = "DNS:other.test";
  TestServer server(EchoBack, With(ca.Server(leaf)));
  TestClient by_address(server.address(), With(ca.Client()));
  ExpectFails(by_address.channel(), {"other.test", "127.0.0.1", "mismatch"});
  ClientTlsOptions named = ca.Client();
  named.server_name = "other.test";
  TestClient by_name(server.address(), With(named));
  TestCall call;
  EXPECT_TRUE(call.Call(by_name.channel()).Echoed()) << call.Error();
}

// The name of the target is what the certificate must bear.
TEST(TlsTest, ATargetsNameIsVerified) {
  TestCa ca;
  TestLeaf leaf;
  leaf.names = "DNS:localhost";
  TestServer server(EchoBack, With(ca.Server(leaf)));
  const std::string port = server.address().substr(server.address().rfind(':'));
  TestClient client("localhost" + port, With(ca.Client()));
  TestCall call;
  EXPECT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
}

TEST(TlsTest, AClientWithoutTlsIsRefusedByATlsServer) {
  TestCa ca;
  TestServer server(EchoBack, With(ca.Server()));
  ChannelOptions plain = Patient();
  plain.max_retry = 0;
  TestClient client(server.address(), plain);
  ExpectFails(client.channel(), {server.address(), "TLS"});
  EXPECT_EQ(server.service().runs(), 0);
}

TEST(TlsTest, AClientWithTlsIsToldThatTheServerHasNone) {
  TestCa ca;
  TestServer server;
  TestClient client(server.address(), With(ca.Client()));
  ExpectFails(client.channel(), {server.address(), "TLS"});
  EXPECT_EQ(server.service().runs(), 0);
}

TEST(TlsTest, AnAlpnThatNobodyKnowsIsRefused) {
  TestCa ca;
  TestServer server(EchoBack, With(ca.Server()));
  ClientTlsOptions tls = ca.Client();
  tls.alpn = {"gopher"};
  TestClient client(server.address(), With(tls));
  ExpectFails(client.channel(), {"no application protocol", "alpn"});
}

TEST(TlsTest, FilesThatDoNotLoadAreToldAtOnce) {
  TestCa ca;
  TestRuntime runtime;
  ServerTlsOptions bad = ca.Server();
  bad.files.private_key = ca.Issue("other").private_key;
  ServerOptions options = With(bad);
  options.runtime = &*runtime;
  Server server;
  const absl::Status started = server.Start("127.0.0.1:0", options);
  EXPECT_TRUE(absl::StrContains(started.message(), "does not match")) << started;
  ClientTlsOptions nowhere;
  nowhere.files.ca = "/nowhere/ca.pem";
  ChannelOptions channel_options = With(nowhere);
  channel_options.runtime = &*runtime;
  const auto channel = Channel::Create("127.0.0.1:1", channel_options);
  EXPECT_TRUE(absl::StrContains(channel.status().message(), "/nowhere/ca.pem")) << channel.status();
}

TEST(TlsTest, ACertificateIsReloadedWhileCallsGoOn) {
  TestCa ca;
  ServerTlsOptions tls = ca.Server();
  tls.files = ca.Issue("pair");
  TestServer server(EchoBack, With(tls));
  TestClient old(server.address(), With(ca.Client()));
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
    TestClient fresh(server.address(), With(ca.Client()));
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
  ServerOptions server_options = With(ca.Server());
  server_options.use_rdma = true;
  TestServer server(Look(seen), server_options);
  ChannelOptions options = With(ca.Client());
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
  ServerOptions server_options = With(ca.Server());
  server_options.use_rdma = true;
  TestServer server(EchoBack, server_options);
  ChannelOptions options = With(ca.Client());
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
  ServerOptions options = With(tls);
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
    TestClient client(server.address(), With(ca.Client()));
    return TestCall().Call(client.channel()).Echoed();
  }));
}

TEST(TlsTest, SilentAndGarbledClientsHoldNobodyUp) {
  TestCa ca;
  LeapingRuntime runtime;
  ServerOptions options = With(ca.Server());
  options.runtime = &*runtime;
  options.idle_timeout_ms = -1;
  TestServer server(EchoBack, options);
  RawPeer silent(server.address());
  RawPeer garbled(server.address());
  EXPECT_TRUE(garbled.Send(std::string(1000, 'g')));
  RawPeer half(server.address());
  EXPECT_TRUE(half.Send(absl::string_view("\x16\x03\x01\x02\x00\x01\x00", 7)));
  TestClient client(server.address(), With(ca.Client()));
  TestCall call;
  EXPECT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  EXPECT_TRUE(runtime.LeapUntil([&] { return server.server().connection_count() == 1; }));
  EXPECT_TRUE(silent.WaitForEnd());
  EXPECT_TRUE(half.WaitForEnd());
  EXPECT_TRUE(garbled.WaitForEnd());
}

}  // namespace
}  // namespace farcall
