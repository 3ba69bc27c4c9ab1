// SPDX-License-Identifier: Apache-2.0
//
// A client whose peers may be brpc. The servers are done by hand.

#include <cerrno>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "transport/brpc/hello_testing.h"
#include "transport/link/testing/link_brpc_testing.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

class LinkBrpcClientTest : public testing::Test {
 protected:
  explicit LinkBrpcClientTest(const UpgradeOptions& options = PreferBrpc())
      : harness_(FakeMode::kStepped, options) {}
  ~LinkBrpcClientTest() override {
    client_.reset();
    if (server_) server_->peers.clear();
    harness_.Settle();
    end_.reset();
    server_.reset();
  }

  // `behaves`: at each connection, by its number, when bytes have come.
  void Serve(const std::function<void(RawPeer&, size_t)>& behaves) {
    server_.emplace(harness_, harness_.tcp(), [this, behaves](RawPeer& peer) {
      const size_t number = accepted_++;
      peer.on_read = [behaves, number](RawPeer& self) { behaves(self, number); };
    });
  }
  absl::Status Connect(Transport& transport, ConnectOptions options = {}) {
    client_.reset();
    std::optional<absl::Status> result;
    EventLoop& loop = harness_.loops().at(0);
    harness_.Run(loop, [&] {
      transport.Connect(loop, server_->address(), options,
                        [&](absl::StatusOr<std::unique_ptr<Connection>> connection) {
                          result = connection.status();
                          if (!connection.ok()) return;
                          client_ =
                              std::make_unique<RawPeer>(harness_, loop, *std::move(connection));
                        });
    });
    EXPECT_TRUE(harness_.Until([&] {
      if (end_) end_->Poll();
      return result.has_value();
    }));
    return result.value_or(absl::UnknownError("there was no result"));
  }
  // What the server hears of the client's hello; nothing more may come before its answer.
  std::optional<BrpcEnd> TakeHello(RawPeer& peer) {
    Buffer input(peer.received);
    BrpcHello hello;
    const auto need = CutBrpcHello(input, hello);
    if (!need.ok() || *need != 0) return std::nullopt;
    EXPECT_TRUE(hello.usable.ok()) << hello.usable;
    EXPECT_EQ(hello.version, BrpcVersion::kSecond);
    EXPECT_TRUE(input.empty()) << "something is pipelined behind the hello";
    peer.received.clear();
    return hello.end;
  }
  // A server that accepts.
  void ServeRdma(const BrpcVerbsEnd::Options& options = {.device = "fakeB"}) {
    end_ = std::make_unique<BrpcVerbsEnd>(harness_.fabric(), options);
    ASSERT_TRUE(end_->Make());
    Serve([this](RawPeer& peer, size_t) {
      if (joined_) {
        decisions_ += peer.received;
        peer.received.clear();
        return;
      }
      const auto hello = TakeHello(peer);
      if (!hello) return;
      EXPECT_EQ(end_->Join(*hello), 0);
      joined_ = true;
      peer.Send(EncodeBrpcHello(BrpcVersion::kSecond, end_->own()));
    });
  }
  bool Until(const std::function<bool()>& done) {
    return harness_.Until([&] {
      if (end_) end_->Poll();
      return done();
    });
  }

  SteppedBrpc harness_;
  size_t accepted_ = 0;
  std::optional<RawServer> server_;
  std::unique_ptr<BrpcVerbsEnd> end_;
  bool joined_ = false;
  std::string decisions_;
  std::unique_ptr<RawPeer> client_;
};

TEST_F(LinkBrpcClientTest, ABrpcServerIsSpokenToOverRdma) {
  ServeRdma();
  ASSERT_TRUE(Connect(harness_.transport()).ok());
  EXPECT_EQ(decisions_, EncodeBrpcDecision(true)) << "it is with the server before bytes are";
  client_->Send("PRPC-request");
  ASSERT_TRUE(Until([&] { return end_->received == "PRPC-request"; }));
  end_->Send("answer", end_->untold);
  ASSERT_TRUE(Until([&] { return client_->received == "answer"; }));
  const ConnectionInfo info = client_->info();
  EXPECT_EQ(info.transport, TransportKind::kRdma);
  EXPECT_EQ(info.wire, "brpc");
  EXPECT_FALSE(info.linked);
  EXPECT_EQ(info.peer.ToString(), server_->address().ToString());
  EXPECT_EQ(decisions_.size(), 4u) << "TCP carries nothing";
  EXPECT_EQ(accepted_, 1u);
}

