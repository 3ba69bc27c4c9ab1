// SPDX-License-Identifier: Apache-2.0

#include "transport/testing/sim/sim_harness.h"

#include "transport/base/check.h"

namespace farcall {
namespace {

constexpr size_t kLoops = 3;
constexpr Duration kAmpleSim = std::chrono::seconds(60);
// A few times around the network; shorter than the timeouts that the checks set.
constexpr Duration kSettle = std::chrono::milliseconds(5);

std::unique_ptr<BlockPool> NewPool() {
  auto pool = BlockPool::Create(BlockPoolOptions());
  Check(pool.ok(), "a test gets memory");
  return *std::move(pool);
}

}  // namespace

SimHarness::SimHarness(uint64_t seed, absl::FunctionRef<void(SimOptions&)> change)
    : seed_(seed),
      pool_(NewPool()),
      network_(Network(seed, change)),
      transport_(network_, *pool_),
      world_(seed, kLoops) {}

SimHarness::~SimHarness() { Settle(); }

Address SimHarness::SilentAddress() {
  const Address address = Address::Ipv4({10, 0, 0, 3}, 1);
  network_.Silence(address);
  return address;
}

bool SimHarness::Until(absl::FunctionRef<bool()> done) { return world_.Until(done, kAmpleSim); }

void SimHarness::Settle() { world_.RunFor(kSettle); }

// Networks of all kinds: slow and fast, with windows of few and many bytes.
SimOptions SimHarness::Network(uint64_t seed, absl::FunctionRef<void(SimOptions&)> change) {
  TestRandom random(seed);
  SimOptions options;
  options.seed = random.Next();
  options.min_delay = std::chrono::nanoseconds(random.Size(100'000));
  options.max_delay = options.min_delay + std::chrono::nanoseconds(random.Size(1'000'000));
  options.window = (size_t{16} << 10) + random.Below(size_t{112} << 10);
  options.max_packet = (size_t{1} << 10) + random.Below(size_t{31} << 10);
  change(options);
  return options;
}

}  // namespace farcall
