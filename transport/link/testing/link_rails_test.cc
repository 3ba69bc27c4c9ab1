// SPDX-License-Identifier: Apache-2.0
//
// Links with several rails over real TCP and the real RDMA code, on a FakeFabric; and peers that
// know of one only.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "transport/link/hello/hello.h"
#include "transport/link/stream/frames/frame.h"
#include "transport/link/testing/link_harness.h"
#include "transport/link/testing/link_rdma_testing.h"
#include "transport/link/testing/raw_peer.h"
#include "transport/testing/conformance/conformance_run.h"
#include "transport/testing/sim/sim_harness.h"

namespace farcall {
namespace {

constexpr uint32_t kRails = 3;

UpgradeOptions Options() {
  UpgradeOptions options = LinkRdmaOptions(/*require=*/false, kRails);
  options.upgrade.first_rest = options.upgrade.longest_rest = std::chrono::milliseconds(1);
  return options;
}

void OverTcp(FakeFabricOptions& fabric, RdmaRigOptions& rig) {
  LinkSetUpOverTcp(fabric, rig);
  rig.rdma.devices = {"fakeA", "fakeB"};  // the third one is cut off
}

bool AllRails(Duo& duo) {
  return duo.client.info().rails.size() == kRails && duo.server.info().rails.size() == kRails;
}

uint32_t LastGeneration(TestPeer& peer) {
  uint32_t last = 0;
  for (const RailInfo& rail : peer.info().rails) last = std::max(last, rail.generation);
  return last;
}

void BulkGoesOverAllAndOverSeveralDevices(const FakeRdma::Change& change) {
  SteppedLink harness(Options(), FakeMode::kStepped, change);
  ConformanceRun run(harness);
  auto duo = run.Connect();
  ASSERT_NE(duo, nullptr);
  ASSERT_TRUE(harness.Until([&] { return AllRails(*duo); }));
  duo->client.Send(size_t{8} << 20);
  ASSERT_TRUE(harness.Until([&] { return AllArrived(*duo); }));
  const ConnectionInfo info = duo->client.info();
  std::set<std::string> devices;
  double shares = 0;
  for (const RailInfo& rail : info.rails) {
    EXPECT_GT(rail.share, 0) << rail.generation;
    EXPECT_GT(rail.port, 0u);
    shares += rail.share;
  }
  EXPECT_NEAR(shares, 1.0, 0.001);
  for (const RailInfo& rail : duo->server.info().rails) devices.insert(rail.device);
  EXPECT_EQ(devices.size(), 2u) << "the server has two";
  for (const std::string& device : devices) {
    EXPECT_EQ(harness.fabric().counters(device).reads > 0, change != nullptr) << device;
  }
  EXPECT_EQ(info.rdma.fallbacks, 0u);
  duo.reset();
  EXPECT_TRUE(run.violations().empty()) << absl::StrJoin(run.violations(), "\n");
}

TEST(LinkRailsTest, BulkGoesOverAllAndOverSeveralDevices) {
  BulkGoesOverAllAndOverSeveralDevices(nullptr);
}
TEST(LinkRailsTest, ReadsGoOverAllAndOverSeveralDevices) {
  BulkGoesOverAllAndOverSeveralDevices(LinkWithReferences);
}
TEST(LinkRailsTest, SoDoTheyWhereRailsAreSetUpOverTcp) {
  BulkGoesOverAllAndOverSeveralDevices(OverTcp);
}

// Any of them, now and then two at once, and they come back by themselves.
template <typename Harness>
void RailsBreakUnderLoad(FakeMode mode, const FakeRdma::Change& change = nullptr) {
  Harness harness(Options(), mode, change);
  ConformanceRun run(harness);
  auto duo = run.Connect();
  ASSERT_NE(duo, nullptr);
  ASSERT_TRUE(harness.Until([&] { return AllRails(*duo); }));
  constexpr uint32_t kBreakages = 20;
  for (int i = 0; i < 4000 && LastGeneration(duo->client) < kRails + kBreakages; ++i) {
    duo->client.Send(run.random.Size(size_t{512} << 10));
    duo->server.Send(run.random.Size(size_t{512} << 10));
    harness.Settle();
    if (i % 4 != 3) continue;
    ASSERT_TRUE(harness.Until([&] { return !duo->client.info().rails.empty(); }));
    for (uint64_t left = 1 + run.random.Below(2); left > 0; --left) {
      const std::vector<uint32_t> pairs = LinkQueuePairs(harness.fabric());
      if (pairs.empty()) continue;
      harness.fabric().faults().BreakQueuePair(pairs[run.random.Below(pairs.size())]);
    }
  }
  ASSERT_TRUE(harness.Until([&] { return AllArrived(*duo); }));
  ASSERT_TRUE(harness.Until([&] { return AllRails(*duo); }));
  EXPECT_GE(LastGeneration(duo->client), kRails + kBreakages);
  duo->client.Send(1000);
  duo->client.Close(absl::CancelledError("bye"), CloseMode::kFlush);
  EXPECT_TRUE(harness.Until([&] { return duo->client.over() && duo->server.over(); }));
  EXPECT_EQ(duo->server.seen().received, duo->client.sent());
  duo.reset();
  EXPECT_TRUE(run.violations().empty()) << absl::StrJoin(run.violations(), "\n");
}

TEST(LinkRailsTest, RailsBreakUnderLoad) { RailsBreakUnderLoad<SteppedLink>(FakeMode::kStepped); }
TEST(LinkRailsTest, RailsBreakUnderLoadWithReferences) {
  RailsBreakUnderLoad<SteppedLink>(FakeMode::kStepped, LinkWithReferences);
}
TEST(LinkRailsTest, RailsBreakUnderLoadWhereTheyAreSetUpOverTcp) {
  RailsBreakUnderLoad<SteppedLink>(FakeMode::kStepped, OverTcp);
}
TEST(LinkRailsTest, RailsBreakUnderLoadOnThreads) {
  RailsBreakUnderLoad<DrivenLink>(FakeMode::kImmediate, LinkWithReferences);
}

// Not one more, though more are agreed on: an adapter that goes leaves the others, and is used
// again when it is back.
TEST(LinkRailsTest, ApartThereIsOneForEachAdapterThatIsThere) {
  UpgradeOptions options = Options();
  options.stream.rails = kMaxRails;
  options.rails_apart = true;
  const auto two = [](FakeFabricOptions&, RdmaRigOptions& rig) {
    rig.rdma.devices = {"fakeA", "fakeB"};
  };
  SteppedLink harness(options, FakeMode::kStepped, two);
  ConformanceRun run(harness);
  auto duo = run.Connect();
  ASSERT_NE(duo, nullptr);
  // Both ends are on one host, where the kernel chooses the client's.
  const auto uses = [&](const std::set<std::string>& devices) {
    const std::vector<RailInfo> rails = duo->server.info().rails;
    std::set<std::string> used;
    for (const RailInfo& rail : rails) used.insert(rail.device);
    return rails.size() == devices.size() && used == devices &&
           duo->client.info().rails.size() == devices.size();
  };
  ASSERT_TRUE(harness.Until([&] { return uses({"fakeA", "fakeB"}); }));
  for (const std::string gone : {"fakeA", "fakeB"}) {
    const std::string left = gone == "fakeA" ? "fakeB" : "fakeA";
    duo->client.Send(500000);
    duo->server.Send(500000);
    harness.fabric().faults().RemoveDevice(gone, /*flush=*/false);
    ASSERT_TRUE(harness.Until([&] { return uses({left}); })) << gone;
    ASSERT_TRUE(harness.Until([&] { return AllArrived(*duo); })) << gone;
    ASSERT_TRUE(harness.Until([&] { return harness.fabric().faults().AddDevice(gone); }));
    ASSERT_TRUE(harness.Until([&] { return uses({"fakeA", "fakeB"}); })) << gone;
  }
  duo.reset();
  EXPECT_TRUE(run.violations().empty()) << absl::StrJoin(run.violations(), "\n");
}

// No error comes; what was on it goes out again on the others, before it is given up.
TEST(LinkRailsTest, CallsGoOnWhenOneWireIsCutSilently) {
  UpgradeOptions options = Options();
  options.stream.ping_interval = std::chrono::milliseconds(10);
  options.stream.progress_timeout = std::chrono::milliseconds(40);
  SteppedLink harness(options, FakeMode::kStepped, nullptr);
  ConformanceRun run(harness);
  auto duo = run.Connect();
  ASSERT_NE(duo, nullptr);
  ASSERT_TRUE(harness.Until([&] { return AllRails(*duo); }));
  harness.fabric().faults().CutPath("fakeA", "fakeA", FakeFaults::Cut::kSilent);
  harness.fabric().faults().CutPath("fakeA", "fakeB", FakeFaults::Cut::kSilent);
  harness.fabric().faults().CutPath("fakeB", "fakeA", FakeFaults::Cut::kSilent);
  for (int i = 0; i < 4; ++i) {
    duo->client.Send(500000);
    duo->server.Send(500000);
    ASSERT_TRUE(harness.Until([&] { return AllArrived(*duo); }));
  }
  duo.reset();
  EXPECT_TRUE(run.violations().empty()) << absl::StrJoin(run.violations(), "\n");
}

// It is asked for again and again, and counts for nothing.
TEST(LinkRailsTest, ThatNoPortIsLeftForAFurtherRailIsNoTrouble) {
  LinkVariant variant = LinkVariant::Of(1);
  variant.client.stream.rails = variant.server.stream.rails = kMaxRails;
  variant.client.rails_apart = true;
  variant.fabric.port_pairs = 2;
  LinkHarness harness(std::make_unique<SimHarness>(1), variant);
  ConformanceRun run(harness);
  auto duo = run.Connect();
  ASSERT_NE(duo, nullptr);
  ASSERT_TRUE(harness.Until([&] { return harness.client_rdma().connects().size() == 6; }));
  EXPECT_EQ(duo->client.info().rails.size(), 2u);
  for (const PastEvent& event : harness.events()) {
    EXPECT_EQ(event.text.find("a rail less"), std::string::npos) << event.text;
  }
  duo->client.Send(100000);
  ASSERT_TRUE(harness.Until([&] { return AllArrived(*duo); }));
  duo.reset();
  EXPECT_TRUE(run.violations().empty()) << absl::StrJoin(run.violations(), "\n");
}

// It skips the field of the hello, and answers as ever.
TEST(LinkRailsTest, AServerOfTheFirstReleaseGetsOneRail) {
  LinkVariant variant = LinkVariant::Of(1);
  variant.client.stream.rails = kRails;
  LinkHarness harness(std::make_unique<SimHarness>(1), variant);
  ConformanceRun run(harness);
  link::Hello hello;
  RawServer server(harness, harness.tcp(), [&](RawPeer& peer) {
    peer.on_read = [&](RawPeer& self) {
      Buffer input(self.received);
      if (hello.version() != 0 || CutHello(input, hello) != HelloCut::kWhole) return;
      self.received = input.ToString();
      link::HelloAnswer answer;
      answer.set_version(kLinkVersion);
      answer.set_window(1 << 16);
      self.Send(EncodeAnswer(answer));
    };
  });
  std::unique_ptr<RawPeer> client;
  EventLoop& loop = harness.loops().at(0);
  ASSERT_TRUE(run.TryConnect(server.address(), ConnectOptions(), loop,
                             [&](auto connection) {
                               client =
                                   std::make_unique<RawPeer>(harness, loop, std::move(connection));
                             })
                  .ok());
  EXPECT_EQ(hello.rails(), kRails);
  // RAIL_ACK breaks a rule, as it does there.
  const std::string rail_ack = LinkFrameWriter(harness.pool())
                                   .Encode({.type = LinkFrameType::kRailAck, .number = 1})
                                   .ToString();
  server.peers.back()->Send(rail_ack);
  ASSERT_TRUE(harness.Until([&] { return client->closed.has_value(); }));
  EXPECT_NE(client->closed->message().find("several rails are not agreed on"), std::string::npos);
  client.reset();
}

TEST(LinkRailsTest, AClientOfTheFirstReleaseGetsOneRail) {
  LinkVariant variant = LinkVariant::Of(1);
  variant.server.stream.rails = kRails;
  LinkHarness harness(std::make_unique<SimHarness>(1), variant);
  ConformanceRun run(harness);
  auto duo = run.Connect();
  ASSERT_NE(duo, nullptr);
  ASSERT_TRUE(harness.Until([&] {
    return duo->client.info().transport == TransportKind::kSimulated ||
           duo->client.info().transport == TransportKind::kRdma;
  }));
  duo->client.Send(100000);
  ASSERT_TRUE(harness.Until([&] { return AllArrived(*duo); }));
  EXPECT_TRUE(duo->client.info().rails.empty());
  EXPECT_TRUE(duo->server.info().rails.empty());
  duo.reset();
  EXPECT_TRUE(run.violations().empty()) << absl::StrJoin(run.violations(), "\n");
}

}  // namespace
}  // namespace farcall
