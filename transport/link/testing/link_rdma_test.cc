// SPDX-License-Identifier: Apache-2.0
//
// Links over real TCP and the real RDMA code, on a FakeFabric: queue pairs that break under
// load, devices that go, wires that are cut, and where bytes land.

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "transport/link/testing/link_rdma_testing.h"
#include "transport/testing/conformance/conformance_run.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

template <typename Harness>
void BreakUnderLoad(FakeMode mode, const FakeRdma::Change& change = nullptr) {
  Harness harness(LinkRdmaOptions(/*require=*/false), mode, change);
  ConformanceRun run(harness);
  auto duo = run.Connect();
  ASSERT_NE(duo, nullptr);
  const auto on_rdma = [&] { return OnRdma(duo->client) && OnRdma(duo->server); };
  const auto breakages = [&] {
    return harness.record().counts().fallbacks[static_cast<size_t>(WhyNotRdma::kBroken)];
  };
  // What is broken may be a pair that is dying already, so more are than is noticed.
  constexpr uint64_t kBreakages = 20;
  for (int i = 0; i < 4000 && breakages() < kBreakages; ++i) {
    duo->client.Send(run.random.Size(size_t{256} << 10));
    duo->server.Send(run.random.Size(size_t{256} << 10));
    harness.Settle();
    if (i % 8 == 7) {
      ASSERT_TRUE(harness.Until(on_rdma));
      const std::vector<uint32_t> pairs = LinkQueuePairs(harness.fabric());
      if (pairs.empty()) continue;
      harness.fabric().faults().BreakQueuePair(pairs[run.random.Below(pairs.size())]);
    }
  }
  EXPECT_GE(breakages(), kBreakages);
  ASSERT_TRUE(harness.Until([&] { return AllArrived(*duo); }));
  // What broke last may not have been noticed yet.
  ASSERT_TRUE(harness.Until([&] { return on_rdma() && !duo->client.info().device.empty(); }));
  EXPECT_GE(harness.record().counts().upgrades, kBreakages);
  duo->client.Send(1000);
  duo->client.Close(absl::CancelledError("bye"), CloseMode::kFlush);
  EXPECT_TRUE(harness.Until([&] { return duo->client.over() && duo->server.over(); }));
  EXPECT_EQ(duo->server.seen().received, duo->client.sent());
  duo.reset();
  EXPECT_TRUE(run.violations().empty()) << absl::StrJoin(run.violations(), "\n");
}

TEST(LinkRdmaTest, QueuePairsBreakUnderLoad) { BreakUnderLoad<SteppedLink>(FakeMode::kStepped); }
TEST(LinkRdmaTest, QueuePairsBreakUnderLoadOnThreads) {
  BreakUnderLoad<DrivenLink>(FakeMode::kImmediate);
}

TEST(LinkRdmaTest, QueuePairsBreakUnderLoadWithReferences) {
  BreakUnderLoad<SteppedLink>(FakeMode::kStepped, LinkWithReferences);
}
TEST(LinkRdmaTest, QueuePairsBreakUnderLoadWithReferencesOnThreads) {
  BreakUnderLoad<DrivenLink>(FakeMode::kImmediate, LinkWithReferences);
}

TEST(LinkRdmaTest, BytesLandWhereTheHandlerOfTheStreamSays) {
  SteppedLink harness(LinkRdmaOptions(/*require=*/true), FakeMode::kStepped, LinkWithReferences);
  ConformanceRun run(harness);
  auto duo = run.Connect();
  ASSERT_NE(duo, nullptr);
  ASSERT_TRUE(harness.Until([&] { return OnRdma(duo->client) && OnRdma(duo->server); }));
  // More than a frame of the link, behind a header.
  constexpr uint32_t kBytes = 700'000;
  constexpr size_t kHeader = 10;
  Buffer place = LargeBuffer(harness, kBytes, '?');
  const std::byte* const begin = place.slices().front().block->data;
  Buffer came;
  size_t landed = 0;
  duo->server.take = [&](TestPeer&, Buffer& input) {
    came.Append(input.CutFront(input.size()));
    return size_t{0};
  };
  duo->server.place_for = [&](TestPeer&, size_t ahead, size_t bytes) {
    if (came.size() < kHeader) return Buffer();
    const size_t at = came.size() + ahead - kHeader;
    EXPECT_LE(at + bytes, kBytes) << "of nothing but what was sent";
    Buffer rest = place.Share();
    rest.RemoveFront(at);
    landed += bytes;
    return rest.CutFront(bytes);
  };
  Buffer message(absl::string_view("0123456789"));
  Buffer body = LargeBuffer(harness, kBytes, 'b');
  std::byte* const bytes = body.slices().front().block->data;
  for (uint32_t i = 0; i < kBytes; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 256);
  message.Append(std::move(body));
  const std::string expected = message.ToString();
  duo->client.Write(std::move(message));
  ASSERT_TRUE(harness.Until([&] { return came.size() == expected.size(); }));
  EXPECT_TRUE(came.ToString() == expected);
  EXPECT_GE(landed, kBytes - (size_t{4} << 10));
  uint32_t there = 0;
  for (const Buffer::Slice& slice : came.slices()) {
    if (slice.block->data == begin) there += slice.length;
  }
  EXPECT_EQ(there, landed) << "they are handed over where they are";
  came.Clear();
  place.Clear();
  duo.reset();
  EXPECT_TRUE(run.violations().empty()) << absl::StrJoin(run.violations(), "\n");
}

