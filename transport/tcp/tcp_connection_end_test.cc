// SPDX-License-Identifier: Apache-2.0
//
// How a connection over a socket ends, and what its ends hear of it.

#include <sys/socket.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/sockaddr.h"
#include "transport/tcp/tcp_connection_testing.h"

namespace farcall {
namespace {

TEST_F(TcpConnectionTest, OfAnEndedConnectionNothingIsUnacknowledged) {
  const UniqueFd other = Adopt(SocketPair::Unix());
  peer_.Send(1000);
  harness_.Run(loop_, [&] {
    EXPECT_GT(connection_->unacknowledged(), 0u) << "it was not read";
    peer_.Close(absl::CancelledError("bye"), CloseMode::kAbort);
    EXPECT_EQ(connection_->unacknowledged(), 0u);
  });
}

TEST_F(TcpConnectionTest, AFlushIsFollowedByTheEndAndByNoReset) {
  const UniqueFd other = Adopt(SocketPair::Tcp());
  peer_.Pause();
  // Closing a socket with input that was not read would reset the connection.
  Feed(other.get(), size_t{50} << 10);
  peer_.Send(size_t{50} << 10);
  peer_.Close(absl::CancelledError("bye"), CloseMode::kFlush);
  std::string bytes;
  EXPECT_TRUE(Until([&] {
    bytes += ReceiveAll(other.get());
    return bytes.size() == size_t{50} << 10;
  }));
  harness_.Settle();
  EXPECT_TRUE(AtEnd(other.get()));
  EXPECT_EQ(peer_.seen().closes, 0);
  ::shutdown(other.get(), SHUT_WR);
  EXPECT_TRUE(Until([&] { return peer_.seen().closes == 1; }));
  ExpectNoViolations();
}

TEST_F(TcpConnectionTest, AResetNamesThePeerAndTheCause) {
  UniqueFd other = Adopt(SocketPair::Tcp());
  const std::string address = LocalAddress(other.get()).ToString();
  const linger at_once{1, 0};
  ASSERT_EQ(::setsockopt(other.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)), 0);
  other.Reset();
  EXPECT_TRUE(Until([&] { return peer_.seen().closes == 1; }));
  EXPECT_EQ(peer_.seen().why.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(peer_.seen().why.message(),
            absl::StrCat("connection to ", address, " lost: Connection reset by peer"));
}

TEST_F(TcpConnectionTest, WritingToADeadPeerRaisesNoSignal) {
  UniqueFd other = Adopt(SocketPair::Unix());
  peer_.Pause();
  other.Reset();
  for (int i = 0; i < 5 && peer_.seen().closes == 0; ++i) {
    peer_.Send(100);
    harness_.Settle();
  }
  EXPECT_EQ(peer_.seen().closes, 1);
  EXPECT_EQ(peer_.seen().why.code(), absl::StatusCode::kUnavailable);
  // A socketpair has no names.
  EXPECT_TRUE(absl::StrContains(peer_.seen().why.message(), "closed by peer (a client of"));
}

TEST_F(TcpConnectionTest, WhatADeadPeerHadSentIsDeliveredAlthoughAWriteFails) {
  UniqueFd other = Adopt(SocketPair::Unix());
  Feed(other.get(), 1000);
  other.Reset();
  // The write fails before the loop has looked at the socket.
  peer_.Send(100);
  EXPECT_EQ(peer_.info().writes, 1u);
  EXPECT_EQ(peer_.seen().received, 0u);
  EXPECT_TRUE(Until([&] { return peer_.seen().closes == 1; }));
  EXPECT_EQ(peer_.seen().received, 1000u);
  ExpectNoViolations();
}

// The peer ends its direction and reads on: the connection is over all the same, after
// the input.
TEST_F(TcpConnectionTest, AHalfClosedPeerIsClosed) {
  const UniqueFd other = Adopt(SocketPair::Tcp());
  Feed(other.get(), 3000);
  ::shutdown(other.get(), SHUT_WR);
  EXPECT_TRUE(Until([&] { return peer_.seen().closes == 1; }));
  EXPECT_EQ(peer_.seen().received, 3000u);
  EXPECT_TRUE(absl::StartsWith(peer_.seen().why.message(), "closed by peer 127.0.0.1:"));
  ExpectNoViolations();
}

}  // namespace
}  // namespace farcall