TEST_F(LinkBrpcClientTest, TheServersEndIsTheEnd) {
  ServeRdma();
  ASSERT_TRUE(Connect(harness_.transport()).ok());
  end_->Send("last words", 0);
  ASSERT_TRUE(Until([&] { return end_->sends == 1; }));
  server_->peers.front()->Close(CloseMode::kFlush);
  ASSERT_TRUE(Until([&] { return client_->closed.has_value(); }));
  EXPECT_EQ(client_->received, "last words");
  EXPECT_TRUE(absl::IsUnavailable(*client_->closed)) << *client_->closed;
}

TEST_F(LinkBrpcClientTest, AByteOnTcpIsABreach) {
  ServeRdma();
  ASSERT_TRUE(Connect(harness_.transport()).ok());
  server_->peers.front()->Send("P");
  ASSERT_TRUE(Until([&] { return client_->closed.has_value(); }));
  EXPECT_TRUE(absl::IsInvalidArgument(*client_->closed)) << *client_->closed;
}

// A server that has RDMA off, or fell back: a fresh connection carries the requests.
TEST_F(LinkBrpcClientTest, WhoRefusesIsSpokenToOnAFreshConnection) {
  for (const BrpcRefusal how : {BrpcRefusal::kOff, BrpcRefusal::kFellBack}) {
    client_.reset();
    accepted_ = 0;
    Serve([this, how](RawPeer& peer, size_t number) {
      if (number == 0 && TakeHello(peer)) {
        peer.Send(EncodeBrpcRefusal(BrpcVersion::kSecond, how));
      }
    });
    ASSERT_TRUE(Connect(harness_.transport()).ok());
    client_->Send("PRPC");
    ASSERT_TRUE(Until([&] { return server_->peers.back()->received == "PRPC"; }));
    EXPECT_EQ(accepted_, 2u);
    EXPECT_EQ(client_->info().transport, TransportKind::kTcp);
    EXPECT_EQ(client_->info().why_not_rdma, WhyNotRdma::kPeerHasNone);
    EXPECT_EQ(client_->info().why_detail, "the RDMA hello of brpc refuses");
    // It is remembered.
    ASSERT_TRUE(Connect(harness_.transport()).ok());
    EXPECT_EQ(accepted_, 3u);
    client_->Send("PRPC");
    ASSERT_TRUE(Until([&] { return server_->peers.back()->received == "PRPC"; }));
  }
}

TEST_F(LinkBrpcClientTest, WhoClosesAtTheHelloIsSpokenToOnAFreshConnection) {
  Serve([](RawPeer& peer, size_t number) {
    if (number == 0) peer.Close(CloseMode::kAbort);
  });
  ASSERT_TRUE(Connect(harness_.transport()).ok());
  client_->Send("PRPC");
  ASSERT_TRUE(Until([&] { return server_->peers.back()->received == "PRPC"; }));
  EXPECT_EQ(accepted_, 2u);
  EXPECT_EQ(client_->info().why_detail, "it closed the connection at brpc's RDMA hello");
  ASSERT_TRUE(Connect(harness_.transport()).ok());
  EXPECT_EQ(accepted_, 3u) << "it is remembered";
}

// Of whom nothing is known: our hello, then brpc's, then none.
TEST_F(LinkBrpcClientTest, OurOwnHelloComesFirst) {
  std::vector<std::string> openings;
  Serve([&](RawPeer& peer, size_t) {
    openings.push_back(peer.received.substr(0, 4));
    if (peer.received.substr(0, 4) != "PRPC") peer.Close(CloseMode::kAbort);
  });
  ConnectOptions options;
  options.peers_may_be_brpc = true;
  ASSERT_TRUE(Connect(harness_.link(), options).ok());
  client_->Send("PRPC");
  ASSERT_TRUE(Until([&] { return openings.size() == 3; }));
  EXPECT_EQ(openings[0], "\xFA\x43\x4C\x48");
  EXPECT_EQ(openings[1], "RDMA");
  EXPECT_EQ(openings[2], "PRPC");
}

