// SPDX-License-Identifier: Apache-2.0
//
// Seeds, steps and threads.

#include <fcntl.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "transport/rdma/testing/fabric/fabric_end.h"
#include "transport/rdma/testing/fabric/fake_fabric.h"

namespace farcall {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// What a run with this seed looks like: who completed what, in which order.
std::string Trace(uint64_t seed, bool shuffle = false) {
  FakeFabricOptions options;
  options.mode = FakeMode::kStepped;
  options.seed = seed;
  options.shuffle_completions = shuffle;
  FakeFabric fabric(options);
  FabricPair pair(fabric);
  EXPECT_TRUE(pair.Join());
  for (uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(pair.server.Receive(i, 64, i), 0);
    EXPECT_EQ(pair.client.Receive(i, 64, i), 0);
  }
  for (uint64_t i = 3; i < 6; ++i) {
    EXPECT_EQ(pair.server.Send(i, 8, i), 0);
    EXPECT_EQ(pair.client.Send(i, 8, i), 0);
  }
  std::string trace;
  uint64_t last[2][2] = {};
  const auto poll = [&](FabricEnd& end, int side) {
    ibv_wc wc;
    while (ibv_poll_cq(end.queue, 1, &wc) == 1) {
      const int receive = (wc.opcode & IBV_WC_RECV) != 0 ? 1 : 0;
      EXPECT_GE(wc.wr_id, last[side][receive]) << "each queue keeps its order";
      last[side][receive] = wc.wr_id;
      trace += (side == 0 ? "c" : "s") + std::to_string(wc.wr_id) + " ";
    }
  };
  bool more = true;
  while (more) {
    more = fabric.Step();
    // What lies there together may be shuffled.
    if (shuffle && more) continue;
    poll(pair.client, 0);
    poll(pair.server, 1);
  }
  return trace;
}

TEST(FakeOrderTest, FollowsFromTheSeed) {
  std::set<std::string> traces;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const std::string trace = Trace(seed);
    EXPECT_EQ(trace, Trace(seed)) << "seed " << seed;
    EXPECT_THAT(trace, SizeIs(12 * 3));
    traces.insert(trace);
  }
  EXPECT_GT(traces.size(), 40u);
}

TEST(FakeOrderTest, ShuffledCompletionsKeepTheOrderOfTheirQueues) {
  std::set<std::string> traces;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const std::string trace = Trace(seed, /*shuffle=*/true);
    EXPECT_EQ(trace, Trace(seed, /*shuffle=*/true)) << "seed " << seed;
    EXPECT_THAT(trace, SizeIs(12 * 3));
    traces.insert(trace);
  }
  EXPECT_GT(traces.size(), 40u);
}

TEST(FakeOrderTest, AnAnswerMayOvertakeTheCompletionOfItsQuestion) {
  bool before = false;
  bool after = false;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const std::string trace = Trace(seed);
    const bool received_first = trace.find("c0") < trace.find("c3");
    (received_first ? before : after) = true;
  }
  EXPECT_TRUE(before && after);
}

TEST(FakeOrderTest, NothingMovesWithoutAStep) {
  FakeFabric fabric({.mode = FakeMode::kStepped});
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  ASSERT_EQ(pair.server.Receive(0, 64, 0), 0);
  ASSERT_EQ(pair.client.Send(0, 8, 0), 0);
  ibv_wc wc;
  EXPECT_EQ(ibv_poll_cq(pair.server.queue, 1, &wc), 0);
  EXPECT_TRUE(fabric.Step());
  EXPECT_EQ(ibv_poll_cq(pair.server.queue, 1, &wc), 1);
  EXPECT_EQ(ibv_poll_cq(pair.client.queue, 1, &wc), 0);
  EXPECT_TRUE(fabric.Step());
  EXPECT_EQ(ibv_poll_cq(pair.client.queue, 1, &wc), 1);
  EXPECT_FALSE(fabric.Step());
}

TEST(FakeThreadsTest, TwoThreadsPlayPingPong) {
  FakeFabric fabric;
  FabricPair pair(fabric, {.shared_receives = 8});
  ASSERT_TRUE(pair.Join());
  constexpr uint64_t kRounds = 2000;
  ASSERT_EQ(pair.server.Receive(0, 64, 0), 0);
  ASSERT_EQ(pair.client.Receive(0, 64, 0), 0);
  const auto play = [&](FabricEnd& end, bool first) {
    uint64_t sent = 0;
    uint64_t received = 0;
    if (first) {
      EXPECT_EQ(end.Send(1, 8, sent++), 0);
    }
    while (received < kRounds || sent < kRounds) {
      ibv_wc wc[4];
      const int count = ibv_poll_cq(end.queue, 4, wc);
      for (int i = 0; i < count; ++i) {
        ASSERT_EQ(wc[i].status, IBV_WC_SUCCESS);
        if ((wc[i].opcode & IBV_WC_RECV) == 0) continue;
        ++received;
        ASSERT_EQ(end.Receive(0, 64, received), 0);
        if (sent < kRounds) {
          ASSERT_EQ(end.Send(1, 8, sent++), 0);
        }
      }
      if (count == 0) std::this_thread::yield();
    }
  };
  std::thread server([&] { play(pair.server, false); });
  play(pair.client, true);
  server.join();
  EXPECT_EQ(fabric.counters("fakeA").messages_out, kRounds);
  EXPECT_EQ(fabric.counters("fakeB").messages_out, kRounds);
}

TEST(FakeThreadsTest, ABlockingChannelBlocksUntilTheEvent) {
  FakeFabric fabric;
  FabricPair pair(fabric);
  ASSERT_TRUE(pair.Join());
  const int fd = pair.server.completions->fd;
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  ASSERT_EQ(ibv_req_notify_cq(pair.server.queue, 0), 0);
  ASSERT_EQ(pair.server.Receive(0, 64, 0), 0);
  std::atomic<bool> woken{false};
  std::thread waiter([&] {
    ibv_cq* queue = nullptr;
    void* user = nullptr;
    EXPECT_EQ(fabric.api().ibv.get_cq_event(pair.server.completions, &queue, &user), 0);
    woken = true;
    fabric.api().ibv.ack_cq_events(queue, 1);
  });
  EXPECT_FALSE(woken);
  ASSERT_EQ(pair.client.Send(1, 8, 0), 0);
  waiter.join();
  EXPECT_TRUE(woken);
}

}  // namespace
}  // namespace farcall
