// SPDX-License-Identifier: Apache-2.0
//
// What a connection costs that does nothing, at both ends together (docs/limits.md).

#include <malloc.h>

#include <chrono>
#include <cstddef>
#include <optional>

#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/process_resources.h"
#include "rpc/testing/rdma/many_channels.h"
#include "rpc/testing/rdma/rdma_pair.h"
#include "rpc/testing/rdma/rdma_peers.h"
#include "rpc/testing/test_peers.h"
#include "transport/base/sanitizer.h"
#include "transport/loop/loop_group.h"

namespace farcall {
namespace {

constexpr size_t kConnections = kSanitized ? 50 : 200;

// Whether no timer of a loop is due soon: nothing else wakes one whose peers are as quiet.
bool SleepsLong(Runtime& runtime) {
  const TimePoint soon = runtime.parts().clock->Now() + std::chrono::seconds(1);
  LoopGroup& loops = *runtime.parts().loops;
  for (size_t i = 0; i < loops.size(); ++i) {
    const std::optional<TimePoint> next = loops.at(i).NextTimer();
    if (next && *next < soon) return false;
  }
  return true;
}

struct Cost {
  size_t descriptors = OpenDescriptors();
  size_t threads = Threads();
  size_t spare_threads = 0;  // at most so many of them, which a machine under load brings
  size_t heap = kSanitized ? 0 : mallinfo2().uordblks;
  size_t blocks = 0;

  explicit Cost(RdmaPair& pair)
      : spare_threads(pair.client().spare_threads() + pair.server().spare_threads()),
        blocks(pair.client().used_bytes() + pair.server().used_bytes()) {}
};

bool NoMoreThreads(RdmaPair& pair, const Cost& before) {
  const Cost now(pair);
  const size_t spares = now.spare_threads - before.spare_threads;
  return now.threads <= before.threads + spares + pair.client().loops() + pair.server().loops();
}

void Record(const char* name, size_t more) {
  testing::Test::RecordProperty(name, static_cast<int>(more / kConnections));
}

// Each with a channel of its own, whose first call is over.
TEST(IdleCostTest, OverTcp) {
  RdmaPair pair;
  const RdmaPeers peers(pair, WithoutHandlerThreads(ServerOptions()), Patient());
  ASSERT_EQ(CallAll(OpenMany(peers, 10)).failed, 0u);
  const Cost before(pair);
  const Channels channels = OpenMany(peers, kConnections);
  ASSERT_EQ(CallAll(channels).tcp, kConnections);
  const Cost after(pair);
  EXPECT_LE(after.descriptors, before.descriptors + 2 * kConnections + 10);
  EXPECT_TRUE(Eventually([&] { return NoMoreThreads(pair, before); }));
  EXPECT_LE(after.blocks, before.blocks + kConnections * 5 * 8192);
  EXPECT_LE(after.heap, before.heap + kConnections * (24 << 10));
  Record("heap_bytes", after.heap - before.heap);
  Record("block_bytes", after.blocks - before.blocks);
  EXPECT_TRUE(Eventually(
      [&] { return SleepsLong(pair.client().runtime()) && SleepsLong(pair.server().runtime()); }));
}

TEST(IdleCostTest, OverRdma) {
  UpgradeOptions options = SoonAgain();
  // The sign of life that the client asks for is not within this test.
  options.stream.idle_ping = std::chrono::hours(1);
  RdmaPair pair(options, WithDefaultReceives);
  const RdmaPeers peers(pair, WithoutHandlerThreads(WithRdma(ServerOptions())));
  Channels warm = OpenMany(peers, 10);
  ASSERT_TRUE(ComeToRdma(warm, 10)) << pair.Logs();
  warm.clear();
  ASSERT_TRUE(Eventually([&] { return pair.faults().QueuePairs("fakeA").empty(); }));
  const Cost before(pair);
  const FakeCounters device = pair.fabric().counters("fakeB");
  const Channels channels = OpenMany(peers, kConnections);
  ASSERT_TRUE(ComeToRdma(channels, kConnections)) << pair.Logs();
  const Cost after(pair);
  EXPECT_EQ(pair.faults().QueuePairs("fakeA").size(), kConnections);
  EXPECT_EQ(pair.faults().QueuePairs("fakeB").size(), kConnections);
  // The sockets; rdma_cm and completion queues have one each for all.
  EXPECT_LE(after.descriptors, before.descriptors + 2 * kConnections + 10);
  EXPECT_TRUE(Eventually([&] { return NoMoreThreads(pair, before); }));
  Record("block_bytes", after.blocks - before.blocks);
  // Receives grow by need, four for each and a third more, at both ends, in steps of 8 MiB.
  EXPECT_LE(after.blocks,
            before.blocks + 2 * kConnections * (6 * kReceiveBlock + 8192) + 4 * (size_t{8} << 20));
  EXPECT_LE(pair.fabric().counters("fakeB").registrations, device.registrations + 20);

  EXPECT_TRUE(Eventually(
      [&] { return SleepsLong(pair.client().runtime()) && SleepsLong(pair.server().runtime()); }));
}

}  // namespace
}  // namespace farcall
