// SPDX-License-Identifier: Apache-2.0
//
// Peers that break the rules of the upgrade, or try tokens.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "transport/link/frame.h"
#include "transport/link/hello/hello.h"
#include "transport/link/switching_stream.h"
#include "transport/link/testing/link_harness.h"
#include "transport/link/testing/raw_peer.h"
#include "transport/link/upgrade_messages.h"
#include "transport/testing/conformance_run.h"
#include "transport/testing/sim_harness.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

// A client that speaks link frames by hand.
class LinkTokenTest : public testing::Test {
 protected:
  LinkTokenTest() : harness_(std::make_unique<SimHarness>(1), LinkVariant::Of(1)) {
    server_ = std::make_unique<RawServer>(harness_, harness_.transport(), [](RawPeer&) {});
    client_ = NewClient();
  }

  std::unique_ptr<RawPeer> NewClient() {
    auto client = RawPeer::Connect(harness_, harness_.tcp(), server_->address());
    client->Send(EncodeHello(MakeHello(1 << 16)));
    EXPECT_TRUE(harness_.Until([&] { return client->received.size() >= kHelloLeast; }));
    client->received.erase(0, kHelloLeast);
    return client;
  }

  std::string Bytes(LinkFrame frame) {
    return LinkFrameWriter(harness_.pool()).Encode(std::move(frame)).ToString();
  }
  void Send(RawPeer& client, LinkFrame frame) { client.Send(Bytes(std::move(frame))); }
  std::string AskFor(uint32_t generation) {
    return Bytes({.type = LinkFrameType::kUpgradeAsk,
                  .payload = Buffer(EncodeAsk(generation, NotRdma(WhyNotRdma::kPending, "")))});
  }
  void Ask(RawPeer& client, uint32_t generation) { client.Send(AskFor(generation)); }
  // The next frame that has to do with upgrades, but no RESUME.
  LinkFrame Next(RawPeer& client) {
    LinkFrame frame;
    const bool came = harness_.Until([&] {
      Buffer input(client.received);
      for (;;) {
        const auto cut = CutLinkFrame(input, frame);
        if (!cut.ok() || *cut > 0) return false;
        client.received = input.ToString();
        if (IsUpgrade(frame.type)) return true;
      }
    });
    EXPECT_TRUE(came);
    return frame;
  }
  OfferMessage NextOffer(RawPeer& client) {
    const LinkFrame frame = Next(client);
    EXPECT_EQ(frame.type, LinkFrameType::kUpgradeOffer);
    const auto offer = ParseOffer(frame.payload.ToString());
    EXPECT_TRUE(offer.ok());
    return offer.ok() ? *offer : OfferMessage();
  }

  // How a dial with `pass` ends.
  absl::Status Dial(const UpgradePass& pass, const std::vector<UpgradeAddress>& addresses) {
    std::optional<absl::Status> result;
    EventLoop& loop = harness_.loops().at(0);
    std::unique_ptr<UpgradeTicket> ticket;
    harness_.Run(loop, [&] {
      ticket =
          harness_.client_rdma().Dial(loop, addresses, pass, ConnectOptions(),
                                      [&](absl::StatusOr<std::unique_ptr<Connection>> connection) {
                                        result = connection.status();
                                        if (connection.ok()) dialled_ = *std::move(connection);
                                      });
    });
    EXPECT_TRUE(harness_.Until([&] { return result.has_value(); }));
    harness_.Run(loop, [&] { ticket.reset(); });
    return result.value_or(absl::UnknownError("nothing"));
  }

  ~LinkTokenTest() override {
    harness_.Run(harness_.loops().at(0), [&] { dialled_.reset(); });
    client_.reset();
    server_.reset();
    EXPECT_TRUE(harness_.Until([&] { return harness_.pool().stats().used_bytes == 0; }));
  }

  LinkHarness harness_;
  std::unique_ptr<RawServer> server_;
  std::unique_ptr<RawPeer> client_;
  std::unique_ptr<Connection> dialled_;
};

TEST_F(LinkTokenTest, ATokenAdmitsOnce) {
  Ask(*client_, 1);
  const OfferMessage offer = NextOffer(*client_);
  EXPECT_TRUE(Dial(offer.pass, offer.addresses).ok());
  EXPECT_EQ(ReasonOf(Dial(offer.pass, offer.addresses)), WhyNotRdma::kRejected);
  EXPECT_EQ(harness_.fabric().admitted, 1);
}

TEST_F(LinkTokenTest, AWrongTokenAdmitsNobody) {
  Ask(*client_, 1);
  const OfferMessage offer = NextOffer(*client_);
  UpgradePass wrong = offer.pass;
  wrong.token[3] ^= 1;
  EXPECT_EQ(ReasonOf(Dial(wrong, offer.addresses)), WhyNotRdma::kRejected);
  wrong = offer.pass;
  wrong.generation = 2;
  EXPECT_EQ(ReasonOf(Dial(wrong, offer.addresses)), WhyNotRdma::kRejected);
  EXPECT_TRUE(Dial(offer.pass, offer.addresses).ok()) << "nobody else notices";
}

