// SPDX-License-Identifier: Apache-2.0
//
// In the steady state, calls and answers on a generation, a turn allocates nothing, sends
// one frame and moves no timer. The global operator new is replaced by one that counts,
// hence a program of its own.

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "gtest/gtest.h"
#include "transport/base/check.h"
#include "transport/buffer/block_pool.h"
#include "transport/link/stream/switching_stream.h"
#include "transport/testing/allocations/counted_new.h"

namespace farcall {
namespace {

// Keeps the last frame and counts.
class End final : public SwitchingStream::Output {
 public:
  End(BlockPool& pool, TimePoint now) : stream(StreamLimits(), pool, *this, now) {
    Check(stream.Expect(1).ok(), "the first generation is expected");
    stream.OnGenerationReady(1);
  }

  // A turn: `data` is written and leaves, and the driver looks at its timer.
  Buffer Turn(Buffer data, TimePoint now) {
    stream.Write(std::move(data));
    stream.Flush(now);
    const auto next = stream.NextTimer();
    if (next && (!timer || *next < *timer)) {
      timer = next;
      ++timers;
    }
    return std::move(sent);
  }
  void Read(Buffer bytes, TimePoint now) {
    LinkFrame frame;
    Check(CutLinkFrame(bytes, frame).value_or(1) == 0, "a whole frame");
    stream.OnFrame(1, frame, now);
  }

  void Send(LinkId, Buffer&& frame) override {
    sent = std::move(frame);
    ++frames;
  }
  size_t Unsent(LinkId) const override { return 0; }
  void Deliver(Buffer&& bytes) override { delivered += bytes.size(); }
  void GiveUp(LinkId, const absl::Status&) override {}
  void ShutDownWriting() override {}
  void Ended(const absl::Status&) override {}

  SwitchingStream stream;
  Buffer sent;
  std::optional<TimePoint> timer;
  int frames = 0;
  int timers = 0;
  size_t delivered = 0;
};

TEST(SwitchingStreamAllocationTest, TheCounterCounts) {
  const size_t before = AllocationsSoFar();
  const auto memory = std::make_unique<int>(1);
  EXPECT_EQ(AllocationsSoFar() - before, 1u);
}

TEST(SwitchingStreamAllocationTest, ACallAndItsAnswerCostOneFrameEachAndNothingElse) {
  constexpr int kCalls = 1000;
  const auto pool = BlockPool::Create({});
  ASSERT_TRUE(pool.ok());
  TimePoint now{std::chrono::seconds(1)};
  End client(**pool, now);
  End server(**pool, now);
  const Buffer call("a request of 32 bytes, so to say.");
  size_t cost = 0;
  for (int i = 0; i < kCalls; ++i) {
    Buffer request = call.Share();
    Buffer answer = call.Share();
    const size_t before = AllocationsSoFar();
    server.Read(client.Turn(std::move(request), now), now);
    client.Read(server.Turn(std::move(answer), now), now);
    if (i > 10) cost += AllocationsSoFar() - before;
    now += std::chrono::microseconds(4);
  }
  EXPECT_EQ(cost, 0u);
  EXPECT_EQ(client.frames, kCalls);
  EXPECT_EQ(server.frames, kCalls);
  EXPECT_EQ(server.delivered, kCalls * call.size());
  EXPECT_LE(client.timers, 2);
  EXPECT_LE(server.timers, 2);
  EXPECT_EQ(client.stream.stats().pings, 0u);
}

}  // namespace
}  // namespace farcall