TEST(LinkRdmaTest, CallsGoOnWhenTheDevicesAreRemoved) {
  SteppedLink harness(LinkRdmaOptions(/*require=*/false), FakeMode::kStepped, nullptr);
  ConformanceRun run(harness);
  auto duo = run.Connect();
  ASSERT_NE(duo, nullptr);
  ASSERT_TRUE(harness.Until([&] { return OnRdma(duo->client) && OnRdma(duo->server); }));
  for (const char* device : {"fakeA", "fakeB"}) {
    duo->client.Send(500000);
    duo->server.Send(500000);
    harness.fabric().faults().RemoveDevice(device, /*flush=*/false);
    ASSERT_TRUE(harness.Until([&] { return AllArrived(*duo); }));
  }
  ASSERT_TRUE(harness.Until([&] { return !OnRdma(duo->client) && !OnRdma(duo->server); }));
  EXPECT_NE(duo->client.info().why_not_rdma, WhyNotRdma::kInUse);
  duo.reset();
  EXPECT_TRUE(run.violations().empty()) << absl::StrJoin(run.violations(), "\n");
}

// The reason gets from where it failed to the connection, the log and the events.
TEST(LinkRdmaTest, TheDetailOfAFailedAttemptIsTheReasonsOwnAndShownOnce) {
  struct Case {
    const char* call;  // that fails
    int error;         // an errno
    WhyNotRdma why;
    const char* detail;  // behind the address
  };
  for (const Case& one : {
           Case{"rdma_resolve_addr", ENOMEM, WhyNotRdma::kUnreachable,
                "rdma_resolve_addr: Cannot allocate memory"},
           Case{"rdma_resolve_route", ENOMEM, WhyNotRdma::kUnreachable,
                "rdma_resolve_route: Cannot allocate memory"},
           Case{"rdma_connect", ENOMEM, WhyNotRdma::kDeviceRefused,
                "rdma_connect: Cannot allocate memory"},
           // With iWARP it connects by TCP before it returns.
           Case{"rdma_connect", ECONNREFUSED, WhyNotRdma::kRejected,
                "rdma_connect: Connection refused"},
           Case{"rdma_connect", ENETUNREACH, WhyNotRdma::kUnreachable,
                "rdma_connect: Network is unreachable"},
       }) {
    SteppedLink harness(LinkRdmaOptions(/*require=*/false), FakeMode::kStepped, nullptr);
    harness.fabric().faults().FailEvery(one.call, one.error);
    ConformanceRun run(harness);
    auto duo = run.Connect();
    ASSERT_NE(duo, nullptr);
    ASSERT_TRUE(
        harness.Until([&] { return duo->client.info().why_not_rdma != WhyNotRdma::kPending; }));
    const ConnectionInfo info = duo->client.info();
    EXPECT_EQ(Name(info.why_not_rdma), Name(one.why));
    const std::vector<std::string> parts =
        absl::StrSplit(info.why_detail, absl::MaxSplits(": ", 1));
    ASSERT_EQ(parts.size(), 2u) << info.why_detail;
    EXPECT_TRUE(Address::Parse(parts[0]).ok()) << info.why_detail;
    EXPECT_EQ(parts[1], one.detail);
    duo.reset();
    EXPECT_TRUE(run.violations().empty()) << absl::StrJoin(run.violations(), "\n");
  }
}

