// SPDX-License-Identifier: Apache-2.0
//
// What both ends' sockets are set to.

#include "transport/tcp/tcp_transport.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>

#include <memory>

#include "gtest/gtest.h"
#include "transport/tcp/testing/open_sockets.h"
#include "transport/tcp/testing/tcp_harness.h"
#include "transport/testing/conformance/conformance_run.h"
#include "transport/testing/conformance/stepped_harness.h"
#include "transport/testing/temp_dir.h"

namespace farcall {
namespace {

constexpr int kExpedited = 46 << 2;  // DSCP EF, RFC 3246

class TcpTransportTest : public testing::Test {
 protected:
  void Connect(const Address& anywhere, int traffic_class) {
    harness_ = std::make_unique<TcpHarness<SteppedHarness>>(anywhere);
    run_ = std::make_unique<ConformanceRun>(*harness_);
    ConformanceRun::Setup setup;
    setup.client.traffic_class = traffic_class;
    setup.server.traffic_class = traffic_class;
    duo_ = run_->Connect(setup);
    ASSERT_NE(duo_, nullptr);
    const ConnectionInfo info = duo_->client.info();
    client_ = FindSocket(info.local, info.peer);
    server_ = FindSocket(info.peer, info.local);
    ASSERT_NE(client_, -1);
    ASSERT_NE(server_, -1);
  }
  void ExpectBoth(int level, int option, int value) {
    EXPECT_EQ(SocketOption(client_, level, option), value);
    EXPECT_EQ(SocketOption(server_, level, option), value);
  }

  std::unique_ptr<TcpHarness<SteppedHarness>> harness_;
  std::unique_ptr<ConformanceRun> run_;
  std::unique_ptr<Duo> duo_;
  int client_ = -1;
  int server_ = -1;
};

TEST_F(TcpTransportTest, TrafficClassIsSetOnIpv4) {
  Connect(Address::Ipv4({127, 0, 0, 1}, 0), kExpedited);
  ExpectBoth(IPPROTO_IP, IP_TOS, kExpedited);
}

TEST_F(TcpTransportTest, TrafficClassIsSetOnIpv6) {
  Connect(*Address::Parse("[::1]:0"), kExpedited);
  ExpectBoth(IPPROTO_IPV6, IPV6_TCLASS, kExpedited);
  ExpectBoth(IPPROTO_IP, IP_TOS, kExpedited);
}

TEST_F(TcpTransportTest, WithoutTrafficClassNothingIsSet) {
  Connect(Address::Ipv4({127, 0, 0, 1}, 0), 0);
  ExpectBoth(IPPROTO_IP, IP_TOS, 0);
}

TEST_F(TcpTransportTest, SmallWritesAreNotHeldBack) {
  Connect(Address::Ipv4({127, 0, 0, 1}, 0), 0);
  ExpectBoth(IPPROTO_TCP, TCP_NODELAY, 1);
}

TEST_F(TcpTransportTest, ASilentHostEndsAConnection) {
  Connect(*Address::Parse("[::1]:0"), 0);
  ExpectBoth(SOL_SOCKET, SO_KEEPALIVE, 1);
  ExpectBoth(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  ExpectBoth(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  ExpectBoth(IPPROTO_TCP, TCP_USER_TIMEOUT, 120'000);
}

TEST_F(TcpTransportTest, SocketsNeverBlockAndAreNotInherited) {
  Connect(Address::Ipv4({127, 0, 0, 1}, 0), 0);
  for (const int fd : {client_, server_}) {
    EXPECT_NE(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
  }
}

TEST_F(TcpTransportTest, ATrafficClassOnUnixSocketsIsNothing) {
  const TempDir dir;
  TcpHarness<SteppedHarness> harness(*Address::Unix(dir.path() + "/s"));
  ConformanceRun run(harness);
  ConformanceRun::Setup setup;
  setup.client.traffic_class = kExpedited;
  setup.server.traffic_class = kExpedited;
  EXPECT_NE(run.Connect(setup), nullptr);
}

TEST_F(TcpTransportTest, BlocksAreOfTheLoopsNode) {
  harness_ = std::make_unique<TcpHarness<SteppedHarness>>(Address::Ipv4({127, 0, 0, 1}, 0));
  for (size_t i = 0; i < harness_->loops().size(); ++i) harness_->loops().at(i).SetMemoryNode(1);
  run_ = std::make_unique<ConformanceRun>(*harness_);
  const BlockOwner* client = nullptr;
  const BlockOwner* server = nullptr;
  const auto note = [](const BlockOwner** owner) {
    return [owner](TestPeer& self, Buffer& input) {
      *owner = input.slices().front().block->owner;
      self.Take(input, input.size());
      return size_t{0};
    };
  };
  ConformanceRun::Setup setup;
  setup.prepare = [&](Duo& duo) {
    duo.client.take = note(&client);
    duo.server.take = note(&server);
  };
  duo_ = run_->Connect(setup);
  ASSERT_NE(duo_, nullptr);
  duo_->client.Send(10);
  duo_->server.Send(10);
  ASSERT_TRUE(
      run_->Until("both have read", [&] { return client != nullptr && server != nullptr; }));
  EXPECT_EQ(client, harness_->pool().OnNode(1).Allocate(1)->owner);
  EXPECT_EQ(server, client);
}

}  // namespace
}  // namespace farcall
