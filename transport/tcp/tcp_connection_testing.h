// SPDX-License-Identifier: Apache-2.0
//
// For tests of a connection over one end of a pair of sockets, whose other end is the test's.

#ifndef FARCALL_TRANSPORT_TCP_TCP_CONNECTION_TESTING_H_
#define FARCALL_TRANSPORT_TCP_TCP_CONNECTION_TESTING_H_

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "transport/sockaddr.h"
#include "transport/tcp/tcp_connection.h"
#include "transport/tcp/testing/socket_pair.h"
#include "transport/tcp/testing/tcp_harness.h"
#include "transport/testing/conformance/stepped_harness.h"
#include "transport/testing/conformance/test_peer.h"
#include "transport/testing/test_pattern.h"

namespace farcall {

class TcpConnectionTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kSent = 1;
  static constexpr uint64_t kReceived = 2;

  TcpConnectionTest()
      : harness_(Address::Ipv4({127, 0, 0, 1}, 0)),
        peer_(harness_, "connection", kSent, kReceived),
        loop_(harness_.loops().at(0)) {}

  // peer_ gets a connection over one end of `pair`; returns the other end.
  UniqueFd Adopt(SocketPair pair, const ConnectionOptions& options = {}) {
    harness_.Run(loop_, [&] {
      mine_ = pair.mine.get();
      Address local = LocalAddress(mine_);
      Address other = PeerAddress(mine_);
      auto socket = WatchedSocket::Create(loop_, std::move(pair.mine));
      ASSERT_TRUE(socket.ok());
      auto made = std::make_unique<TcpConnection>(*std::move(socket), harness_.pool(), options,
                                                  local, other);
      connection_ = made.get();
      peer_.Adopt(loop_, std::move(made));
    });
    harness_.Settle();
    return std::move(pair.other);
  }
  // The next bytes of what the connection expects.
  void Feed(int fd, size_t bytes) {
    const TestPattern pattern(kReceived);
    while (bytes > 0) {
      const size_t sent = SendSome(fd, pattern.At(fed_, bytes));
      fed_ += sent;
      bytes -= sent;
      if (sent == 0) loop_.RunOnce();
    }
  }
  std::vector<BlockRef> HogSmallBlocks() {
    std::vector<BlockRef> hog;
    while (BlockRef block = harness_.pool().Allocate(BlockPool::kSmall)) {
      hog.push_back(std::move(block));
    }
    return hog;
  }
  bool Until(absl::FunctionRef<bool()> done) { return harness_.Until(done); }
  void SetBuffer(int fd, int option, int bytes) {
    ASSERT_EQ(::setsockopt(fd, SOL_SOCKET, option, &bytes, sizeof(bytes)), 0);
  }
  void ExpectNoViolations() { EXPECT_EQ(peer_.violations(), std::vector<std::string>()); }

  TcpHarness<SteppedHarness> harness_;
  TestPeer peer_;
  EventLoop& loop_;
  int mine_ = -1;
  TcpConnection* connection_ = nullptr;  // until peer_ closes it
  uint64_t fed_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TCP_TCP_CONNECTION_TESTING_H_
