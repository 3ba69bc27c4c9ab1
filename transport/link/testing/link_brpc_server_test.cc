// SPDX-License-Identifier: Apache-2.0
//
// A server that a brpc client asks for RDMA. The client is done by hand (BrpcVerbsEnd).

#include <algorithm>
#include <chrono>
#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "transport/link/testing/link_brpc_testing.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

std::string Pattern(size_t bytes) {
  std::string made(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) made[i] = static_cast<char>(i * 31 + i / 251);
  return made;
}

// Of both ends.
int QueuePairs(BrpcClientRig& rig) {
  int pairs = 0;
  for (const std::string& what : rig.harness.fabric().Leaks()) {
    pairs += absl::StartsWith(what, "queue pair ") ? 1 : 0;
  }
  return pairs;
}

TEST(LinkBrpcServerTest, WhoIsAcceptedIsServedOverRdma) {
  for (const BrpcVersion version : {BrpcVersion::kSecond, BrpcVersion::kThird}) {
    BrpcClientRig rig;
    ASSERT_TRUE(rig.Open(version));
    EXPECT_EQ(rig.peer.block_bytes, 65536u);
    EXPECT_EQ(rig.peer.receive_slots, 64u);
    rig.end->Send("PRPC", 0);
    rig.end->Send("-request", 0);
    ASSERT_TRUE(rig.Until([&] { return rig.accepted().received == "PRPC-request"; }));
    const std::string answer = Pattern(100'000);
    rig.accepted().Send(answer);
    ASSERT_TRUE(rig.Until([&] { return rig.end->received.size() == answer.size(); }));
    EXPECT_TRUE(rig.end->received == answer);
    EXPECT_LE(rig.end->largest, 8160u);
    EXPECT_EQ(rig.end->reported, 2u) << "with the first message back";
    EXPECT_EQ(rig.tcp->received, "") << "TCP carries nothing";
    const ConnectionInfo info = rig.accepted().info();
    EXPECT_EQ(info.wire, "brpc");
    EXPECT_EQ(info.set_up, "brpc");
    EXPECT_FALSE(info.linked);
    EXPECT_FALSE(info.rdma.fetches);
    EXPECT_EQ(info.why_not_rdma, WhyNotRdma::kInUse);
    EXPECT_EQ(info.bytes_read, 12u);
    EXPECT_EQ(info.bytes_written, answer.size());
    EXPECT_EQ(info.local.ToString(), rig.server.address().ToString());
    EXPECT_TRUE(rig.end->errors.empty());
  }
}

TEST(LinkBrpcServerTest, DataThatOvertakeTheDecisionAreHeld) {
  BrpcClientRig rig;
  ASSERT_TRUE(rig.Join());
  rig.end->Send("early", 0);
  ASSERT_TRUE(rig.Until([&] { return rig.end->sends == 1; }));
  rig.accepted().Send("answer");
  rig.harness.Settle();
  rig.end->Poll();
  EXPECT_EQ(rig.accepted().received, "");
  EXPECT_EQ(rig.end->messages, 0u) << "nothing is sent before the decision";
  rig.tcp->Send(EncodeBrpcDecision(true));
  ASSERT_TRUE(rig.Until([&] { return rig.end->received == "answer"; }));
  EXPECT_EQ(rig.accepted().received, "early");
}

TEST(LinkBrpcServerTest, AClientThatDecidesForTcpIsServedThere) {
  BrpcClientRig rig;
  ASSERT_TRUE(rig.Join());
  rig.tcp->Send(EncodeBrpcDecision(false) + "PRPC");
  ASSERT_TRUE(rig.Until([&] { return rig.accepted().received == "PRPC"; }));
  rig.accepted().Send("answer");
  ASSERT_TRUE(rig.Until([&] { return rig.tcp->received == "answer"; }));
  EXPECT_EQ(rig.accepted().info().transport, TransportKind::kTcp);
  EXPECT_EQ(rig.accepted().info().why_detail, "the brpc client decided for TCP");
  EXPECT_EQ(rig.accepted().info().bytes_read, 4u) << "the hello is not of the stream";
  EXPECT_TRUE(rig.Until([&] { return QueuePairs(rig) == 1; })) << "the client's own is left";
}

TEST(LinkBrpcServerTest, NoMoreIsSentThanThePeerHasReceivesFor) {
  BrpcClientRig rig({.receive_slots = 16});
  ASSERT_TRUE(rig.Open());
  const std::string much = Pattern(500'000);
  rig.accepted().Send(much);
  ASSERT_TRUE(rig.Until([&] { return rig.end->messages == 13; }));
  rig.harness.Settle();
  rig.end->Poll();
  EXPECT_EQ(rig.end->messages, 13u);
  EXPECT_EQ(rig.accepted().info().rdma.credits, 0u);
  EXPECT_EQ(rig.accepted().info().rdma.credit_waits, 1u);
  rig.end->Send("", 1);
  ASSERT_TRUE(rig.Until([&] { return rig.end->messages == 14; }));
  ASSERT_TRUE(rig.Until([&] {
    if (rig.end->untold >= 7) rig.end->Send("", rig.end->untold);
    return rig.end->received.size() == much.size();
  }));
  EXPECT_TRUE(rig.end->received == much);
}

TEST(LinkBrpcServerTest, AClientThatOnlySendsGetsBareReports) {
  BrpcClientRig rig({.send_slots = 16});
  ASSERT_TRUE(rig.Open());
  uint64_t credits = 13, sent = 0;
  std::string all;
  ASSERT_TRUE(rig.Until([&] {
    for (; credits + rig.end->reported > sent && sent < 500; ++sent) {
      all += static_cast<char>('a' + sent % 26);
      EXPECT_EQ(rig.end->Send(all.substr(all.size() - 1), 0), 0);
    }
    return rig.accepted().received.size() == 500;
  }));
  EXPECT_EQ(rig.accepted().received, all);
  EXPECT_GE(rig.end->bare, 500u / 13);
  EXPECT_EQ(rig.end->messages, 0u);
}

TEST(LinkBrpcServerTest, WhoDoesNotReadReportsNothing) {
  BrpcClientRig rig({.send_slots = 16});
  ASSERT_TRUE(rig.Open());
  rig.accepted().SetReading(false);
  for (int i = 0; i < 13; ++i) ASSERT_EQ(rig.end->Send("x", 0), 0);
  ASSERT_TRUE(rig.Until([&] { return rig.end->sends == 13; }));
  rig.harness.Settle();
  rig.end->Poll();
  EXPECT_EQ(rig.end->reported, 0u);
  EXPECT_EQ(rig.accepted().received, "");
  rig.accepted().SetReading(true);
  ASSERT_TRUE(rig.Until([&] { return rig.end->reported == 13; }));
  EXPECT_EQ(rig.end->bare, 1u);
  EXPECT_EQ(rig.accepted().received.size(), 13u);
}

TEST(LinkBrpcServerTest, TheEndOfTcpIsTheEndBehindWhatHadCome) {
  BrpcClientRig rig;
  ASSERT_TRUE(rig.Open());
  for (int i = 0; i < 40; ++i) rig.end->Send(std::string(100, 'a'), 0);
  ASSERT_TRUE(rig.harness.Until([&] {
    rig.end->Poll();
    return rig.end->sends == 40;
  }));
  rig.tcp->Close(CloseMode::kFlush);
  ASSERT_TRUE(rig.Until([&] { return rig.accepted().closed.has_value(); }));
  EXPECT_EQ(rig.accepted().received.size(), 4000u);
  EXPECT_NE(rig.accepted().closed->message().find("closed by peer"), std::string::npos)
      << *rig.accepted().closed;
}

TEST(LinkBrpcServerTest, AnOrderlyEndComesBehindTheLastByte) {
  BrpcClientRig rig;
  ASSERT_TRUE(rig.Open());
  const std::string answer = Pattern(200'000);
  rig.accepted().Send(answer);
  rig.accepted().Close(CloseMode::kFlush);
  ASSERT_TRUE(rig.Until([&] { return rig.tcp->closed.has_value(); }));
  rig.end->Poll();
  EXPECT_TRUE(rig.end->received == answer);
  EXPECT_TRUE(rig.Until([&] { return rig.accepted().closed.has_value(); }));
}

// All of RDMA is over, and the client never ends its side of TCP.
TEST(LinkBrpcServerTest, AnOrderlyEndThatWaitsForTheClientIsAborted) {
  ListenOptions listen;
  listen.connection.close_timeout = std::chrono::hours(1);
  BrpcClientRig rig({}, PreferBrpc(), nullptr, listen);
  ASSERT_TRUE(rig.Open());
  rig.tcp->SetReading(false);
  rig.accepted().Send("last");
  rig.accepted().Close(CloseMode::kFlush, "in order");
  ASSERT_TRUE(rig.Until([&] { return rig.end->received == "last"; }));
  rig.harness.Settle();
  EXPECT_FALSE(rig.accepted().closed.has_value());
  rig.accepted().Close(CloseMode::kAbort, "at once");
  ASSERT_TRUE(rig.Until([&] { return rig.accepted().closed.has_value(); }));
  EXPECT_EQ(*rig.accepted().closed, absl::CancelledError("at once"));
}

TEST(LinkBrpcServerTest, AQueuePairThatBreaksEndsTheConnection) {
  BrpcClientRig rig;
  ASSERT_TRUE(rig.Open());
  rig.end->Break();
  rig.accepted().Send("into nowhere");
  ASSERT_TRUE(rig.Until([&] { return rig.accepted().closed && rig.tcp->closed; }));
  EXPECT_TRUE(absl::IsUnavailable(*rig.accepted().closed)) << *rig.accepted().closed;
}

TEST(LinkBrpcServerTest, ClientsThatAskAtOnceAreAllServed) {
  BrpcClientRig rig;
  constexpr int kMore = 24;
  std::vector<std::unique_ptr<BrpcVerbsEnd>> ends;
  std::vector<std::unique_ptr<RawPeer>> peers;
  ASSERT_TRUE(rig.Open());
  for (int i = 0; i < kMore; ++i) {
    ends.push_back(std::make_unique<BrpcVerbsEnd>(
        rig.harness.fabric(), BrpcVerbsEnd::Options{.send_slots = 16, .receive_slots = 16}));
    ASSERT_TRUE(ends.back()->Make());
    peers.push_back(RawPeer::Connect(rig.harness, rig.harness.tcp(), rig.server.address()));
    peers.back()->Send(EncodeBrpcHello(BrpcVersion::kThird, ends.back()->own()));
  }
  ASSERT_TRUE(rig.Until([&] {
    return std::all_of(peers.begin(), peers.end(),
                       [](const auto& peer) { return peer->received.size() > 31; });
  }));
  for (int i = 0; i < kMore; ++i) {
    Buffer input(peers[i]->received);
    BrpcHello answer;
    ASSERT_EQ(*CutBrpcHello(input, answer), 0u);
    ASSERT_EQ(ends[i]->Join(answer.end), 0);
    peers[i]->Send(EncodeBrpcDecision(true));
    ends[i]->Send(std::string(1, static_cast<char>('a' + i)), 0);
  }
  ASSERT_TRUE(rig.Until([&] {
    std::string all;
    for (const auto& peer : rig.server.peers) all += peer->received;
    std::sort(all.begin(), all.end());
    return all == "abcdefghijklmnopqrstuvwx";
  }));
  peers.clear();
  rig.server.peers.clear();
  rig.harness.Settle();
}

}  // namespace
}  // namespace farcall
