// SPDX-License-Identifier: Apache-2.0
//
// Calls that TLS refuses, and what the caller is told.

#include <initializer_list>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "rpc/testing/tls_testing.h"
#include "transport/tls/testing/test_certificates.h"

namespace farcall {
namespace {

void ExpectFails(Channel& channel, std::initializer_list<std::string> parts) {
  TestCall call;
  call.Call(channel);
  EXPECT_TRUE(call.controller.Failed());
  for (const std::string& part : parts) {
    EXPECT_TRUE(absl::StrContains(call.controller.ErrorText(), part))
        << part << " is not in: " << call.Error();
  }
}

TEST(TlsTest, AServerOfAnotherCaIsRefused) {
  TestCa ca;
  TestCa stranger("stranger");
  TestServer server(EchoBack, WithTls(stranger.Server()));
  TestClient client(server.address(), WithTls(ca.Client()));
  ExpectFails(client.channel(), {server.address(), "certificate verify failed", "stranger"});
}

// It would be refused again.
TEST(TlsTest, ACallThatTlsRefusesIsNotTriedAgainOnTheSameServer) {
  TestCa ca;
  TestCa stranger("stranger");
  TestServer other_ca(EchoBack, WithTls(stranger.Server()));
  ServerTlsOptions mutual = ca.Server();
  mutual.require_client_certificate = true;
  TestServer wants_certificate(EchoBack, WithTls(mutual));
  for (TestServer* const server : {&other_ca, &wants_certificate}) {
    ChannelOptions options = WithTls(ca.Client());
    options.max_retry = 3;
    TestClient client(server->address(), options);
    TestCall call;
    call.Call(client.channel());
    EXPECT_EQ(call.controller.ErrorCode(), kSsl) << call.Error();
    EXPECT_EQ(call.controller.retried_count(), 0) << call.Error();
  }
  TestServer good(EchoBack, WithTls(ca.Server()));
  ChannelOptions options = WithTls(ca.Client());
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
  TestServer server(EchoBack, WithTls(ca.Server(leaf)));
  TestClient client(server.address(), WithTls(ca.Client()));
  ExpectFails(client.channel(), {"certificate verify failed", "expired on"});
}

TEST(TlsTest, ACertificateForAnotherHostIsRefused) {
  TestCa ca;
  TestLeaf leaf;
  leaf.names = "DNS:other.test";
  TestServer server(EchoBack, WithTls(ca.Server(leaf)));
  TestClient by_address(server.address(), WithTls(ca.Client()));
  ExpectFails(by_address.channel(), {"other.test", "127.0.0.1", "mismatch"});
  ClientTlsOptions named = ca.Client();
  named.server_name = "other.test";
  TestClient by_name(server.address(), WithTls(named));
  TestCall call;
  EXPECT_TRUE(call.Call(by_name.channel()).Echoed()) << call.Error();
}

// The name of the target is what the certificate must bear.
TEST(TlsTest, ATargetsNameIsVerified) {
  TestCa ca;
  TestLeaf leaf;
  leaf.names = "DNS:localhost";
  TestServer server(EchoBack, WithTls(ca.Server(leaf)));
  const std::string port = server.address().substr(server.address().rfind(':'));
  TestClient client("localhost" + port, WithTls(ca.Client()));
  TestCall call;
  EXPECT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
}

TEST(TlsTest, WithMutualTlsAClientWithoutCertificateIsToldSo) {
  TestCa ca;
  ServerTlsOptions tls = ca.Server();
  tls.require_client_certificate = true;
  TestServer server(EchoBack, WithTls(tls));
  TestClient client(server.address(), WithTls(ca.Client()));
  ExpectFails(client.channel(), {server.address(), "certificate required", "mutual TLS"});
  EXPECT_EQ(server.service().runs(), 0);
}

TEST(TlsTest, AClientWithoutTlsIsRefusedByATlsServer) {
  TestCa ca;
  TestServer server(EchoBack, WithTls(ca.Server()));
  ChannelOptions plain = Patient();
  plain.max_retry = 0;
  TestClient client(server.address(), plain);
  ExpectFails(client.channel(), {server.address(), "TLS"});
  EXPECT_EQ(server.service().runs(), 0);
}

TEST(TlsTest, AClientWithTlsIsToldThatTheServerHasNone) {
  TestCa ca;
  TestServer server;
  TestClient client(server.address(), WithTls(ca.Client()));
  ExpectFails(client.channel(), {server.address(), "TLS"});
  EXPECT_EQ(server.service().runs(), 0);
}

TEST(TlsTest, AnAlpnThatNobodyKnowsIsRefused) {
  TestCa ca;
  TestServer server(EchoBack, WithTls(ca.Server()));
  ClientTlsOptions tls = ca.Client();
  tls.alpn = {"gopher"};
  TestClient client(server.address(), WithTls(tls));
  ExpectFails(client.channel(), {"no application protocol", "alpn"});
}

TEST(TlsTest, FilesThatDoNotLoadAreToldAtOnce) {
  TestCa ca;
  TestRuntime runtime;
  ServerTlsOptions bad = ca.Server();
  bad.files.private_key = ca.Issue("other").private_key;
  ServerOptions options = WithTls(bad);
  options.runtime = &*runtime;
  Server server;
  const absl::Status started = server.Start("127.0.0.1:0", options);
  EXPECT_TRUE(absl::StrContains(started.message(), "does not match")) << started;
  ClientTlsOptions nowhere;
  nowhere.files.ca = "/nowhere/ca.pem";
  ChannelOptions channel_options = WithTls(nowhere);
  channel_options.runtime = &*runtime;
  const auto channel = Channel::Create("127.0.0.1:1", channel_options);
  EXPECT_TRUE(absl::StrContains(channel.status().message(), "/nowhere/ca.pem")) << channel.status();
}

}  // namespace
}  // namespace farcall
