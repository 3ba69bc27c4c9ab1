// SPDX-License-Identifier: Apache-2.0
//
// What a client makes of peers that know no hello, or are slow.

#include "transport/link/testing/link_hello_fixture.h"

namespace farcall {
namespace {

// brpc closes when it has read 28 bytes that it does not know.
TEST_F(LinkHelloTest, APeerThatClosesIsSpokenToPlainly) {
  RawServer server(harness_, harness_.tcp(), [](RawPeer& peer) {
    peer.on_read = [](RawPeer& self) {
      if (self.received[0] != 'P') self.Close(CloseMode::kAbort);
    };
  });
  ASSERT_TRUE(Connect(server.address()).ok());
  EXPECT_EQ(info_.why_not_rdma, WhyNotRdma::kPeerSilent);
  ASSERT_TRUE(harness_.Until(
      [&] { return server.peers.size() == 2 && server.peers[1]->received == "PRPC-call"; }));
  EXPECT_GE(server.peers[0]->received.size(), 64u);
}

TEST_F(LinkHelloTest, APeerThatStaysSilentIsSpokenToPlainlyAfter300Ms) {
  RawServer server(harness_, harness_.tcp(), [](RawPeer&) {});
  const TimePoint start = Now();
  ASSERT_TRUE(Connect(server.address()).ok());
  EXPECT_GE(Now() - start, milliseconds(300));
  EXPECT_LE(Now() - start, milliseconds(320));
  ASSERT_TRUE(harness_.Until(
      [&] { return server.peers.size() == 2 && server.peers[1]->received == "PRPC-call"; }));
  EXPECT_TRUE(harness_.Until([&] { return server.peers[0]->closed.has_value(); }));
}

TEST_F(LinkHelloTest, APeerThatAnswersSomethingElseIsSpokenToPlainly) {
  RawServer server(harness_, harness_.tcp(), [](RawPeer& peer) { peer.Send("PRPC-hello?"); });
  ASSERT_TRUE(Connect(server.address()).ok());
  ASSERT_TRUE(harness_.Until([&] {
    return server.peers.size() == 2 && server.peers[1]->received == "PRPC-call" &&
           client_->received == "PRPC-hello?";
  }));
}

TEST_F(LinkHelloTest, WaitingForAnAnswerTakesNothingFromTheConnectTimeout) {
  RawServer server(harness_, harness_.tcp(), [](RawPeer&) {});
  EXPECT_TRUE(Connect(server.address(), milliseconds(100)).ok());
  EXPECT_EQ(info_.why_not_rdma, WhyNotRdma::kPeerSilent);
}

// A host whose devices take for ever to be looked at, and turn out to be none.
class SlowDevices final : public UpgradeTransport {
 public:
  void Probe(EventLoop&, OnAvailable done) override { waiting_.push_back(std::move(done)); }
  std::unique_ptr<UpgradeTicket> ConnectToOffer(EventLoop&, std::vector<UpgradeAddress>,
                                                const UpgradePass&, const OfferConnectOptions&,
                                                SendSetUp, Transport::OnConnect) override {
    ADD_FAILURE() << "a server does not connect";
    return nullptr;
  }
  std::unique_ptr<UpgradeTicket> Await(EventLoop& loop, const UpgradePass&,
                                       const ConnectionOptions&, PeerTrust, SendSetUp,
                                       OnOffer offered, OnAdmit) override {
    loop.Post(
        [offered = std::move(offered)]() mutable { offered(NotRdma(WhyNotRdma::kNoDevice, "")); });
    return std::make_unique<UpgradeTicket>();
  }
  std::unique_ptr<UpgradeTicket> Watch(EventLoop&, OnCome) override {
    return std::make_unique<UpgradeTicket>();
  }
  std::unique_ptr<BrpcPair> MakeForBrpc(EventLoop& loop, const BrpcWish&, OnBrpcEnd made) override {
    return RefuseBrpc(loop, std::move(made));
  }