TEST_F(LinkTokenTest, AnAskSupersedesTheToken) {
  Ask(*client_, 1);
  const OfferMessage first = NextOffer(*client_);
  Send(*client_, {.type = LinkFrameType::kResume, .number = 1});
  Ask(*client_, 2);
  const OfferMessage second = NextOffer(*client_);
  EXPECT_NE(first.pass.token, second.pass.token);
  EXPECT_EQ(ReasonOf(Dial(first.pass, first.addresses)), WhyNotRdma::kRejected);
  EXPECT_TRUE(Dial(second.pass, second.addresses).ok());
}

TEST_F(LinkTokenTest, GivingItUpVoidsTheToken) {
  Ask(*client_, 1);
  const OfferMessage offer = NextOffer(*client_);
  Send(*client_, {.type = LinkFrameType::kResume, .number = 1});
  harness_.Settle();
  EXPECT_EQ(ReasonOf(Dial(offer.pass, offer.addresses)), WhyNotRdma::kRejected);
}

TEST_F(LinkTokenTest, ATokenDiesWithItsConnection) {
  Ask(*client_, 1);
  const OfferMessage offer = NextOffer(*client_);
  client_->Close(CloseMode::kAbort);
  ASSERT_TRUE(harness_.Until([&] { return server_->peers[0]->closed.has_value(); }));
  server_->peers.clear();
  EXPECT_EQ(ReasonOf(Dial(offer.pass, offer.addresses)), WhyNotRdma::kRejected);
}

TEST_F(LinkTokenTest, EachConnectionHasItsOwn) {
  const auto other = NewClient();
  Ask(*client_, 1);
  Ask(*other, 1);
  EXPECT_NE(NextOffer(*client_).pass.token, NextOffer(*other).pass.token);
}

void ExpectBreach(LinkHarness& harness, RawServer& server, absl::string_view what) {
  ASSERT_TRUE(harness.Until([&] { return server.peers[0]->closed.has_value(); }));
  EXPECT_TRUE(absl::StrContains(server.peers[0]->closed->message(), what))
      << *server.peers[0]->closed;
}

TEST_F(LinkTokenTest, AskingForTheSameTwiceIsABreach) {
  Ask(*client_, 1);
  Ask(*client_, 1);
  ExpectBreach(harness_, *server_, "generation 1");
}

TEST_F(LinkTokenTest, AskingForALaterOneIsABreach) {
  Ask(*client_, 7);
  ExpectBreach(harness_, *server_, "generation 7");
}

TEST_F(LinkTokenTest, AMalformedAskIsABreach) {
  Send(*client_,
       {.type = LinkFrameType::kUpgradeAsk, .payload = Buffer(absl::string_view("\xFF"))});
  ExpectBreach(harness_, *server_, "UPGRADE_ASK");
}

TEST_F(LinkTokenTest, AClientThatOffersBreaksTheRules) {
  Send(*client_, {.type = LinkFrameType::kUpgradeOffer, .payload = Buffer(absl::string_view("x"))});
  ExpectBreach(harness_, *server_, "a client makes no offers");
}

// As many as it gives up may wait in a row; those that it did not take back are not offered.
TEST_F(LinkTokenTest, AsksInARowMakeOneOffer) {
  const std::string resume1 = Bytes({.type = LinkFrameType::kResume, .number = 1});
  const std::string resume2 = Bytes({.type = LinkFrameType::kResume, .number = 2});
  client_->Send(AskFor(1) + resume1 + AskFor(2) + resume2 + AskFor(3));
  const OfferMessage offer = NextOffer(*client_);
  EXPECT_EQ(offer.pass.generation, 3u);
  EXPECT_TRUE(Dial(offer.pass, offer.addresses).ok());
}

// Else one connection would have as many queue pairs as it asks for, and no byte of a request
// needs to come for that.
TEST_F(LinkTokenTest, WhoHasOneIsOfferedNoOther) {
  Ask(*client_, 1);
  const OfferMessage offer = NextOffer(*client_);
  EXPECT_TRUE(Dial(offer.pass, offer.addresses).ok());
  Ask(*client_, 2);
  ExpectBreach(harness_, *server_, "asks for generation 2 and has not given up 1");
  EXPECT_EQ(harness_.fabric().admitted, 1);
}

TEST_F(LinkTokenTest, WhoMayStillDialIsOfferedNoOther) {
  Ask(*client_, 1);
  const OfferMessage offer = NextOffer(*client_);
  Ask(*client_, 2);
  ExpectBreach(harness_, *server_, "asks for generation 2 and has not given up 1");
  server_->peers.clear();
  EXPECT_EQ(ReasonOf(Dial(offer.pass, offer.addresses)), WhyNotRdma::kRejected);
}

}  // namespace
}  // namespace farcall
