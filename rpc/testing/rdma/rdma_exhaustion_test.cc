// SPDX-License-Identifier: Apache-2.0
//
// Each thing that RDMA needs, used up under load: calls go on over TCP or over what there is,
// the reason is shown, and RDMA is used again when there is more.

#include <errno.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/rdma/many_channels.h"
#include "rpc/testing/rdma/rdma_pair.h"
#include "rpc/testing/rdma/rdma_peers.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "transport/base/sanitizer.h"

namespace farcall {
namespace {

// ThreadSanitizer looks for races, which are there with less, too; each byte is slow there.
constexpr size_t kLarge = (kThreadSanitizer ? size_t{100} : size_t{300}) << 10;

// All succeed, whatever carries them.
void Load(const Channels& channels, RdmaPair& pair, int rounds = 5, size_t bytes = kLarge) {
  for (int i = 0; i < rounds; ++i) {
    const Carried carried = CallAll(channels, bytes);
    ASSERT_EQ(carried.failed, 0u) << carried.first_error << "\n" << pair.Logs();
  }
}

TEST(RdmaExhaustionTest, WithoutQueuePairsConnectionsStayOnTcpUntilThereAreSome) {
  constexpr size_t kPairs = 4;
  RdmaPair pair(SoonAgain(), [](FakeFabricOptions& fabric, RdmaRigOptions&) {
    fabric.devices[1].max_qp = kPairs;  // the server's
  });
  const RdmaPeers peers(pair);
  Channels channels = OpenMany(peers, 10);
  ASSERT_TRUE(ComeToRdma(channels, kPairs)) << pair.Logs();
  Load(channels, pair);
  const Carried full = CallAll(channels);
  EXPECT_LE(full.rdma, kPairs);
  EXPECT_TRUE(absl::StrContains(pair.Logs(), "rdma_create_qp: ")) << pair.Logs();
  EraseThoseOnRdma(channels);
  ASSERT_GE(channels.size(), kPairs);
  EXPECT_TRUE(ComeToRdma(channels, kPairs)) << pair.Logs();
}

// 64 entries are for receives, four for each connection: all others are taken and given back as
// messages come and go. The fabric tells if the queue overflows.
TEST(RdmaExhaustionTest, ASmallCompletionQueueIsSharedByAllThatSend) {
  RdmaPair pair(SoonAgain(), [](FakeFabricOptions&, RdmaRigOptions& rig) {
    rig.rdma.receive_slots = rig.rdma.shared_receives = 64;
    rig.rdma.max_shared_receives = 16;
    rig.rdma.completion_queue_depth = 256;
  });
  const RdmaPeers peers(pair);
  const Channels channels = OpenMany(peers, 24);
  ASSERT_TRUE(ComeToRdma(channels, 24)) << pair.Logs();
  Load(channels, pair, 8);
  EXPECT_TRUE(ComeToRdma(channels, 24)) << pair.Logs();
}

TEST(RdmaExhaustionTest, WhoFindsNoCompletionEntriesIsRefusedUntilThereAreSome) {
  RdmaPair pair(SoonAgain(), [](FakeFabricOptions&, RdmaRigOptions& rig) {
    rig.rdma.receive_slots = 16;
    rig.rdma.shared_receives = 128;
    rig.rdma.max_shared_receives = 16;
    rig.rdma.send_slots = 16;
    rig.rdma.completion_queue_depth = 256;
  });
  const RdmaPeers peers(pair);
  // 128 entries are left for sends: 32 connections a loop, as there are receives for.
  Channels channels = OpenMany(peers, 80);
  ASSERT_TRUE(ComeToRdma(channels, 64)) << pair.Logs();
  Load(channels, pair, 3, 20'000);
  EXPECT_LE(CallAll(channels).rdma, 64u);
}

TEST(RdmaExhaustionTest, WhereNoMoreMayBeLockedBlocksAreCopiedAndReceivesDoNotGrow) {
  RdmaPair pair(SoonAgain(), [](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
    WithDefaultReceives(fabric, rig);
    rig.rdma.shared_receives = 64;
    rig.pool.region_bytes = size_t{2} << 20;
    // What the first connection takes, and little more.
    for (FakeDeviceOptions& device : fabric.devices) device.memlock = size_t{24} << 20;
  });
  const RdmaPeers peers(pair);
  const Channels channels = OpenMany(peers, 60);
  ASSERT_TRUE(ComeToRdma(channels, 16)) << pair.Logs();
  Load(channels, pair, 2);
  const Carried carried = CallAll(channels);
  EXPECT_EQ(carried.failed, 0u) << carried.first_error;
  EXPECT_GE(carried.rdma, 16u);
  EXPECT_LE(pair.fabric().counters("fakeA").registered_bytes, size_t{24} << 20);
}

TEST(RdmaExhaustionTest, APoolAtItsLimitFailsCallsAndStallsNothing) {
  RdmaPair pair(SoonAgain(), [](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
    WithDefaultReceives(fabric, rig);
    rig.rdma.receive_slots = 16;
    rig.rdma.shared_receives = 32;
    rig.pool.region_bytes = size_t{2} << 20;
    rig.pool.max_bytes = size_t{16} << 20;
  });
  const RdmaPeers peers(pair);
  const Channels channels = OpenMany(peers, 8);
  ASSERT_TRUE(ComeToRdma(channels, 8)) << pair.Logs();
  // More than the pool has, at both ends.
  for (int i = 0; i < 2; ++i) {
    std::vector<std::unique_ptr<TestCall>> calls;
    for (const auto& channel : channels) {
      calls.push_back(std::make_unique<TestCall>("load"));
      calls.back()->controller.set_timeout_ms(500);
      calls.back()->controller.request_attachment().Append(std::string(size_t{3} << 20, 'x'));
      calls.back()->Start(*channel);
    }
    for (const auto& call : calls) {
      EXPECT_TRUE(call->Wait()) << pair.Logs();
    }
  }
  // What failed left nothing behind that others wait for.
  EXPECT_TRUE(Eventually([&] { return CallAll(channels, 10'000).failed == 0; })) << pair.Logs();
  EXPECT_TRUE(ComeToRdma(channels, 8)) << pair.Logs();
}

// Descriptors: what needs one is tried again, and the reason is shown meanwhile.
class RdmaDescriptorTest : public testing::TestWithParam<const char*> {};

TEST_P(RdmaDescriptorTest, WithoutDescriptorsConnectionsStayOnTcpUntilThereAreSome) {
  RdmaPair pair;
  pair.faults().FailEvery(GetParam(), EMFILE);
  const RdmaPeers peers(pair);
  {
    const Channels channels = OpenMany(peers, 4);
    for (int i = 0; i < 3; ++i) {
      const Carried carried = CallAll(channels, 1000);
      EXPECT_EQ(carried.failed, 0u) << carried.first_error;
      EXPECT_EQ(carried.rdma, 0u);
    }
    ASSERT_TRUE(Eventually([&] { return absl::StrContains(pair.Logs(), "open files"); }))
        << pair.Logs();
  }
  pair.faults().FailEvery(GetParam(), 0);
  // What failed to load is asked again after a pause, which is long where it took long; connections
  // that were made before stay plain. So new ones, until they have it.
  EXPECT_TRUE(Eventually(
      [&] {
        const Channels channels = OpenMany(peers, 4);
        return Eventually([&] { return CallAll(channels).rdma == 4; }, std::chrono::seconds(1));
      },
      6 * kTestTimeout))
      << pair.Logs();
}

INSTANTIATE_TEST_SUITE_P(Calls, RdmaDescriptorTest,
                         testing::Values("ibv_create_comp_channel", "rdma_create_event_channel"));

TEST(RdmaExhaustionTest, ADeclinedUpgradeOfTheSameConnectionIsTriedAgain) {
  RdmaPair pair;
  pair.faults().FailEvery("ibv_create_comp_channel", EMFILE);
  const RdmaPeers peers(pair);
  const Channels channels = OpenMany(peers, 4);
  ASSERT_EQ(CallAll(channels).rdma, 0u);
  ASSERT_TRUE(Eventually([&] { return absl::StrContains(pair.Logs(), "open files"); }));
  pair.faults().FailEvery("ibv_create_comp_channel", 0);
  EXPECT_TRUE(ComeToRdma(channels, 4)) << pair.Logs();
}

// A stall: the server's device takes no receives any more, so the client has no credits.
TEST(RdmaExhaustionTest, AStallIsSeenLoggedAndCountedUntilItIsOver) {
  UpgradeOptions options = SoonAgain();
  // Nothing heals by itself.
  options.stream.progress_timeout = std::chrono::seconds(60);
  options.stream.peer_timeout = std::chrono::seconds(60);
  options.stream.ping_interval = std::chrono::milliseconds(10);
  options.stream.stall_patience = std::chrono::milliseconds(50);
  for (const bool cut : {false, true}) {
    RdmaPair pair(options);
    const RdmaPeers peers(pair);
    ASSERT_TRUE(peers.ComeToRdma()) << pair.Logs();
    if (cut) {
      // Neither bytes nor counts of credits arrive.
      pair.faults().CutPath("fakeA", "fakeB", FakeFaults::Cut::kSilent);
    } else {
      pair.faults().FailEvery("ibv_post_srq_recv", ENOMEM);
    }
    TestCall call("stalls");
    call.controller.set_timeout_ms(60'000);
    call.controller.request_attachment().Append(std::string(size_t{20} << 20, 'x'));
    call.Start(peers.channel());
    ASSERT_TRUE(Eventually([&] { return pair.client().counts().stalled == 1; })) << pair.Logs();
    EXPECT_GE(pair.client().counts().stalls, 1u);
    EXPECT_TRUE(Eventually([&] {
      return absl::StrContains(pair.client().Log(), "takes none of them (over RDMA)");
    })) << pair.Logs();
    if (cut) {
      pair.faults().HealPath("fakeA", "fakeB");
    } else {
      pair.faults().FailEvery("ibv_post_srq_recv", 0);
    }
    EXPECT_TRUE(call.Wait()) << pair.Logs();
    EXPECT_TRUE(call.Echoed()) << call.Error();
    EXPECT_TRUE(Eventually([&] { return pair.client().counts().stalled == 0; })) << pair.Logs();
  }
}

TEST(RdmaExhaustionTest, LoadIsNoStall) {
  UpgradeOptions options = SoonAgain();
  options.stream.ping_interval = std::chrono::milliseconds(10);
  RdmaPair pair(options);
  const RdmaPeers peers(pair);
  const Channels channels = OpenMany(peers, 4);
  ASSERT_TRUE(ComeToRdma(channels, 4)) << pair.Logs();
  Load(channels, pair, 10, size_t{2} << 20);
  EXPECT_EQ(pair.client().counts().stalls + pair.server().counts().stalls, 0u) << pair.Logs();
}

}  // namespace
}  // namespace farcall
