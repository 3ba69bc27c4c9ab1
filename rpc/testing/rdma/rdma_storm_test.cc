// SPDX-License-Identifier: Apache-2.0
//
// Many connections at once: no call fails, whatever becomes of RDMA, and nothing is left.

#include <cstddef>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/process_resources.h"
#include "rpc/testing/rdma/many_channels.h"
#include "rpc/testing/rdma/rdma_pair.h"
#include "rpc/testing/rdma/rdma_peers.h"
#include "transport/base/sanitizer.h"

namespace farcall {
namespace {

TEST(RdmaStormTest, ManyConnectionsAtOnceAreAllCarriedAndComeToRdma) {
  const size_t count = kSanitized ? 120 : 500;
  RdmaPair pair(SoonAgain(), WithDefaultReceives);
  const RdmaPeers peers(pair);
  const Channels channels = OpenMany(peers, count);
  const Carried first = CallAll(channels);
  EXPECT_EQ(first.failed, 0u) << first.first_error;
  EXPECT_TRUE(ComeToRdma(channels, count)) << pair.Logs();
  // The pool has grown by what receives take, and not much more.
  for (RdmaEnd* const end : {&pair.client(), &pair.server()}) {
    const BlockPoolStats pool = end->runtime().parts().pool->stats();
    EXPECT_LE(pool.used_bytes, size_t{250} << 20);
    EXPECT_LE(pool.region_bytes, size_t{320} << 20);
  }
}

TEST(RdmaStormTest, ConnectionsThatComeAndGoLeaveNothing) {
  constexpr size_t kAtOnce = 20;
  const size_t rounds = kSanitized ? 10 : 50;
  RdmaPair pair(SoonAgain(), WithDefaultReceives);
  const RdmaPeers peers(pair, WithoutHandlerThreads(WithRdma(ServerOptions())));
  size_t descriptors = 0;
  size_t threads = 0;
  size_t spare_threads = 0;
  size_t blocks = 0;
  const auto used = [&] { return pair.client().used_bytes() + pair.server().used_bytes(); };
  const auto spares = [&] { return pair.client().spare_threads() + pair.server().spare_threads(); };
  const size_t loops = pair.client().loops() + pair.server().loops();
  for (size_t i = 0; i < rounds; ++i) {
    {
      const Channels channels = OpenMany(peers, kAtOnce);
      // Each second round ends while they are set up.
      ASSERT_TRUE(i % 2 == 1 || ComeToRdma(channels, kAtOnce)) << pair.Logs();
      ASSERT_EQ(CallAll(channels).failed, 0u) << pair.Logs();
    }
    if (i % 4 != 0) continue;
    ASSERT_TRUE(Eventually([&] {
      return pair.faults().QueuePairs("fakeA").empty() && peers.server().connection_count() == 0;
    })) << pair.Logs();
    // Once all that is kept for the next connections is there.
    if (i == 4) {
      descriptors = OpenDescriptors();
      threads = Threads();
      spare_threads = spares();
      blocks = used();
    } else if (i > 4) {
      ASSERT_TRUE(Eventually([&] { return OpenDescriptors() <= descriptors; }))
          << OpenDescriptors() << " descriptors, there were " << descriptors;
      // But for those that a machine under load brings.
      ASSERT_TRUE(Eventually([&] {
        return Threads() <= threads + spares() - spare_threads + loops;
      })) << Threads()
          << " threads, there were " << threads;
      // Threads keep a few blocks that they write small messages to.
      ASSERT_TRUE(Eventually([&] { return used() <= blocks + (size_t{1} << 20); }))
          << used() << " bytes in blocks, there were " << blocks;
    }
  }
}

// 16 receives are four connections of a loop; there are two.
void WithFewReceives(FakeFabricOptions&, RdmaRigOptions& rig) {
  rig.rdma.receive_slots = 16;
  rig.rdma.shared_receives = rig.rdma.max_shared_receives = 16;
}

TEST(RdmaStormTest, WhomCapacityRefusesIsCarriedByTcpAndComesBackWhenThereIsRoom) {
  RdmaPair pair(SoonAgain(), WithFewReceives);
  const RdmaPeers peers(pair);
  Channels channels = OpenMany(peers, 24);
  ASSERT_TRUE(ComeToRdma(channels, 8)) << pair.Logs();
  const Carried full = CallAll(channels);
  EXPECT_EQ(full.failed, 0u) << full.first_error;
  EXPECT_EQ(full.rdma, 8u);
  EXPECT_TRUE(absl::StrContains(pair.Logs(), "posted receives")) << pair.Logs();
  EraseThoseOnRdma(channels);
  ASSERT_LE(channels.size(), 16u);
  ASSERT_GE(channels.size(), 8u);
  EXPECT_TRUE(ComeToRdma(channels, 8)) << pair.Logs();
}

}  // namespace
}  // namespace farcall
