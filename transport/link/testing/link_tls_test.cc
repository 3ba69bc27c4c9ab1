// SPDX-License-Identifier: Apache-2.0
//
// Links whose lifeline is TLS: hello, frames and upgrades run inside it.

#include <chrono>
#include <memory>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "transport/brpc/hello.h"
#include "transport/brpc/hello_testing.h"
#include "transport/link/testing/link_cases.h"
#include "transport/link/testing/link_harness.h"
#include "transport/link/testing/raw_peer.h"
#include "transport/testing/conformance/conformance_run.h"
#include "transport/testing/seeds_here.h"
#include "transport/testing/sim/sim_harness.h"
#include "transport/tls/testing/tls_harness.h"

namespace farcall {
namespace {

const uint64_t kSeeds = SeedsHere(2);

class LinkOverTls : public testing::TestWithParam<ConformanceCase> {
 protected:
  void Hold(void (*change)(LinkVariant&)) {
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      LinkVariant variant = LinkVariant::Of(seed);
      change(variant);
      LinkHarness harness(std::make_unique<TlsHarness>(std::make_unique<SimHarness>(seed)),
                          variant);
      const absl::Status status = RunCheck(GetParam().check, harness);
      ASSERT_TRUE(status.ok()) << status.message();
    }
  }
};

TEST_P(LinkOverTls, Upgrading) {
  Hold([](LinkVariant&) {});
}
TEST_P(LinkOverTls, NeverUpgraded) {
  Hold([](LinkVariant& variant) { variant.fabric.no_capacity = 1; });
}
TEST_P(LinkOverTls, Plain) {
  Hold([](LinkVariant& variant) { variant.server.use_rdma = false; });
}

// A slow wire that is full in one direction, where RDMA is not to be had: PINGs are answered all
// the time, behind bytes that wait encrypted.
struct SlowWire {
  Duration delay;
  size_t window;  // bytes on their way
  size_t piece;   // bytes of a write
  Duration pause;
};

class LinkOverSlowTls : public testing::TestWithParam<SlowWire> {};

TEST_P(LinkOverSlowTls, AnswersBehindAFullLifelineAreNoBreach) {
  const SlowWire wire = GetParam();
  LinkVariant variant;
  variant.fabric.no_capacity = 1;
  LinkHarness harness(
      std::make_unique<TlsHarness>(std::make_unique<SimHarness>(
          1,
          [&wire](SimOptions& network) {
            network = {.min_delay = wire.delay, .max_delay = wire.delay, .window = wire.window};
          })),
      variant);
  ConformanceRun run(harness);
  const auto duo = run.Connect();
  ASSERT_NE(duo, nullptr);
  // Writes `piece` bytes each `pause`, for a while.
  const auto write = [&harness](TestPeer& peer, Timer& timer, size_t piece, Duration pause,
                                TimePoint begin, TimePoint end) {
    EventLoop& loop = *peer.loop();
    timer.fire = [&peer, &timer, &loop, piece, pause, end] {
      peer.Send(piece);
      if (loop.now() < end) loop.SetTimer(timer, loop.now() + pause);
    };
    harness.Run(loop, [&] { loop.SetTimer(timer, begin); });
  };
  const TimePoint now = duo->client.loop()->clock().Now();
  const TimePoint end = now + std::chrono::milliseconds(1500);
  Timer upstream(nullptr);
  Timer downstream(nullptr);
  write(duo->client, upstream, 10, std::chrono::milliseconds(5), now, end);
  // When PINGs go round.
  write(duo->server, downstream, wire.piece, wire.pause, now + std::chrono::milliseconds(500), end);
  run.Until("all bytes arrive", [&] {
    return !upstream.pending() && !downstream.pending() &&
           duo->server.seen().received == duo->client.sent() &&
           duo->client.seen().received == duo->server.sent();
  });
  EXPECT_FALSE(duo->server.over()) << duo->server.seen().why;
  EXPECT_TRUE(run.violations().empty()) << absl::StrJoin(run.violations(), "\n");
}

INSTANTIATE_TEST_SUITE_P(
    Wires, LinkOverSlowTls,
    testing::Values(
        SlowWire{std::chrono::milliseconds(100), 64 << 10, 16, std::chrono::microseconds(20)},
        SlowWire{std::chrono::milliseconds(50), 32 << 10, 64, std::chrono::microseconds(20)},
        SlowWire{std::chrono::milliseconds(10), 16 << 10, 64, std::chrono::microseconds(20)},
        SlowWire{std::chrono::milliseconds(100), 64 << 10, 64, std::chrono::microseconds(50)}));

INSTANTIATE_TEST_SUITE_P(Seeds, LinkOverTls, testing::ValuesIn(LinkCases(nullptr)),
                         ConformanceCaseName);

// brpc's RDMA has no TLS: what is encrypted stays so.
TEST(LinkBrpcTlsTest, AHelloInsideTlsIsRefusedAndTcpGoesOn) {
  for (const BrpcVersion version : {BrpcVersion::kSecond, BrpcVersion::kThird}) {
    LinkHarness harness(std::make_unique<TlsHarness>(std::make_unique<SimHarness>(1)),
                        LinkVariant::Of(1));
    RawServer server(harness, harness.transport(), [](RawPeer&) {});
    const auto client = RawPeer::Connect(harness, harness.tcp(), server.address());
    const std::string refusal = EncodeBrpcRefusal(version, BrpcRefusal::kFellBack);
    client->Send(EncodeBrpcHello(version, BrpcFixtureEnd()));
    ASSERT_TRUE(harness.Until([&] { return client->received.size() >= refusal.size(); }));
    EXPECT_EQ(client->received, refusal);
    EXPECT_EQ(harness.fabric().brpc.size(), 0u) << "no queue pair is made";
    client->Send(EncodeBrpcDecision(false) + "PRPC");
    ASSERT_TRUE(harness.Until([&] { return server.peers.front()->received == "PRPC"; }));
    const ConnectionInfo info = server.peers.front()->info();
    EXPECT_EQ(Name(info.why_not_rdma), Name(WhyNotRdma::kTls));
    EXPECT_EQ(info.why_detail, "a brpc client's queue pair carries no TLS");
    EXPECT_FALSE(info.tls.empty());
  }
}

TEST(LinkBrpcTlsTest, AHelloWithoutTlsEndsTheConnection) {
  auto sim = std::make_unique<SimHarness>(1);
  Transport& tcp = sim->transport();
  LinkHarness harness(std::make_unique<TlsHarness>(std::move(sim)), LinkVariant::Of(1));
  RawServer server(harness, harness.transport(), [](RawPeer&) {});
  const auto client = RawPeer::Connect(harness, tcp, server.address());
  client->Send(EncodeBrpcHello(BrpcVersion::kSecond, BrpcFixtureEnd()));
  EXPECT_TRUE(harness.Until([&] { return client->closed.has_value(); }));
  EXPECT_NE(client->received.substr(0, 4), "RDMA");
  EXPECT_EQ(harness.fabric().brpc.size(), 0u);
}

TEST(LinkBrpcTlsTest, AClientWithTlsSaysNoHelloOfBrpc) {
  LinkHarness harness(std::make_unique<TlsHarness>(std::make_unique<SimHarness>(1)),
                      LinkVariant::Of(1));
  std::vector<std::string> openings;
  RawServer server(harness, harness.tcp(), [&](RawPeer& peer) {
    peer.on_read = [&](RawPeer& self) {
      openings.push_back(self.received.substr(0, 4));
      if (self.received != "PRPC") self.Close(CloseMode::kAbort);
    };
  });
  ConnectOptions options;
  options.peers_may_be_brpc = true;
  options.tls = TestTls::Usual().client;
  std::unique_ptr<RawPeer> client;
  EventLoop& loop = harness.loops().at(0);
  harness.Run(loop, [&] {
    harness.transport().Connect(loop, server.address(), options,
                                [&](absl::StatusOr<std::unique_ptr<Connection>> connection) {
                                  ASSERT_TRUE(connection.ok()) << connection.status();
                                  client = std::make_unique<RawPeer>(harness, loop,
                                                                     *std::move(connection));
                                });
  });
  ASSERT_TRUE(harness.Until([&] { return client != nullptr; }));
  client->Send("PRPC");
  ASSERT_TRUE(harness.Until([&] { return !openings.empty() && openings.back() == "PRPC"; }));
  ASSERT_EQ(openings.size(), 2u);
  EXPECT_EQ(openings.front(), "\xFA\x43\x4C\x48") << "its own";
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ConnectionConformance);

}  // namespace
}  // namespace farcall
