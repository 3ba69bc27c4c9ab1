// SPDX-License-Identifier: Apache-2.0

#include "transport/testing/conformance/driven_harness.h"

#include <chrono>
#include <thread>

#include "transport/base/check.h"
#include "transport/testing/run_on.h"

namespace farcall {
namespace {

constexpr Duration kAmpleDriven = std::chrono::seconds(60);
constexpr Duration kBetweenLooks = std::chrono::microseconds(200);
constexpr int kDrivenTurns = 20;

}  // namespace

DrivenHarness::DrivenHarness(PollingMode mode) {
  auto pool = BlockPool::Create(BlockPoolOptions());
  Check(pool.ok(), "a test gets memory");
  pool_ = *std::move(pool);
  std::vector<EventLoop*> loops;
  LoopDriverOptions options;
  options.polling.mode = mode;
  for (int i = 0; i < kLoops; ++i) {
    auto loop = EventLoop::Create(clock_);
    Check(loop.ok(), "a test gets file descriptors");
    loops.push_back(loop->get());
    owned_.push_back(*std::move(loop));
    auto driver = LoopDriver::Start(*loops.back(), options);
    Check(driver.ok(), "a test gets threads");
    drivers_.push_back(*std::move(driver));
  }
  group_ = std::make_unique<LoopGroup>(loops);
}

void DrivenHarness::Run(EventLoop& loop, absl::FunctionRef<void()> work) { RunOn(loop, work); }

bool DrivenHarness::Until(absl::FunctionRef<bool()> done) {
  const TimePoint deadline = clock_.Now() + kAmpleDriven;
  while (!done()) {
    if (clock_.Now() > deadline) return false;
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return true;
}

void DrivenHarness::Settle() {
  for (int i = 0; i < kDrivenTurns; ++i) {
    for (const auto& loop : owned_) Run(*loop, [] {});
  }
}

}  // namespace farcall
