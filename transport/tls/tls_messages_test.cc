// SPDX-License-Identifier: Apache-2.0
//
// Messages that come after the handshake: new keys, renegotiation, tickets.

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "transport/tls/testing/engine_pair.h"
#include "transport/tls/testing/expect_error.h"
#include "transport/tls/tls_engine.h"

namespace farcall {
namespace {

using Outcome = TlsEngine::Outcome;

constexpr absl::string_view kText = "sixteen bytes...";

// What makes `from` take new keys with the next record.
Buffer ManyRecords(TlsEngine& from) {
  Buffer bytes;
  for (int i = 0; i < 1 << 16; ++i) bytes.Append(EnginePair::Encrypted(from, kText));
  return bytes;
}

// A pair whose client may ask for new keys.
class TlsMessagesTest : public testing::Test {
 protected:
  // What asks for them: RFC 8446 section 4.6.3.
  Buffer KeyUpdate() {
    EXPECT_EQ(SSL_key_update(*client_ssl_, SSL_KEY_UPDATE_REQUESTED), 1);
    Buffer nothing;
    EXPECT_EQ(pair_.client->Handshake(nothing), Outcome::kDone);
    return pair_.client->TakeOutput();
  }
  Buffer KeyUpdates(int count) {
    Buffer all;
    for (int i = 0; i < count; ++i) all.Append(KeyUpdate());
    return all;
  }

