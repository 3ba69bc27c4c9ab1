// SPDX-License-Identifier: Apache-2.0
//
// A TLS connection on the simulated network whose peer encrypts what no honest one would, or when
// and how the test wants it.

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "transport/testing/sim/sim_harness.h"
#include "transport/tls/testing/engine_pair.h"
#include "transport/tls/testing/expect_error.h"
#include "transport/tls/testing/tls_harness.h"
#include "transport/tls/testing/tls_peers.h"
#include "transport/tls/tls_connection.h"

namespace farcall {
namespace {

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
  TimePoint Now() { return harness_.loops().at(0).clock().Now(); }

  TestCa ca_;
  const std::unique_ptr<BlockPool> pool_ = *BlockPool::Create(BlockPoolOptions());
  const std::shared_ptr<const LoadedContext> context_ = *LoadClientContext(ca_.Client());
  SSL** const ssl_ = EnginePair::Catch(*context_);
  const std::unique_ptr<TlsEngine> engine_;
  TlsEngine::Outcome engine_outcome_ = TlsEngine::Outcome::kMore;
  TlsHarness harness_{std::make_unique<SimHarness>(9), TestTls::Of(ca_.Client(), ca_.Server())};
  TlsTestPair pair_{harness_, harness_.plain(), harness_.transport()};
};

TEST_F(ByHand, ACloseWaitsForAHandshakeThatThePeerHasBegun) {
  ASSERT_TRUE(pair_.Connect());
  Exchange();
  ASSERT_TRUE(harness_.Until([&] { return !pair_.client.read().empty(); })) << "no answer to hello";
  pair_.Write(server(), "good-bye");
  pair_.Close(server(), CloseMode::kFlush);
  harness_.Settle();
  EXPECT_FALSE(server().closed().has_value());
  Exchange();
  ASSERT_EQ(engine_outcome_, TlsEngine::Outcome::kDone) << engine_->error();
  ASSERT_TRUE(harness_.Until([&] { return pair_.client.closed() && server().closed(); }));
  Buffer bytes(pair_.client.TakeRead());
  PlainInput plain(*pool_);
  EXPECT_EQ(engine_->Read(bytes, plain), TlsEngine::Outcome::kEnded);
  EXPECT_EQ(plain.input().ToString(), "good-bye");
  EXPECT_TRUE(absl::IsCancelled(*server().closed())) << *server().closed();
}

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
  ASSERT_TRUE(harness_.Until([&] { return server().closed().has_value(); }));
  ExpectError(*server().closed(), absl::StatusCode::kResourceExhausted,
              {"10.1.", "new keys", "again and again"});
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
  // Not for ever: what waits takes a block.
  const TimePoint end = Now() + std::chrono::milliseconds(900);
  while (Now() < end) harness_.Settle();
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

// Encrypted bytes take a block too: here that which the simulated network has kept to read into.
TEST_F(ByHand, WithoutMemoryToDecryptWhatTakesABlockItEnds) {
  ASSERT_TRUE(Shake()) << engine_->error();
  const std::vector<BlockRef> all = TakeAll(harness_.pool());
  const TimePoint start = Now();
  pair_.Write(pair_.client, EnginePair::Encrypted(*engine_, "small").ToString());
  ASSERT_TRUE(harness_.Until([&] { return server().closed().has_value(); }));
  EXPECT_GE(Now() - start, std::chrono::seconds(1));
  ExpectError(*server().closed(), absl::StatusCode::kResourceExhausted, {"no memory to decrypt"});
  EXPECT_EQ(server().read(), "");
}

// The other way round: what the client writes meanwhile leaves when the rest of the message is
// here.
TEST(ServerByHand, HalfATicketHoldsUpWritingAndNothingElse) {
  EngineContexts keys;
  LargeTickets(keys);
  const auto pool = *BlockPool::Create(BlockPoolOptions());
  const auto engine = *TlsEngine::Server(keys.server, *pool);
  ClientTlsOptions client = keys.ca.Client();
  TestLeaf leaf;
  leaf.padding = 2000;
  client.files = keys.ca.Issue("client", leaf);
  TlsHarness harness(std::make_unique<SimHarness>(9), TestTls::Of(client, keys.ca.Server()));
  TlsTestPair pair(harness, harness.transport(), harness.plain());
  pair.Begin();
  std::string tickets;
  ASSERT_TRUE(harness.Until([&] {
    Buffer input(pair.server.TakeRead());
    if (input.empty()) return false;
    const TlsEngine::Outcome outcome = engine->Handshake(input);
    std::string out = engine->TakeOutput().ToString();
    if (outcome == TlsEngine::Outcome::kDone) {
      tickets = std::move(out);
      return true;
    }
    if (!out.empty()) pair.Write(pair.server, out);
    return false;
  })) << engine->error();
  ASSERT_GT(tickets.size(), 600u);
  ASSERT_TRUE(harness.Until([&] { return pair.client.started(); }));
  pair.Write(pair.server, tickets.substr(0, 600));
  harness.Settle();
  pair.Write(pair.client, "hello");
  harness.Settle();
  EXPECT_EQ(pair.server.read(), "");
  EXPECT_FALSE(pair.client.closed().has_value());
  pair.Write(pair.server, tickets.substr(600));
  ASSERT_TRUE(harness.Until([&] { return !pair.server.read().empty(); }));
  Buffer bytes(pair.server.TakeRead());
  PlainInput plain(*pool);
  EXPECT_EQ(engine->Read(bytes, plain), TlsEngine::Outcome::kMore);
  EXPECT_EQ(plain.input().ToString(), "hello");
}

}  // namespace
}  // namespace farcall
