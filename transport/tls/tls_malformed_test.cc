// SPDX-License-Identifier: Apache-2.0
//
// Bytes that no honest peer sends, or not so.

#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "transport/testing/seeds_here.h"
#include "transport/testing/test_random.h"
#include "transport/tls/testing/engine_pair.h"
#include "transport/tls/tls_engine.h"

namespace farcall {
namespace {

using Outcome = TlsEngine::Outcome;

// The flight of a client that begins.
std::string ClientHello(const EngineContexts& keys) {
  EnginePair pair(keys);
  Buffer nothing;
  EXPECT_EQ(pair.client->Handshake(nothing), Outcome::kMore);
  return pair.client->TakeOutput().ToString();
}

// What a server makes of `bytes`, which are all that it gets.
struct Heard {
  Outcome outcome;
  absl::Status error;
  std::string answer;
};
Heard Hear(const EngineContexts& keys, absl::string_view bytes) {
  EnginePair pair(keys);
  Buffer input(bytes);
  const Outcome outcome = pair.server->Handshake(input);
  return {outcome, pair.server->error(), pair.server->TakeOutput().ToString()};
}

std::string Record(char type, absl::string_view body) {
  std::string record = {type, 3, 3, static_cast<char>(body.size() >> 8),
                        static_cast<char>(body.size() & 0xff)};
  record.append(body.data(), body.size());
  return record;
}

TEST(TlsMalformedTest, BytesOneByOneMakeAHandshakeAndAMessage) {
  const EngineContexts keys;
  EnginePair pair(keys);
  Buffer to_client;
  Buffer to_server;
  const auto step = [](TlsEngine& engine, Outcome& outcome, Buffer& input) {
    if (outcome != Outcome::kMore) return;
    if (input.empty()) {
      outcome = engine.Handshake(input);
      return;
    }
    Buffer one = input.CutFront(1);
    outcome = engine.Handshake(one);
    EXPECT_TRUE(one.empty());
  };
  for (int i = 0; i < 20'000 && pair.server_outcome == Outcome::kMore; ++i) {
    step(*pair.client, pair.client_outcome, to_client);
    step(*pair.server, pair.server_outcome, to_server);
    to_server.Append(pair.client->TakeOutput());
    to_client.Append(pair.server->TakeOutput());
  }
  ASSERT_EQ(pair.server_outcome, Outcome::kDone) << pair.server->error();
  ASSERT_EQ(pair.client_outcome, Outcome::kDone) << pair.client->error();
  const std::string text(30'000, 't');
  Buffer bytes = EnginePair::Encrypted(*pair.client, text);
  PlainInput plain(*pair.pool);
  while (!bytes.empty()) {
    Buffer one = bytes.CutFront(1);
    ASSERT_EQ(pair.server->Read(one, plain), Outcome::kMore);
  }
  EXPECT_EQ(plain.input().ToString(), text);
}

TEST(TlsMalformedTest, APeerThatSpeaksAnotherProtocolIsToldWhatThisOneIs) {
  const EngineContexts keys;
  const Heard prpc = Hear(keys, std::string("PRPC\0\0\0\x20\0\0\0\x10", 12));
  EXPECT_EQ(prpc.outcome, Outcome::kFailed);
  EXPECT_TRUE(absl::IsInvalidArgument(prpc.error)) << prpc.error;
  EXPECT_TRUE(absl::StrContains(prpc.error.message(), "this port speaks TLS")) << prpc.error;
  EXPECT_TRUE(absl::StrContains(prpc.error.message(), "PRPC")) << prpc.error;
  // A fatal alert, protocol_version.
  EXPECT_EQ(prpc.answer, std::string("\x15\x03\x01\x00\x02\x02\x46", 7));
  const Heard http = Hear(keys, "GET /health HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(http.outcome, Outcome::kFailed);
  EXPECT_TRUE(absl::StrContains(http.error.message(), "this port speaks TLS")) << http.error;
  EXPECT_TRUE(absl::StartsWith(http.answer, "HTTP/1.1 400 ")) << http.answer;
  EXPECT_TRUE(absl::StrContains(http.answer, "this port speaks TLS")) << http.answer;
}

TEST(TlsMalformedTest, AServerThatSpeaksAnotherProtocolIsTold) {
  const EngineContexts keys;
  EnginePair pair(keys);
  Buffer input(absl::string_view("HTTP/1.1 400 Bad Request\r\n"));
  EXPECT_EQ(pair.client->Handshake(input), Outcome::kFailed);
  EXPECT_TRUE(absl::IsUnauthenticated(pair.client->error()));
  EXPECT_TRUE(absl::StrContains(pair.client->error().message(), "the peer does not speak TLS"))
      << pair.client->error();
  EXPECT_TRUE(absl::StrContains(pair.client->error().message(), "HTTP/1.1"))
      << pair.client->error();
}

TEST(TlsMalformedTest, ATruncatedHandshakeWaits) {
  const EngineContexts keys;
  const std::string hello = ClientHello(keys);
  for (size_t size = 0; size < hello.size(); ++size) {
    const Heard heard = Hear(keys, hello.substr(0, size));
    EXPECT_EQ(heard.outcome, Outcome::kMore) << size << " bytes: " << heard.error;
    EXPECT_EQ(heard.answer, "") << size;
  }
}

TEST(TlsMalformedTest, AHugeHandshakeMessageIsRefusedWhenItIsAnnounced) {
  const EngineContexts keys;
  // A ClientHello of 16 MiB - 1, as its header says, RFC 8446 section 4.
  std::string body = {1, '\xff', '\xff', '\xff'};
  body.resize(16384, '\0');
  const Heard heard = Hear(keys, Record(22, body));
  EXPECT_EQ(heard.outcome, Outcome::kFailed);
  EXPECT_TRUE(absl::StrContains(heard.error.message(), "excessive message size")) << heard.error;
}

TEST(TlsMalformedTest, AHugeRecordIsRefused) {
  const EngineContexts keys;
  const std::string record = {22, 3, 1, '\xff', '\xff', 0, 0, 0, 0, 0};
  EXPECT_EQ(Hear(keys, record).outcome, Outcome::kFailed);
}

TEST(TlsMalformedTest, AHugeCertificateOfAClientIsRefused) {
  TestCa ca;
  ServerTlsOptions server = ca.Server();
  server.require_client_certificate = true;
  ClientTlsOptions client = ca.Client();
  TestLeaf leaf;
  leaf.padding = 200'000;
  client.files = ca.Issue("client", leaf);
  EnginePair pair(EnginePair::Loaded(client), EnginePair::Loaded(server));
  EXPECT_FALSE(pair.Shake());
  EXPECT_TRUE(absl::StrContains(pair.server->error().message(), "excessive message size"))
      << pair.server->error();
}

TEST(TlsMalformedTest, TlsBelow12IsRefused) {
  const EngineContexts keys;
  // A record and a ClientHello of TLS 1.1 without extensions.
  std::string hello = {3, 2};
  hello.append(32, 'r');
  hello += std::string("\x00\x00\x02\x00\x2f\x01\x00", 7);
  const std::string head = {1, 0, 0, static_cast<char>(hello.size())};
  const Heard heard = Hear(keys, Record(22, head + hello));
  EXPECT_EQ(heard.outcome, Outcome::kFailed);
  EXPECT_TRUE(absl::StrContains(heard.error.message(), "unsupported protocol")) << heard.error;
}

// A pair whose client knows no better than TLS 1.2, and may ask for renegotiation.
class Tls12 {
 public:
  Tls12() : context_(OldClient(ca_)) {}

 private:
  static std::shared_ptr<const LoadedContext> OldClient(const TestCa& ca) {
    auto context = EnginePair::Loaded(ca.Client());
    SSL_CTX_set_max_proto_version(context->ctx.get(), TLS1_2_VERSION);
    SSL_CTX_clear_options(context->ctx.get(), SSL_OP_NO_RENEGOTIATION);
    return context;
  }

  TestCa ca_;
  const std::shared_ptr<const LoadedContext> context_;

 public:
  SSL** const client_ssl = EnginePair::Catch(*context_);
  EnginePair pair{context_, EnginePair::Loaded(ca_.Server())};
};

TEST(TlsMalformedTest, Tls12IsGoodEnough) {
  Tls12 tls;
  ASSERT_TRUE(tls.pair.Shake()) << tls.pair.client->error() << tls.pair.server->error();
  EXPECT_TRUE(absl::StartsWith(tls.pair.server->Version(), "TLSv1.2 "))
      << tls.pair.server->Version();
  PlainInput plain(*tls.pair.pool);
  Buffer bytes = EnginePair::Encrypted(*tls.pair.client, "old");
  EXPECT_EQ(tls.pair.server->Read(bytes, plain), Outcome::kMore);
  EXPECT_EQ(plain.input().ToString(), "old");
}

// TLS 1.2 knows it, and it costs the one who is asked more than the one who asks.
TEST(TlsMalformedTest, RenegotiationIsRefused) {
  Tls12 tls;
  ASSERT_TRUE(tls.pair.Shake());
  ASSERT_EQ(SSL_renegotiate(*tls.client_ssl), 1);
  Buffer nothing;
  EXPECT_EQ(tls.pair.client->Handshake(nothing), Outcome::kMore);
  Buffer asks = tls.pair.client->TakeOutput();
  ASSERT_GT(asks.size(), 0u);
  PlainInput plain(*tls.pair.pool);
  EXPECT_EQ(tls.pair.server->Read(asks, plain), Outcome::kMore);
  Buffer answer = tls.pair.server->TakeOutput();
  EXPECT_LT(answer.size(), 100u);
  EXPECT_EQ(tls.pair.client->Handshake(answer), Outcome::kFailed);
  EXPECT_TRUE(absl::StrContains(tls.pair.client->error().message(), "renegotiation"))
      << tls.pair.client->error();
}

TEST(TlsMalformedTest, ACorruptedRecordIsAnErrorAndNothingOfItIsRead) {
  const EngineContexts keys;
  TestRandom random(1);
  for (uint64_t round = 0; round < SeedsHere(30); ++round) {
    EnginePair pair(keys);
    ASSERT_TRUE(pair.Shake());
    Buffer good = EnginePair::Encrypted(*pair.client, "good");
    std::string bad = EnginePair::Encrypted(*pair.client, "this is the bad one").ToString();
    const size_t at = 5 + random.Below(bad.size() - 5);
    bad[at] = static_cast<char>(bad[at] ^ (1 << random.Below(8)));
    good.Append(Buffer(bad));
    PlainInput plain(*pair.pool);
    EXPECT_EQ(pair.server->Read(good, plain), Outcome::kFailed) << at;
    EXPECT_EQ(plain.input().ToString(), "good");
    EXPECT_TRUE(absl::IsDataLoss(pair.server->error())) << pair.server->error();
    // The client hears of it.
    Buffer alert = pair.server->TakeOutput();
    EXPECT_EQ(pair.client->Read(alert, plain), Outcome::kFailed);
    EXPECT_TRUE(absl::StrContains(pair.client->error().message(), "the peer refuses"))
        << pair.client->error();
  }
}

TEST(TlsMalformedTest, ARecordThatComesAgainIsAnError) {
  const EngineContexts keys;
  EnginePair pair(keys);
  ASSERT_TRUE(pair.Shake());
  Buffer record = EnginePair::Encrypted(*pair.client, "once");
  Buffer again = record.Share();
  PlainInput plain(*pair.pool);
  EXPECT_EQ(pair.server->Read(record, plain), Outcome::kMore);
  EXPECT_EQ(pair.server->Read(again, plain), Outcome::kFailed);
  EXPECT_EQ(plain.input().ToString(), "once");
}

TEST(TlsMalformedTest, ABrokenHandshakeIsAnErrorOnceItIsSeen) {
  const EngineContexts keys;
  TestRandom random(2);
  const std::string hello = ClientHello(keys);
  for (uint64_t round = 0; round < SeedsHere(200); ++round) {
    std::string broken = hello;
    broken[random.Below(broken.size())] = static_cast<char>(random.Below(256));
    const Heard heard = Hear(keys, broken);
    EXPECT_LT(heard.answer.size(), size_t{16} << 10);
    EXPECT_EQ(heard.outcome == Outcome::kFailed, !heard.error.ok());
  }
}

TEST(TlsMalformedTest, WithoutMemoryNothingIsLost) {
  const EngineContexts keys;
  EnginePair pair(keys);
  ASSERT_TRUE(pair.Shake());
  const std::string text(20'000, 'm');
  Buffer bytes(EnginePair::Encrypted(*pair.client, text).ToString());
  std::vector<BlockRef> all;
  while (BlockRef block = pair.pool->Allocate(BlockPool::kSmall)) all.push_back(std::move(block));
  PlainInput plain(*pair.pool);
  EXPECT_EQ(pair.server->Read(bytes, plain), Outcome::kNoMemory);
  // The last ones are of larger classes.
  all.erase(all.begin());
  EXPECT_EQ(pair.server->Read(bytes, plain), Outcome::kNoMemory);
  EXPECT_EQ(plain.input().size(), BlockPool::kSmall);
  // Output is not refused: it is encrypted already.
  EXPECT_GT(EnginePair::Encrypted(*pair.server, "answer").size(), 0u);
  all.clear();
  EXPECT_EQ(pair.server->Read(bytes, plain), Outcome::kMore);
  EXPECT_EQ(plain.input().ToString(), text);
}

}  // namespace
}  // namespace farcall
