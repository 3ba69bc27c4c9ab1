// SPDX-License-Identifier: Apache-2.0
//
// Peers that break the rules of the upgrade, or try tokens.

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "transport/link/testing/link_token_testing.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

TEST_F(LinkTokenTest, ATokenAdmitsOnce) {
  Ask(*client_, 1);
  const OfferMessage offer = NextOffer(*client_);
  EXPECT_TRUE(ConnectToOffer(offer.pass, offer.addresses).ok());
  EXPECT_EQ(ReasonOf(ConnectToOffer(offer.pass, offer.addresses)), WhyNotRdma::kRejected);
  EXPECT_EQ(harness_.fabric().admitted, 1);
}

TEST_F(LinkTokenTest, AWrongTokenAdmitsNobody) {
  Ask(*client_, 1);
  const OfferMessage offer = NextOffer(*client_);
  UpgradePass wrong = offer.pass;
  wrong.token[3] ^= 1;
  EXPECT_EQ(ReasonOf(ConnectToOffer(wrong, offer.addresses)), WhyNotRdma::kRejected);
  EXPECT_TRUE(ConnectToOffer(offer.pass, offer.addresses).ok()) << "no other client notices";
}

// The next one might fare as the last, and so would those behind it never be tried.
TEST_F(LinkTokenTest, AnOfferThatLedNobodyHereBeginsElsewhereTheNextTime) {
  const auto resume = [&](uint32_t generation) {
    Send(*client_, {.type = LinkFrameType::kResume, .number = generation});
  };
  Ask(*client_, 1);
  const OfferMessage first = NextOffer(*client_);
  ASSERT_EQ(first.addresses.size(), 2u);
  resume(1);
  Ask(*client_, 2);
  const OfferMessage second = NextOffer(*client_);
  EXPECT_EQ(second.addresses[0].address, first.addresses[1].address);
  EXPECT_EQ(second.addresses[1].address, first.addresses[0].address);
  EXPECT_NE(second.pass.token, first.pass.token);
  EXPECT_NE(second.pass.answer, first.pass.answer);
  EXPECT_TRUE(ConnectToOffer(second.pass, second.addresses).ok());
  resume(2);
  Ask(*client_, 3);
  EXPECT_EQ(NextOffer(*client_).addresses[0].address, first.addresses[0].address);
}

TEST_F(LinkTokenTest, AnAskSupersedesTheToken) {
  Ask(*client_, 1);
  const OfferMessage first = NextOffer(*client_);
  Send(*client_, {.type = LinkFrameType::kResume, .number = 1});
  Ask(*client_, 2);
  const OfferMessage second = NextOffer(*client_);
  EXPECT_NE(first.pass.token, second.pass.token);
  EXPECT_EQ(ReasonOf(ConnectToOffer(first.pass, first.addresses)), WhyNotRdma::kRejected);
  EXPECT_TRUE(ConnectToOffer(second.pass, second.addresses).ok());
}

TEST_F(LinkTokenTest, GivingItUpVoidsTheToken) {
  Ask(*client_, 1);
  const OfferMessage offer = NextOffer(*client_);
  Send(*client_, {.type = LinkFrameType::kResume, .number = 1});
  harness_.Settle();
  EXPECT_EQ(ReasonOf(ConnectToOffer(offer.pass, offer.addresses)), WhyNotRdma::kRejected);
}

TEST_F(LinkTokenTest, ATokenDiesWithItsConnection) {
  Ask(*client_, 1);
  const OfferMessage offer = NextOffer(*client_);
  client_->Close(CloseMode::kAbort);
  ASSERT_TRUE(harness_.Until([&] { return server_->peers[0]->closed.has_value(); }));
  server_->peers.clear();
  EXPECT_EQ(ReasonOf(ConnectToOffer(offer.pass, offer.addresses)), WhyNotRdma::kRejected);
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
  EXPECT_TRUE(ConnectToOffer(offer.pass, offer.addresses).ok());
}

// Else one connection would have as many queue pairs as it asks for, and no byte of a request
// needs to come for that.
TEST_F(LinkTokenTest, WhoHasOneIsOfferedNoOther) {
  Ask(*client_, 1);
  const OfferMessage offer = NextOffer(*client_);
  EXPECT_TRUE(ConnectToOffer(offer.pass, offer.addresses).ok());
  Ask(*client_, 2);
  ExpectBreach(harness_, *server_, "asks for generation 2 and has not given up 1");
  EXPECT_EQ(harness_.fabric().admitted, 1);
}

TEST_F(LinkTokenTest, WhoMayStillConnectIsOfferedNoOther) {
  Ask(*client_, 1);
  const OfferMessage offer = NextOffer(*client_);
  Ask(*client_, 2);
  ExpectBreach(harness_, *server_, "asks for generation 2 and has not given up 1");
  server_->peers.clear();
  EXPECT_EQ(ReasonOf(ConnectToOffer(offer.pass, offer.addresses)), WhyNotRdma::kRejected);
}

}  // namespace
}  // namespace farcall
