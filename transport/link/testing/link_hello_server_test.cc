// SPDX-License-Identifier: Apache-2.0
//
// What a server makes of first bytes that are no hello, or half of one.

#include "transport/link/testing/link_hello_fixture.h"

namespace farcall {
namespace {

TEST_F(LinkHelloTest, APlainClientIsServedAtOnce) {
  const auto server = Serve();
  const auto client = RawPeer::Connect(harness_, harness_.tcp(), server->address());
  client->Send("PRPC-call");
  EXPECT_TRUE(harness_.Until([&] { return client->received == "PRPC-call"; }));
}

// The first byte says it, so there is no wait for four.
TEST_F(LinkHelloTest, APlainClientIsServedByteByByte) {
  const auto server = Serve();
  const auto client = RawPeer::Connect(harness_, harness_.tcp(), server->address());
  for (const char byte : std::string("\x16PRPC")) {
    client->Send(std::string(1, byte));
    ASSERT_TRUE(harness_.Until([&] { return client->received == std::string(1, byte); }));
    client->received.clear();
  }
}

TEST_F(LinkHelloTest, AHelloMayComeByteByByte) {
  const auto server = Serve();
  const auto client = RawPeer::Connect(harness_, harness_.tcp(), server->address());
  for (const char byte : EncodeHello(MakeHello(1 << 16))) {
    client->Send(std::string(1, byte));
    harness_.Settle();
  }
  ASSERT_TRUE(harness_.Until([&] { return client->received.size() >= kHelloLeast; }));
  Buffer input(client->received);
  link::HelloAnswer answer;
  ASSERT_EQ(CutAnswer(input, answer), HelloCut::kWhole);
  EXPECT_EQ(answer.why(), 0u);
}

TEST_F(LinkHelloTest, HalfAHelloAndSilenceIsClosedAfter3S) {
  const auto server = Serve();
  const auto client = RawPeer::Connect(harness_, harness_.tcp(), server->address());
  client->Send(EncodeHello(MakeHello(1 << 16)).substr(0, 40));
  const TimePoint start = Now();
  ASSERT_TRUE(harness_.Until([&] { return client->closed.has_value(); }));
  EXPECT_GE(Now() - start, seconds(3));
  EXPECT_LE(Now() - start, milliseconds(3100));
  EXPECT_TRUE(absl::StrContains(server->peers[0]->closed->message(), "half a hello"));
}

TEST_F(LinkHelloTest, AMalformedHelloIsClosedAtOnce) {
  const auto server = Serve();
  const auto client = RawPeer::Connect(harness_, harness_.tcp(), server->address());
  std::string hello = EncodeHello(MakeHello(1 << 16));
  hello[4] = '\x7F';
  const TimePoint start = Now();
  client->Send(hello);
  ASSERT_TRUE(harness_.Until([&] { return client->closed && server->peers[0]->closed; }));
  EXPECT_LE(Now() - start, milliseconds(100));
  EXPECT_TRUE(absl::StrContains(server->peers[0]->closed->message(), "malformed hello"));
}

TEST_F(LinkHelloTest, AProbeThatConnectsAndClosesIsNoError) {
  const auto server = Serve();
  const auto client = RawPeer::Connect(harness_, harness_.tcp(), server->address());
  client->Close(CloseMode::kFlush);
  ASSERT_TRUE(harness_.Until([&] { return server->peers[0]->closed.has_value(); }));
  EXPECT_TRUE(absl::IsUnavailable(*server->peers[0]->closed));
  EXPECT_TRUE(absl::StrContains(server->peers[0]->closed->message(), "closed by peer"));
  EXPECT_TRUE(harness_.log().empty());
}

TEST_F(LinkHelloTest, AnIdlePlainClientIsNotClosed) {
  const auto server = Serve();
  const auto client = RawPeer::Connect(harness_, harness_.tcp(), server->address());
  WaitFor(seconds(30));
  client->Send("PRPC-call");
  EXPECT_TRUE(harness_.Until([&] { return client->received == "PRPC-call"; }));
}

TEST_F(LinkHelloTest, AServerThatSpeaksFirstIsHeardByASilentClient) {
  RawServer server(harness_, harness_.transport(), [](RawPeer& peer) { peer.Send("welcome"); });
  const auto client = RawPeer::Connect(harness_, harness_.tcp(), server.address());
  EXPECT_TRUE(harness_.Until([&] { return client->received == "welcome"; }));
}

TEST_F(LinkHelloTest, ACloseBeforeTheFirstByteIsAnOrdinaryOne) {
  RawServer server(harness_, harness_.transport(), [](RawPeer& peer) {
    peer.Send("bye");
    peer.Close(CloseMode::kFlush);
  });
  const auto client = RawPeer::Connect(harness_, harness_.tcp(), server.address());
  EXPECT_TRUE(harness_.Until([&] { return client->closed && server.peers[0]->closed; }));
  EXPECT_EQ(client->received, "bye");
  EXPECT_TRUE(absl::IsCancelled(*server.peers[0]->closed));
}

// Its connections die before they are started, some amid the hello.
TEST_F(LinkHelloTest, AServerThatDropsWhatItAcceptsIsAPeerThatCloses) {
  int accepted = 0;
  auto listener =
      harness_.transport().Listen(harness_.loops(), harness_.FreeAddress(), ListenOptions(),
                                  [&](EventLoop&, std::unique_ptr<Connection>) { ++accepted; });
  ASSERT_TRUE(listener.ok());
  EXPECT_TRUE(Connect((*listener)->address()).ok());
  EXPECT_EQ(info_.why_not_rdma, WhyNotRdma::kPeerSilent);
  EXPECT_TRUE(harness_.Until([&] { return accepted == 2 && client_->closed; }));
}

TEST_F(LinkHelloTest, GarbageBehindAnAcceptedHelloIsClosed) {
  const auto server = Serve();
  const auto client = RawPeer::Connect(harness_, harness_.tcp(), server->address());
  client->Send(absl::StrCat(EncodeHello(MakeHello(1 << 16)), std::string(100, 'x')));
  ASSERT_TRUE(harness_.Until([&] { return client->closed && server->peers[0]->closed; }));
  EXPECT_TRUE(absl::IsInvalidArgument(*server->peers[0]->closed)) << *server->peers[0]->closed;
}

TEST_F(LinkHelloTest, AWindowOfNothingIsDeclined) {
  const auto server = Serve();
  const auto client = RawPeer::Connect(harness_, harness_.tcp(), server->address());
  client->Send(absl::StrCat(EncodeHello(MakeHello(10))));
  ASSERT_TRUE(harness_.Until([&] { return client->received.size() >= kHelloLeast; }));
  Buffer input(client->received);
  link::HelloAnswer answer;
  ASSERT_EQ(CutAnswer(input, answer), HelloCut::kWhole);
  EXPECT_EQ(answer.why(), static_cast<uint32_t>(WhyNotRdma::kRejected));
}

}  // namespace
}  // namespace farcall