 private:
  std::vector<OnAvailable> waiting_;
};

TEST_F(LinkHelloTest, AServerThatIsSlowToLookAtItsDevicesIsNotTakenForASilentPeer) {
  SlowDevices devices;
  LinkTransport slow(harness_.tcp(), &devices, harness_.record(), UpgradeOptions());
  RawServer server(harness_, slow, [](RawPeer& peer) {
    peer.on_read = [](RawPeer& self) { self.Send(std::exchange(self.received, "")); };
  });
  const TimePoint start = Now();
  ASSERT_TRUE(Connect(server.address()).ok());
  EXPECT_LT(Now() - start, milliseconds(150));
  EXPECT_EQ(server.peers.size(), 1u) << "there was no second, plain connection";
  EXPECT_TRUE(harness_.Until([&] { return client_->received == "PRPC-call"; }));
  // The upgrade is declined with the reason.
  EXPECT_TRUE(harness_.Until([&] {
    return harness_.record().counts().fallbacks[static_cast<size_t>(WhyNotRdma::kPeerHasNone)] > 0;
  }));
}

TEST_F(LinkHelloTest, ASilentPeerIsRememberedForAMinute) {
  RawServer server(harness_, harness_.tcp(), [](RawPeer&) {});
  ASSERT_TRUE(Connect(server.address()).ok());
  ASSERT_EQ(server.peers.size(), 2u);
  const TimePoint start = Now();
  ASSERT_TRUE(Connect(server.address()).ok());
  EXPECT_LE(Now() - start, milliseconds(10));
  EXPECT_EQ(info_.why_not_rdma, WhyNotRdma::kPeerSilent);
  EXPECT_TRUE(harness_.Until(
      [&] { return server.peers.size() == 3 && server.peers[2]->received == "PRPC-call"; }));
  WaitFor(seconds(60));
  ASSERT_TRUE(Connect(server.address()).ok());
  EXPECT_TRUE(harness_.Until([&] { return server.peers.size() == 5; })) << "it was asked again";
}

// Answers hellos while it is awake.
class Sleeper {
 public:
  explicit Sleeper(LinkHarness& harness)
      : server_(harness, harness.tcp(), [this](RawPeer& peer) {
          peer.on_read = [this](RawPeer& self) {
            // Frames of the link follow.
            if (!awake || self.received.size() < kHelloLeast || self.received[0] != '\xFA') return;
            if (closes) return self.Close(CloseMode::kAbort);
            link::HelloAnswer answer;
            answer.set_version(kLinkVersion);
            answer.set_why(static_cast<uint32_t>(why_not));
            answer.set_window(1 << 16);
            self.received.clear();
            self.Send(EncodeAnswer(answer));
          };
        }) {}
  const Address& address() const { return server_.address(); }
  size_t connections() const { return server_.peers.size(); }

  bool awake = true;
  bool closes = false;                      // instead of an answer
  WhyNotRdma why_not = WhyNotRdma::kInUse;  // it accepts