  EngineContexts keys_;
  SSL** const client_ssl_ = EnginePair::Catch(*keys_.client);
  EnginePair pair_{keys_};
  PlainInput plain_{*pair_.pool};
};

TEST_F(TlsMessagesTest, NewKeysAreTakenAndGiven) {
  ASSERT_TRUE(pair_.Shake());
  Buffer bytes = KeyUpdate();
  bytes.Append(EnginePair::Encrypted(*pair_.client, "with new keys"));
  EXPECT_EQ(pair_.server->Read(bytes, plain_), Outcome::kMore);
  EXPECT_EQ(plain_.input().ToString(), "with new keys");
  PlainInput back(*pair_.pool);
  bytes = EnginePair::Encrypted(*pair_.server, "the answer too");
  EXPECT_EQ(pair_.client->Read(bytes, back), Outcome::kMore);
  EXPECT_EQ(back.input().ToString(), "the answer too");
}

TEST_F(TlsMessagesTest, NewKeysWithoutEndAreAnError) {
  ASSERT_TRUE(pair_.Shake());
  Buffer flood = KeyUpdates(2000);
  const size_t size = flood.size();
  EXPECT_EQ(pair_.server->Read(flood, plain_), Outcome::kFailed);
  ExpectError(pair_.server->error(), absl::StatusCode::kResourceExhausted,
              {"TLS failed", "new keys", "again and again"});
  // The rest costs nothing.
  EXPECT_GT(flood.size(), size * 8 / 10);
  EXPECT_LT(pair_.server->output_size(), size * 2 / 10);
}

TEST_F(TlsMessagesTest, NewKeysForEachMebibyteAreFine) {
  ASSERT_TRUE(pair_.Shake());
  Buffer bytes = KeyUpdates(256);
  ASSERT_EQ(pair_.server->Read(bytes, plain_), Outcome::kMore) << pair_.server->error();
  const std::string text(size_t{1} << 20, 'm');
  for (int i = 0; i < 30; ++i) {
    bytes = EnginePair::Encrypted(*pair_.client, text);
    bytes.Append(KeyUpdate());
    ASSERT_EQ(pair_.server->Read(bytes, plain_), Outcome::kMore) << i << pair_.server->error();
    plain_.Clear();
  }
  bytes = KeyUpdate();
  EXPECT_EQ(pair_.server->Read(bytes, plain_), Outcome::kFailed);
}

TEST_F(TlsMessagesTest, ThisEndTakesNewKeysNowAndThen) {
  constexpr size_t kRecordSize = 5 + 16 + 1 + 16;  // RFC 8446 section 5.2
  ASSERT_TRUE(pair_.Shake());
  Buffer bytes = ManyRecords(*pair_.client);
  ASSERT_EQ(bytes.size(), kRecordSize << 16);
  ASSERT_EQ(pair_.server->Read(bytes, plain_), Outcome::kMore);
  EXPECT_EQ(plain_.input().size(), kText.size() << 16);
  plain_.Clear();
  bytes = EnginePair::Encrypted(*pair_.client, kText);
  EXPECT_EQ(bytes.size(), 5 + 5 + 1 + 16 + kRecordSize);
  bytes.Append(EnginePair::Encrypted(*pair_.client, kText));
  EXPECT_EQ(pair_.server->Read(bytes, plain_), Outcome::kMore) << pair_.server->error();
  EXPECT_EQ(plain_.input().size(), 2 * kText.size());
}

// OpenSSL sends none while new keys wait to be sent.
TEST_F(TlsMessagesTest, TheEndInOrderFollowsWhateverRecord) {
  ASSERT_TRUE(pair_.Shake());
  Buffer bytes = ManyRecords(*pair_.client);
  pair_.client->Shut();
  bytes.Append(pair_.client->TakeOutput());
  EXPECT_EQ(pair_.server->Read(bytes, plain_), Outcome::kEnded);
}

// A server of TLS 1.2 may ask its client for another handshake (HelloRequest).
TEST(TlsRenegotiationTest, AskingForItWithoutEndIsAnError) {
  const EngineContexts keys;
  SSL_CTX* const ctx = keys.server->ctx.get();
  SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
  SSL_CTX_clear_options(ctx, SSL_OP_NO_RENEGOTIATION);
  SSL** const server_ssl = EnginePair::Catch(*keys.server);
  EnginePair pair(keys);
  ASSERT_TRUE(pair.Shake()) << pair.client->error() << pair.server->error();
  Buffer asks;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(SSL_renegotiate(*server_ssl), 1);
    Buffer nothing;
    pair.server->Handshake(nothing);
    asks.Append(pair.server->TakeOutput());
  }
  ASSERT_GT(asks.size(), 20'000u);
  PlainInput plain(*pair.pool);
  EXPECT_EQ(pair.client->Read(asks, plain), Outcome::kFailed);
  ExpectError(pair.client->error(), absl::StatusCode::kResourceExhausted, {"renegotiation"});
}

TEST(TlsTicketTest, HalfAMessageOfThePeerHoldsUpWritingAndNothingElse) {
  EngineContexts keys;
  LargeTickets(keys);
  for (const bool new_keys_are_due : {false, true}) {
    EnginePair pair(keys);
    ASSERT_TRUE(pair.Shake()) << pair.client->error() << pair.server->error();
    PlainInput plain(*pair.pool);
    Buffer bytes = new_keys_are_due ? ManyRecords(*pair.client) : Buffer();
    EXPECT_EQ(pair.server->Read(bytes, plain), Outcome::kMore);
    plain.Clear();
    ASSERT_GT(pair.to_client.size(), 600u);
    Buffer half = pair.to_client.CutFront(600);
    EXPECT_EQ(pair.client->Read(half, plain), Outcome::kMore);
    Buffer text(absl::string_view("hello"));
    EXPECT_TRUE(pair.client->Write(text)) << pair.client->error();
    EXPECT_EQ(text.size(), 5u);
    EXPECT_EQ(pair.client->output_size(), 0u);
    EXPECT_EQ(pair.client->Read(pair.to_client, plain), Outcome::kMore);
    EXPECT_TRUE(pair.client->Write(text));
    EXPECT_TRUE(text.empty());
    bytes = pair.client->TakeOutput();
    EXPECT_EQ(pair.server->Read(bytes, plain), Outcome::kMore);
    EXPECT_EQ(plain.input().ToString(), "hello");
  }
}

}  // namespace
}  // namespace farcall