// Behind a rejected set-up each other port of the offer is tried, with a token that is void.
TEST(LinkRdmaTest, ManyPortsThatAreTriedInVainLeaveTheConnectionAsItWas) {
  const auto many = [](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
    LinkSetUpOverTcp(fabric, rig);
    for (int i = 10; i < 24; ++i) {
      fabric.devices.push_back(
          {.name = absl::StrCat("fake", i), .addresses = {absl::StrCat("10.9.0.", i)}});
    }
  };
  UpgradeOptions options = LinkRdmaOptions(/*require=*/false);
  options.upgrade.dial = std::chrono::minutes(10);  // which the ports share
  SteppedLink harness(options, FakeMode::kStepped, many);
  // The client's to INIT, the server's to INIT, the server's to RTR.
  harness.fabric().faults().FailCall("ibv_modify_qp", 3, EIO);
  ConformanceRun run(harness);
  auto duo = run.Connect();
  ASSERT_NE(duo, nullptr);
  const auto rejected = [&] {
    return harness.record().counts().fallbacks[static_cast<size_t>(WhyNotRdma::kRejected)];
  };
  ASSERT_TRUE(harness.Until([&] { return rejected() > 0; }));
  EXPECT_TRUE(absl::StrContains(duo->client.info().why_detail, "ibv_modify_qp to RTR"))
      << duo->client.info().why_detail;
  duo->client.Send(1000);
  ASSERT_TRUE(harness.Until([&] { return AllArrived(*duo); }));
  EXPECT_TRUE(harness.Until([&] { return OnRdma(duo->client) && OnRdma(duo->server); }));
  EXPECT_FALSE(duo->client.over());
  duo.reset();
  EXPECT_TRUE(run.violations().empty()) << absl::StrJoin(run.violations(), "\n");
}

// Else they would keep others from RDMA, without ever having sent a request.
TEST(LinkRdmaTest, UntrustedPeersLeaveReceivesForOthers) {
  const auto few = [](FakeFabricOptions&, RdmaRigOptions& rig) {
    rig.rdma.shared_receives = rig.rdma.max_shared_receives = 128;
    rig.rdma.addresses = {"10.9.0.2"};
    rig.loops = 1;
  };
  constexpr int kUntrusted = 128 / 4 / 4;  // each has 4
  SteppedLink harness(LinkRdmaOptions(/*require=*/false), FakeMode::kStepped, few);
  ConformanceRun run(harness);
  std::vector<std::unique_ptr<Duo>> duos;
  const auto upgraded = [&] {
    return std::count_if(duos.begin(), duos.end(), [](const auto& duo) {
      return OnRdma(duo->client) && OnRdma(duo->server);
    });
  };
  const auto refused = [&] {
    return harness.record().counts().fallbacks[static_cast<size_t>(WhyNotRdma::kRejected)];
  };
  for (int i = 0; i < kUntrusted + 2; ++i) {
    duos.push_back(run.Connect());
    ASSERT_NE(duos.back(), nullptr);
  }
  ASSERT_TRUE(harness.Until([&] { return upgraded() == kUntrusted && refused() >= 4; }));
  for (const auto& duo : duos) duo->server.TrustPeer();
  ASSERT_TRUE(harness.Until([&] { return upgraded() == kUntrusted + 2; }));
  duos.clear();
  EXPECT_TRUE(run.violations().empty()) << absl::StrJoin(run.violations(), "\n");
}

// No error comes; only the progress timer notices.
TEST(LinkRdmaTest, CallsGoOnWhenTheWireIsCutSilently) {
  UpgradeOptions options = LinkRdmaOptions(/*require=*/false);
  options.stream.ping_interval = std::chrono::milliseconds(10);
  options.stream.progress_timeout = std::chrono::milliseconds(30);
  SteppedLink harness(options, FakeMode::kStepped, nullptr);
  ConformanceRun run(harness);
  auto duo = run.Connect();
  ASSERT_NE(duo, nullptr);
  ASSERT_TRUE(harness.Until([&] { return OnRdma(duo->client) && OnRdma(duo->server); }));
  for (const char* a : {"fakeA", "fakeB"}) {
    for (const char* b : {"fakeA", "fakeB"}) {
      harness.fabric().faults().CutPath(a, b, FakeFaults::Cut::kSilent);
    }
  }
  duo->client.Send(500000);
  duo->server.Send(500000);
  ASSERT_TRUE(harness.Until([&] { return AllArrived(*duo); }));
  EXPECT_GE(harness.record().counts().fallbacks[static_cast<size_t>(WhyNotRdma::kBroken)], 1u);
  duo.reset();
  EXPECT_TRUE(run.violations().empty()) << absl::StrJoin(run.violations(), "\n");
}

}  // namespace
}  // namespace farcall