 private:
  RawServer server_;
};

TEST_F(LinkHelloTest, APeerThatHasEverAnsweredIsAskedAgainForALinkInsteadOfAPlainConnection) {
  Sleeper server(harness_);
  ASSERT_TRUE(Connect(server.address()).ok());
  EXPECT_TRUE(info_.linked);
  server.awake = false;
  // The first is waited for patiently, the second is not, and makes it known as silent.
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(Connect(server.address()).ok());
    EXPECT_FALSE(info_.linked);
    EXPECT_EQ(info_.why_not_rdma, WhyNotRdma::kPeerSilent);
  }
  const size_t before = server.connections();
  const absl::Status still = Replace(server.address(), WhyNotRdma::kPeerSilent);
  EXPECT_EQ(ReasonOf(still), WhyNotRdma::kPeerSilent) << still;
  EXPECT_EQ(server.connections(), before + 1) << "no other one, which would be plain";
  server.awake = true;
  EXPECT_TRUE(Replace(server.address(), WhyNotRdma::kPeerSilent).ok());
  EXPECT_TRUE(info_.linked);
}

// As one that is restarted does.
TEST_F(LinkHelloTest, APeerThatHasAnsweredAndBreaksOffAHelloIsAskedAgain) {
  Sleeper server(harness_);
  ASSERT_TRUE(Connect(server.address()).ok());
  EXPECT_TRUE(info_.linked);
  server.closes = true;
  ASSERT_TRUE(Connect(server.address()).ok());
  EXPECT_FALSE(info_.linked);
  server.closes = false;
  ASSERT_TRUE(Connect(server.address()).ok());
  EXPECT_TRUE(info_.linked);
}

class RequiredHelloTest : public LinkHelloTest {
 protected:
  RequiredHelloTest() : LinkHelloTest(Required()) {}
  static LinkVariant Required() {
    LinkVariant variant = LinkVariant::Of(1);
    variant.client.require_rdma = true;
    return variant;
  }
};

// There is no plain connection that not asking would save time for.
TEST_F(RequiredHelloTest, APeerThatWasSilentIsAskedByTheNext) {
  Sleeper server(harness_);
  server.awake = false;
  EXPECT_EQ(ReasonOf(Connect(server.address())), WhyNotRdma::kPeerSilent);
  EXPECT_EQ(server.connections(), 1u);
  server.awake = true;
  const absl::Status linked = Connect(server.address());
  EXPECT_EQ(ReasonOf(linked), WhyNotRdma::kTimedOut) << "it has no RDMA: " << linked;
  EXPECT_EQ(server.connections(), 2u);
}

TEST_F(LinkHelloTest, APeerThatWasSilentIsAskedAgainForALinkWithMoreTime) {
  Sleeper server(harness_);
  server.awake = false;
  ASSERT_TRUE(Connect(server.address()).ok());
  EXPECT_FALSE(info_.linked);
  const size_t before = server.connections();
  const TimePoint start = Now();
  const absl::Status still = Replace(server.address(), WhyNotRdma::kPeerSilent);
  EXPECT_EQ(ReasonOf(still), WhyNotRdma::kPeerSilent) << still;
  EXPECT_GE(Now() - start, seconds(3));
  EXPECT_EQ(server.connections(), before + 1) << "no other one, which would be plain";
  server.awake = true;
  EXPECT_TRUE(Replace(server.address(), WhyNotRdma::kPeerSilent).ok());
  EXPECT_TRUE(info_.linked);
}

// brpc, to which each hello is a connection that breaks, and a line in its log.
TEST_F(LinkHelloTest, APeerThatClosedIsNotAskedAgainForALink) {
  RawServer server(harness_, harness_.tcp(), [](RawPeer& peer) {
    peer.on_read = [](RawPeer& self) {
      if (self.received[0] != 'P') self.Close(CloseMode::kAbort);
    };
  });
  EXPECT_EQ(ReasonOf(Replace(server.address(), WhyNotRdma::kNoDevice)), WhyNotRdma::kPeerSilent);
  EXPECT_EQ(server.peers.size(), 1u);
  WaitFor(seconds(61));
  EXPECT_EQ(ReasonOf(Replace(server.address(), WhyNotRdma::kPeerSilent)), WhyNotRdma::kPeerSilent);
  EXPECT_EQ(server.peers.size(), 1u);
}

TEST_F(LinkHelloTest, WhatIsDeclinedReplacesNothing) {
  Sleeper server(harness_);
  server.why_not = WhyNotRdma::kPeerHasNone;
  const absl::Status declined = Replace(server.address(), WhyNotRdma::kPeerHasNone);
  EXPECT_EQ(ReasonOf(declined), WhyNotRdma::kPeerHasNone) << declined;
  server.why_not = WhyNotRdma::kInUse;
  EXPECT_TRUE(Replace(server.address(), WhyNotRdma::kPeerHasNone).ok());
  EXPECT_TRUE(info_.linked);
}

TEST_F(LinkHelloTest, APeerThatHasDeclinedKnowsTheHello) {
  Sleeper server(harness_);
  server.why_not = WhyNotRdma::kPeerHasNone;
  ASSERT_TRUE(Connect(server.address()).ok());
  EXPECT_EQ(info_.why_not_rdma, WhyNotRdma::kPeerHasNone);
  server.closes = true;
  ASSERT_TRUE(Connect(server.address()).ok());
  EXPECT_EQ(info_.why_not_rdma, WhyNotRdma::kPeerSilent);
  server.closes = false;
  server.why_not = WhyNotRdma::kInUse;
  const absl::Status linked = Replace(server.address(), WhyNotRdma::kPeerSilent);
  EXPECT_TRUE(linked.ok()) << linked;
  EXPECT_TRUE(info_.linked);
}

}  // namespace
}  // namespace farcall
