// SPDX-License-Identifier: Apache-2.0

#include "transport/testing/conformance/stepped_harness.h"

#include <thread>

#include "transport/base/check.h"

namespace farcall {
namespace {

constexpr Duration kAmpleStepped = std::chrono::seconds(60);
// Where nothing is under way any more, so many idle turns say so.
constexpr int kIdleTurns = 30;

}  // namespace

SteppedHarness::SteppedHarness() {
  auto pool = BlockPool::Create(BlockPoolOptions());
  Check(pool.ok(), "a test gets memory");
  pool_ = *std::move(pool);
  std::vector<EventLoop*> loops;
  for (int i = 0; i < kLoops; ++i) {
    auto loop = EventLoop::Create(clock_);
    Check(loop.ok(), "a test gets file descriptors");
    loops.push_back(loop->get());
    owned_.push_back(*std::move(loop));
  }
  group_ = std::make_unique<LoopGroup>(loops);
}

void SteppedHarness::Run(EventLoop& loop, absl::FunctionRef<void()> work) {
  // Tasks that wait come first.
  while (!loop.TryRun(work)) loop.RunOnce();
}

bool SteppedHarness::Until(absl::FunctionRef<bool()> done) {
  const TimePoint deadline = clock_.Now() + kAmpleStepped;
  while (!done()) {
    if (clock_.Now() > deadline) return false;
    if (!Step()) std::this_thread::yield();
  }
  return true;
}

void SteppedHarness::Settle() {
  for (int idle = 0; idle < kIdleTurns; ++idle) {
    if (Step()) idle = 0;
  }
}

bool SteppedHarness::Step() {
  bool worked = false;
  for (const auto& loop : owned_) worked |= loop->RunOnce();
  return worked;
}

}  // namespace farcall
