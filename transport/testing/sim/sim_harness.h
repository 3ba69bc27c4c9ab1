// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TESTING_SIM_SIM_HARNESS_H_
#define FARCALL_TRANSPORT_TESTING_SIM_SIM_HARNESS_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "transport/testing/conformance/conformance_harness.h"
#include "transport/testing/sim/sim_network.h"
#include "transport/testing/sim/sim_transport.h"
#include "transport/testing/sim/sim_world.h"

namespace farcall {

// SimTransport for the conformance suite: each seed is another run.
class SimHarness final : public ConformanceHarness {
 public:
  // `change` changes what the seed makes of the network.
  explicit SimHarness(
      uint64_t seed, absl::FunctionRef<void(SimOptions&)> change = [](auto&) {});
  ~SimHarness() override;

  Transport& transport() override { return transport_; }
  LoopGroup& loops() override { return world_.loops(); }
  BlockPool& pool() override { return *pool_; }
  Address FreeAddress() override { return Address::Ipv4({10, 0, 0, 1}, 0); }
  Address RefusingAddress() override { return Address::Ipv4({10, 0, 0, 2}, 1); }
  Address SilentAddress() override;
  void Run(EventLoop& loop, absl::FunctionRef<void()> work) override { world_.Run(loop, work); }
  bool Until(absl::FunctionRef<bool()> done) override;
  void Settle() override;
  uint64_t seed() const override { return seed_; }
  size_t LargestMessage() const override { return size_t{256} << 10; }
  size_t MoreThanFits() const override { return size_t{600} << 10; }

 private:
  static SimOptions Network(uint64_t seed, absl::FunctionRef<void(SimOptions&)> change);

  const uint64_t seed_;
  std::unique_ptr<BlockPool> pool_;
  SimNetwork network_;
  SimTransport transport_;
  SimWorld world_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_SIM_SIM_HARNESS_H_