TEST_F(LinkBrpcClientTest, WhoIsNotSaidToBeBrpcHearsNothingOfIt) {
  std::vector<std::string> openings;
  Serve([&](RawPeer& peer, size_t) {
    openings.push_back(peer.received.substr(0, 4));
    if (peer.received.substr(0, 4) != "PRPC") peer.Close(CloseMode::kAbort);
  });
  ASSERT_TRUE(Connect(harness_.link()).ok());
  client_->Send("PRPC");
  ASSERT_TRUE(Until([&] { return openings.size() == 2; }));
  EXPECT_EQ(openings[1], "PRPC");
}

// A connection may have begun on TCP because this host found its device late.
TEST_F(LinkBrpcClientTest, APlainConnectionIsReplacedByOneOfBrpcs) {
  ServeRdma();
  ConnectOptions options;
  options.instead_of = WhyNotRdma::kTimedOut;
  ASSERT_TRUE(Connect(harness_.transport(), options).ok());
  EXPECT_EQ(client_->info().transport, TransportKind::kRdma);
  EXPECT_EQ(client_->info().wire, "brpc");
  EXPECT_EQ(accepted_, 1u);
}

TEST_F(LinkBrpcClientTest, WhoRefusesAgainLeavesThePlainConnectionItsReason) {
  Serve([this](RawPeer& peer, size_t) {
    if (TakeHello(peer)) peer.Send(EncodeBrpcRefusal(BrpcVersion::kSecond, BrpcRefusal::kOff));
  });
  ConnectOptions options;
  options.instead_of = WhyNotRdma::kPeerHasNone;
  const absl::Status result = Connect(harness_.transport(), options);
  EXPECT_EQ(ReasonOf(result), WhyNotRdma::kPeerHasNone) << result;
  EXPECT_EQ(accepted_, 1u) << "no plain connection is made beside the one that there is";
}

TEST_F(LinkBrpcClientTest, WithoutAQueuePairNothingIsSaid) {
  harness_.fabric().faults().FailEvery("ibv_create_qp", ENOMEM);
  Serve([](RawPeer&, size_t) {});
  ASSERT_TRUE(Connect(harness_.transport()).ok());
  client_->Send("PRPC");
  ASSERT_TRUE(Until([&] { return server_->peers.front()->received == "PRPC"; }));
  EXPECT_EQ(accepted_, 1u);
  EXPECT_EQ(client_->info().why_not_rdma, WhyNotRdma::kDeviceRefused);
}

TEST_F(LinkBrpcClientTest, AnswersThatAreNoneLeadToAFreshConnection) {
  const std::string hello = BrpcSecondFixture();
  for (const std::string& answer :
       {std::string("HTTP/1.1 400 Bad Request"), BrpcThirdFixture(), hello + "x",
        "RDMA" + BrpcBytes("0027"),
        BrpcBytes("52444D41 0028 0002 0001 000003FF") + hello.substr(14)}) {
    client_.reset();
    accepted_ = 0;
    Serve([answer](RawPeer& peer, size_t number) {
      if (number == 0) peer.Send(answer);
    });
    ASSERT_TRUE(Connect(harness_.transport()).ok());
    client_->Send("PRPC");
    EXPECT_TRUE(Until([&] { return server_->peers.back()->received == "PRPC"; }));
    EXPECT_EQ(accepted_, 2u);
  }
}

class LinkBrpcRequiredTest : public LinkBrpcClientTest {
 protected:
  LinkBrpcRequiredTest() : LinkBrpcClientTest(SteppedBrpc::Options()) {}
};

TEST_F(LinkBrpcRequiredTest, WhoRequiresRdmaIsContentWithBrpcs) {
  ServeRdma();
  EXPECT_TRUE(Connect(harness_.transport()).ok());
}

TEST_F(LinkBrpcRequiredTest, WhoRequiresRdmaIsToldWhyThereIsNone) {
  Serve([this](RawPeer& peer, size_t) {
    if (TakeHello(peer)) peer.Send(EncodeBrpcRefusal(BrpcVersion::kSecond, BrpcRefusal::kOff));
  });
  const absl::Status result = Connect(harness_.transport());
  EXPECT_EQ(ReasonOf(result), WhyNotRdma::kPeerHasNone) << result;
  EXPECT_EQ(accepted_, 1u);
}

}  // namespace
}  // namespace farcall
