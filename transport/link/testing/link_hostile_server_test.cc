// SPDX-License-Identifier: Apache-2.0
//
// Servers that break the rules of the link, or fall silent: the connection ends, soon, with a text
// that names the rule.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "transport/link/hello/hello.h"
#include "transport/link/stream/frames/frame.h"
#include "transport/link/testing/link_hostile_testing.h"
#include "transport/link/testing/raw_peer.h"
#include "transport/link/upgrade/upgrade_messages.h"
#include "transport/testing/conformance/conformance_run.h"
#include "transport/why_not_rdma.h"

namespace farcall::hostile {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class LinkHostileServerTest : public LinkHostileTest {
 protected:
  LinkHostileServerTest() : run_(harness_) {
    server_ = std::make_unique<RawServer>(harness_, harness_.tcp(), [](RawPeer& peer) {
      peer.on_read = [](RawPeer& self) {
        if (self.received.size() < kHelloLeast || self.received[0] != '\xFA') return;
        self.received.erase(0, kHelloLeast);
        link::HelloAnswer answer;
        answer.set_version(kLinkVersion);
        answer.set_window(1 << 16);
        self.Send(EncodeAnswer(answer));
      };
    });
  }
  ~LinkHostileServerTest() override {
    client_.reset();
    server_.reset();
  }
  // The server's end of a new link; the client's is client_.
  RawPeer& Link() {
    EventLoop& loop = harness_.loops().at(0);
    client_.reset();
    const absl::Status connected =
        run_.TryConnect(server_->address(), ConnectOptions(), loop, [&](auto connection) {
          client_ = std::make_unique<RawPeer>(harness_, loop, std::move(connection));
        });
    EXPECT_TRUE(connected.ok()) << connected;
    EXPECT_TRUE(harness_.Until([&] { return server_->peers.back()->received.size() >= 24; }))
        << "it asks";
    return *server_->peers.back();
  }
  void ExpectClosed(const std::string& before, const Case& test) {
    RawPeer& server = Link();
    if (!before.empty()) {
      server.Send(before);
      WaitFor(milliseconds(10));
    }
    ASSERT_FALSE(client_->closed) << test.name << ": " << *client_->closed;
    server.Send(test.bytes);
    ASSERT_TRUE(Soon([&] { return client_->closed.has_value(); }, milliseconds(100))) << test.name;
    EXPECT_TRUE(absl::StrContains(client_->closed->message(), test.text))
        << test.name << ": " << *client_->closed;
  }
  static std::string Offer(uint32_t generation) {
    UpgradePass pass;
    pass.generation = generation;
    pass.token.fill(7);
    return Bytes({.type = Type::kUpgradeOffer,
                  .payload = Buffer(EncodeOffer(
                      pass, {{Address::Ipv4({10, 0, 9, 9}, 1), "fake", LinkLayer::kRoce}}))});
  }
  static std::string Decline(uint32_t generation) {
    return Bytes(
        {.type = Type::kUpgradeDecline,
         .payload = Buffer(EncodeDecline(generation, NotRdma(WhyNotRdma::kCapacity, "")))});
  }

  ConformanceRun run_;
  std::unique_ptr<RawServer> server_;
  std::unique_ptr<RawPeer> client_;
};

TEST_F(LinkHostileServerTest, WhatIsWrongInEveryState) {
  const Case own[] = {
      {"an ask", Ask(1), "a server does not ask for an upgrade"},
      {"an offer that is none",
       Bytes({.type = Type::kUpgradeOffer, .payload = Buffer(absl::string_view("\xFF"))}),
       "malformed UPGRADE_OFFER"},
      {"a decline that is none",
       Bytes({.type = Type::kUpgradeDecline, .payload = Buffer(absl::string_view("\xFF"))}),
       "malformed UPGRADE_DECLINE"},
      {"a decline of nothing", Bytes({.type = Type::kUpgradeDecline}), "without a generation"},
      {"an offer without a token",
       Bytes({.type = Type::kUpgradeOffer, .payload = Buffer(absl::string_view("\x08\x01"))}),
       "without a token"},
  };
  for (const std::string& enter : {std::string(), Offer(1), Decline(1), Resume(1)}) {
    for (const Case& test : AlwaysWrong()) ExpectClosed(enter, test);
    for (const Case& test : own) ExpectClosed(enter, test);
  }
}

// Each costs an attempt once, whatever follows it.
TEST_F(LinkHostileServerTest, AnswersToOtherAttemptsCountForNothing) {
  RawPeer& server = Link();
  const auto declined = [&] {
    return harness_.record().counts().fallbacks[static_cast<size_t>(WhyNotRdma::kCapacity)];
  };
  std::string many;
  for (int i = 0; i < 100; ++i) many += Decline(1) + Offer(1) + Offer(9) + Decline(9);
  server.Send(many);
  WaitFor(milliseconds(100));
  EXPECT_FALSE(client_->closed);
  EXPECT_EQ(declined(), 1u);
  EXPECT_TRUE(harness_.client_rdma().connects().empty());
}

TEST_F(LinkHostileServerTest, AServerThatFallsSilentIsFoundOut) {
  Link();
  const TimePoint start = Now();
  ASSERT_TRUE(harness_.Until([&] { return client_->closed.has_value(); }));
  EXPECT_LE(Now() - start, seconds(12));
  EXPECT_TRUE(absl::StrContains(client_->closed->message(), "was silent for 10000 ms"))
      << *client_->closed;
}

// It answers each PING, and says that it has received nothing.
TEST_F(LinkHostileServerTest, AServerThatAcknowledgesNothingHoldsAWindowAndNoMore) {
  RawPeer& server = Link();
  server.on_read = [](RawPeer& self) {
    Buffer input(std::exchange(self.received, ""));
    LinkFrame frame;
    for (auto cut = CutLinkFrame(input, frame); cut.ok() && *cut == 0;
         cut = CutLinkFrame(input, frame)) {
      if (frame.type == Type::kPing) {
        self.Send(Bytes({.type = Type::kPong, .number = frame.number}));
      }
    }
    self.received = input.ToString();
  };
  client_->Send(std::string(1 << 20, 'x'));
  WaitFor(seconds(30));
  EXPECT_FALSE(client_->closed) << "the caller's deadlines decide";
  EXPECT_LE(server.received.size(), size_t{64} << 10);
  client_->Close(CloseMode::kFlush);
  ASSERT_TRUE(Soon([&] { return client_->closed.has_value(); }, seconds(4)));
}

}  // namespace
}  // namespace farcall::hostile
