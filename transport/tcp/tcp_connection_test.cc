// SPDX-License-Identifier: Apache-2.0
//
// What is peculiar to sockets; the rules of every Connection are in
// tcp_conformance_test.cc.

#include "transport/tcp/tcp_connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "transport/tcp/tcp_connection_testing.h"

namespace farcall {
namespace {

TEST_F(TcpConnectionTest, AMessageIsOneRead) {
  const UniqueFd other = Adopt(SocketPair::Tcp());
  const uint64_t before = peer_.info().reads;
  for (uint64_t i = 1; i <= 20; ++i) {
    Feed(other.get(), 1000);
    ASSERT_TRUE(Until([&] { return peer_.seen().received == fed_; }));
    harness_.Settle();
    EXPECT_EQ(peer_.info().reads, before + i);
  }
  ExpectNoViolations();
}

TEST_F(TcpConnectionTest, ATurnsOutputIsOneWrite) {
  const UniqueFd other = Adopt(SocketPair::Tcp());
  harness_.Run(loop_, [&] {
    for (int i = 0; i < 50; ++i) peer_.Send(100);
    EXPECT_EQ(peer_.info().writes, 0u);
    EXPECT_EQ(peer_.backlog(), 5000u);
  });
  EXPECT_EQ(peer_.info().writes, 1u);
  EXPECT_EQ(peer_.backlog(), 0u);
  EXPECT_EQ(ReceiveAll(other.get()).size(), 5000u);
}

TEST_F(TcpConnectionTest, ALongInputIsReadInTurns) {
  SocketPair pair = SocketPair::Tcp();
  SetBuffer(pair.mine.get(), SO_RCVBUF, 8 << 20);
  const UniqueFd other = Adopt(std::move(pair));
  const uint64_t total = uint64_t{8} << 20;
  const TestPattern pattern(kReceived);
  uint64_t received = 0;
  while (received < total) {
    while (fed_ < total) {
      const size_t sent = SendSome(other.get(), pattern.At(fed_, total - fed_));
      fed_ += sent;
      if (sent == 0) break;
    }
    loop_.RunOnce();
    const uint64_t now = peer_.seen().received;
    // Once for the event, once for the timer that goes on with it.
    EXPECT_LE(now - received, uint64_t{2} << 20);
    received = now;
  }
  ExpectNoViolations();
}

TEST_F(TcpConnectionTest, ShortWritesKeepTheOrder) {
  SocketPair pair = SocketPair::Tcp();
  SetBuffer(pair.mine.get(), SO_SNDBUF, 16384);
  const UniqueFd other = Adopt(std::move(pair));
  peer_.Send(size_t{1} << 20);
  EXPECT_GT(peer_.backlog(), 0u);
  const TestPattern pattern(kSent);
  uint64_t received = 0;
  EXPECT_TRUE(Until([&] {
    const std::string bytes = ReceiveAll(other.get());
    EXPECT_EQ(pattern.Matching(received, bytes), bytes.size());
    received += bytes.size();
    return received == uint64_t{1} << 20;
  }));
  EXPECT_GT(peer_.info().writes, 10u);
}

TEST_F(TcpConnectionTest, WhatThePeersKernelHasNotTakenIsUnacknowledged) {
  SocketPair pair = SocketPair::Tcp();
  SetBuffer(pair.mine.get(), SO_SNDBUF, 128 << 10);
  SetBuffer(pair.other.get(), SO_RCVBUF, 128 << 10);
  const UniqueFd other = Adopt(std::move(pair));
  const auto unacknowledged = [this] {
    size_t bytes = 0;
    harness_.Run(loop_, [&] { bytes = connection_->unacknowledged(); });
    return bytes;
  };
  EXPECT_EQ(unacknowledged(), 0u);
  // More than both buffers hold, while the peer does not read.
  const size_t total = size_t{8} << 20;
  peer_.Send(total);
  harness_.Settle();
  EXPECT_GT(peer_.backlog(), 0u);
  EXPECT_GT(unacknowledged(), 0u);
  size_t received = 0;
  EXPECT_TRUE(Until([&] {
    received += ReceiveAll(other.get()).size();
    return received == total && unacknowledged() == 0;
  }));
  EXPECT_EQ(peer_.backlog(), 0u);
}

TEST_F(TcpConnectionTest, AnEmptyPoolStopsReadingAndNothingElse) {
  const UniqueFd other = Adopt(SocketPair::Tcp());
  std::vector<BlockRef> hog = HogSmallBlocks();
  const uint64_t tried_before = harness_.pool().stats().exhausted;
  const TimePoint start = loop_.clock().Now();
  Feed(other.get(), 100);
  for (int i = 0; i < 1000; ++i) loop_.RunOnce();
  EXPECT_EQ(peer_.seen().received, 0u);
  EXPECT_EQ(peer_.seen().closes, 0);
  // Tried again by a timer of 1 ms and more, not in every turn.
  const auto passed =
      std::chrono::duration_cast<std::chrono::milliseconds>(loop_.clock().Now() - start).count();
  EXPECT_LE(harness_.pool().stats().exhausted - tried_before, static_cast<uint64_t>(passed) + 2);
  // Writing goes on.
  peer_.Write(Buffer(absl::string_view("hello")));
  EXPECT_TRUE(Until([&] { return ReceiveAll(other.get()) == "hello"; }));
  hog.clear();
  EXPECT_TRUE(Until([&] { return peer_.seen().received == 100; }));
  ExpectNoViolations();
}

size_t TakePartAndResume(TestPeer& peer, Buffer& input) {
  peer.Pause();
  peer.Resume();
  peer.Take(input, std::min<size_t>(input.size(), 40));
  return 0;
}

// What it left in the input, which no new bytes bring.
TEST_F(TcpConnectionTest, WhoPausesAndResumesInsideOnReadIsCalledAgain) {
  peer_.take = TakePartAndResume;
  const UniqueFd other = Adopt(SocketPair::Tcp());
  Feed(other.get(), 100);
  EXPECT_TRUE(Until([&] { return peer_.seen().received == 100; }));
  harness_.Settle();
  EXPECT_EQ(peer_.seen().reads, 3) << "not for nothing";
}

TEST_F(TcpConnectionTest, WhoPausesAndResumesInsideOnReadGetsAllBeforeTheEnd) {
  peer_.take = TakePartAndResume;
  SocketPair pair = SocketPair::Tcp();
  Feed(pair.other.get(), 100);
  ASSERT_EQ(::shutdown(pair.other.get(), SHUT_WR), 0);
  const UniqueFd other = Adopt(std::move(pair));
  EXPECT_TRUE(Until([&] { return peer_.seen().closes == 1; }));
  EXPECT_EQ(peer_.seen().received, 100u);
}

// Its blocks may be what the others wait for.
TEST_F(TcpConnectionTest, PartOfAMessageIsGivenUpWhenNoMemoryComes) {
  peer_.take = [](TestPeer&, Buffer&) { return size_t{0}; };
  const UniqueFd other = Adopt(SocketPair::Tcp());
  Feed(other.get(), BlockPool::kSmall);
  ASSERT_TRUE(Until([&] { return peer_.seen().reads > 0; }));
  harness_.Settle();
  const std::vector<BlockRef> hog = HogSmallBlocks();
  const TimePoint start = loop_.clock().Now();
  Feed(other.get(), 2 * BlockPool::kSmall);
  EXPECT_TRUE(Until([&] { return peer_.seen().closes == 1; }));
  EXPECT_GE(loop_.clock().Now() - start, std::chrono::seconds(1));
  EXPECT_EQ(peer_.seen().why.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(absl::StrContains(peer_.seen().why.message(), "127.0.0.1:"));
  ExpectNoViolations();
}

TEST_F(TcpConnectionTest, BothMarksAreObeyed) {
  SocketPair pair = SocketPair::Tcp();
  SetBuffer(pair.mine.get(), SO_SNDBUF, 16384);
  ConnectionOptions options;
  options.high_water = 100'000;
  options.low_water = 0;
  const UniqueFd other = Adopt(std::move(pair), options);
  peer_.Send(size_t{3} << 20);
  size_t received = 0;
  EXPECT_TRUE(Until([&] {
    received += ReceiveAll(other.get()).size();
    EXPECT_TRUE(peer_.backlog() == 0 || peer_.seen().drained == 0);
    return peer_.seen().drained == 1;
  }));
  EXPECT_EQ(peer_.backlog(), 0u);
}

}  // namespace
}  // namespace farcall
