// SPDX-License-Identifier: Apache-2.0

#include "transport/tls/tls_engine.h"

#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "transport/tls/testing/engine_pair.h"
#include "transport/tls/testing/expect_error.h"

namespace farcall {
namespace {

using Outcome = TlsEngine::Outcome;

// What the client finds wrong with the server's certificate.
absl::Status Verify(const TestCa& trusted, const TlsFiles& shown,
                    absl::string_view name = "server.test") {
  ServerTlsOptions server;
  server.files = shown;
  EnginePair pair(EnginePair::Loaded(trusted.Client()), EnginePair::Loaded(server), name);
  const bool shaken = pair.Shake();
  EXPECT_EQ(shaken, pair.client->error().ok());
  // The server hears of it by the alert.
  EXPECT_EQ(pair.client->error().ok(), pair.server->error().ok()) << pair.server->error();
  return pair.client->error();
}

TEST(TlsEngineTest, BytesTravelBothWays) {
  TestCa ca;
  EnginePair pair(ca);
  ASSERT_TRUE(pair.Shake()) << pair.client->error() << pair.server->error();
  EXPECT_TRUE(absl::StartsWith(pair.client->Version(), "TLSv1.3 ")) << pair.client->Version();
  EXPECT_EQ(pair.client->PeerSubject(), "/CN=server");
  EXPECT_EQ(pair.server->PeerSubject(), "");
  EXPECT_EQ(pair.client->Alpn(), "baidu_std");
  const std::string text(100'000, 'x');
  PlainInput plain(*pair.pool);
  Buffer bytes = EnginePair::Encrypted(*pair.client, text);
  EXPECT_EQ(pair.server->Read(bytes, plain), Outcome::kMore);
  EXPECT_EQ(plain.input().ToString(), text);
  EXPECT_TRUE(bytes.empty());
  PlainInput back(*pair.pool);
  bytes = EnginePair::Encrypted(*pair.server, "answer");
  EXPECT_EQ(pair.client->Read(bytes, back), Outcome::kMore);
  EXPECT_EQ(back.input().ToString(), "answer");
}

TEST(TlsEngineTest, SmallWritesOfATurnShareARecord) {
  TestCa ca;
  EnginePair pair(ca);
  ASSERT_TRUE(pair.Shake());
  Buffer plain;
  for (int i = 0; i < 100; ++i) plain.Append(Buffer(absl::string_view("0123456789")));
  ASSERT_TRUE(pair.client->Write(plain));
  EXPECT_TRUE(plain.empty());
  EXPECT_LT(pair.client->output_size(), 1100u);
}

TEST(TlsEngineTest, WhoIsAtRestKeepsNoBlockForItsOutput) {
  TestCa ca;
  EnginePair pair(ca);
  ASSERT_TRUE(pair.Shake());
  for (TlsEngine* const end : {pair.client.get(), pair.server.get()}) end->Rest(/*waits=*/false);
  const auto used = [&pair] { return pair.pool->stats().used_bytes; };
  EXPECT_EQ(used(), 0u);
  const auto encrypt = [&pair](size_t size, bool waits) {
    Buffer plain(std::string(size, 'x'));
    EXPECT_TRUE(pair.client->Write(plain));
    pair.client->Rest(waits);
    return pair.client->TakeOutput();
  };
  Buffer output = encrypt(TlsEngine::kMaxPlain, /*waits=*/true);
  EXPECT_EQ(used(), BlockPool::kMedium) << "its bytes hold it";
  output.Clear();
  EXPECT_EQ(used(), 0u);
  for (int i = 0; i < 10; ++i) output.Append(encrypt(100, /*waits=*/true));
  EXPECT_EQ(used(), BlockPool::kSmall) << "small ones that wait share a block";
  output = encrypt(100, /*waits=*/false);
  EXPECT_EQ(used(), BlockPool::kSmall);
  output.Clear();
  EXPECT_EQ(used(), 0u);
}

TEST(TlsEngineTest, TheEndInOrderIsKnownFromAnother) {
  TestCa ca;
  EnginePair pair(ca);
  ASSERT_TRUE(pair.Shake());
  Buffer bytes = EnginePair::Encrypted(*pair.client, "last");
  pair.client->Shut();
  bytes.Append(pair.client->TakeOutput());
  PlainInput plain(*pair.pool);
  EXPECT_EQ(pair.server->Read(bytes, plain), Outcome::kEnded);
  EXPECT_EQ(plain.input().ToString(), "last");
}

TEST(TlsEngineTest, NamesAreVerified) {
  TestCa ca;
  const TlsFiles files = ca.Issue("leaf");
  for (const char* const name : {"server.test", "localhost", "127.0.0.1", "::1", "server.test."}) {
    EXPECT_TRUE(Verify(ca, files, name).ok()) << name;
  }
  ExpectError(Verify(ca, files, "other.test"), absl::StatusCode::kUnauthenticated,
              {"certificate verify failed", "hostname mismatch", "other.test", "server.test",
               "localhost", "server_name"});
  ExpectError(Verify(ca, files, "10.0.0.9"), absl::StatusCode::kUnauthenticated,
              {"IP address mismatch", "10.0.0.9", "127.0.0.1"});
}

TEST(TlsEngineTest, AnExpiredCertificateIsToldWithItsDate) {
  TestCa ca;
  TestLeaf leaf;
  leaf.days = -3;
  ExpectError(Verify(ca, ca.Issue("leaf", leaf)), absl::StatusCode::kUnauthenticated,
              {"certificate verify failed", "/CN=server expired on 20", "renew"});
}

TEST(TlsEngineTest, ASelfSignedCertificateIsTold) {
  TestCa ca;
  ExpectError(Verify(ca, ca.SelfSigned("leaf")), absl::StatusCode::kUnauthenticated,
              {"certificate verify failed", "self-signed", "files.ca"});
}

TEST(TlsEngineTest, ACertificateOfAnotherCaIsTold) {
  TestCa ca;
  TestCa stranger("stranger");
  ExpectError(Verify(ca, stranger.Issue("leaf")), absl::StatusCode::kUnauthenticated,
              {"/CN=server, signed by /CN=stranger", "leads to no CA", "files.ca"});
}

TEST(TlsEngineTest, WithoutVerificationAnyCertificateServes) {
  TestCa ca;
  TestCa stranger;
  ClientTlsOptions client = ca.Client();
  client.verify = false;
  EnginePair pair(EnginePair::Loaded(client), EnginePair::Loaded(stranger.Server()), "");
  EXPECT_TRUE(pair.Shake()) << pair.client->error();
}

TEST(TlsEngineTest, WithoutANameThereIsNothingToVerify) {
  TestCa ca;
  const auto pool = *BlockPool::Create(BlockPoolOptions());
  const auto engine = TlsEngine::Client(EnginePair::Loaded(ca.Client()), "", *pool);
  ExpectError(engine.status(), absl::StatusCode::kInvalidArgument, {"server_name"});
}

TEST(TlsEngineTest, MutualTlsShowsTheServerWhoCalls) {
  TestCa ca;
  ServerTlsOptions server = ca.Server();
  server.require_client_certificate = true;
  ClientTlsOptions client = ca.Client();
  TestLeaf leaf;
  leaf.subject = "client 7";
  client.files = ca.Issue("client", leaf);
  EnginePair pair(EnginePair::Loaded(client), EnginePair::Loaded(server));
  ASSERT_TRUE(pair.Shake()) << pair.server->error();
  EXPECT_EQ(pair.server->PeerSubject(), "/CN=client 7");
}

// The client of TLS 1.3 is done before it hears of it.
absl::Status ClientHears(EnginePair& pair) {
  EXPECT_FALSE(pair.Shake());
  PlainInput plain(*pair.pool);
  EXPECT_EQ(pair.client->Read(pair.to_client, plain), Outcome::kFailed);
  return pair.client->error();
}

TEST(TlsEngineTest, AMissingClientCertificateIsToldAtBothEnds) {
  TestCa ca;
  ServerTlsOptions server = ca.Server();
  server.require_client_certificate = true;
  EnginePair pair(EnginePair::Loaded(ca.Client()), EnginePair::Loaded(server));
  ExpectError(ClientHears(pair), absl::StatusCode::kUnauthenticated,
              {"certificate required", "mutual TLS"});
  ExpectError(pair.server->error(), absl::StatusCode::kUnauthenticated,
              {"did not return a certificate", "require_client_certificate"});
}

TEST(TlsEngineTest, AClientCertificateOfAnotherCaIsToldAtBothEnds) {
  TestCa ca;
  TestCa stranger("stranger");
  ServerTlsOptions server = ca.Server();
  server.require_client_certificate = true;
  ClientTlsOptions client = ca.Client();
  client.files = stranger.Issue("client");
  client.files.ca = ca.file();
  EnginePair pair(EnginePair::Loaded(client), EnginePair::Loaded(server));
  ExpectError(ClientHears(pair), absl::StatusCode::kUnauthenticated,
              {"the peer refuses", "unknown ca"});
  ExpectError(pair.server->error(), absl::StatusCode::kUnauthenticated,
              {"certificate verify failed", "signed by /CN=stranger"});
}

TEST(TlsEngineTest, AlpnThatNobodyKnowsIsRefused) {
  TestCa ca;
  ClientTlsOptions client = ca.Client();
  client.alpn = {"gopher", "finger"};
  EnginePair pair(EnginePair::Loaded(client), EnginePair::Loaded(ca.Server()));
  EXPECT_FALSE(pair.Shake());
  ExpectError(pair.client->error(), absl::StatusCode::kUnauthenticated,
              {"no application protocol", "ClientTlsOptions::alpn"});
}

TEST(TlsEngineTest, TheServersFirstChoiceOfAlpnHolds) {
  TestCa ca;
  ClientTlsOptions client = ca.Client();
  client.alpn = {"gopher", "http/1.1", "baidu_std"};
  EnginePair pair(EnginePair::Loaded(client), EnginePair::Loaded(ca.Server()));
  ASSERT_TRUE(pair.Shake());
  EXPECT_EQ(pair.client->Alpn(), "baidu_std");
  EXPECT_EQ(pair.server->Alpn(), "baidu_std");
}

TEST(TlsEngineTest, AClientThatOffersNoAlpnIsTaken) {
  TestCa ca;
  ClientTlsOptions client = ca.Client();
  client.alpn.clear();
  EnginePair pair(EnginePair::Loaded(client), EnginePair::Loaded(ca.Server()));
  EXPECT_TRUE(pair.Shake());
  EXPECT_EQ(pair.server->Alpn(), "");
}

// The server need not name any: a client that offers some is not refused by a server without.
TEST(TlsEngineTest, AServerWithoutAlpnTakesEverybody) {
  TestCa ca;
  ServerTlsOptions server = ca.Server();
  server.alpn.clear();
  EnginePair pair(EnginePair::Loaded(ca.Client()), EnginePair::Loaded(server));
  EXPECT_TRUE(pair.Shake());
}

}  // namespace
}  // namespace farcall
