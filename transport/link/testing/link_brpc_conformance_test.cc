// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite over connections on brpc's wire, both ends of which are this library's.

#include <memory>

#include "gtest/gtest.h"
#include "transport/link/testing/brpc_rdma_harness.h"
#include "transport/link/testing/link_cases.h"
#include "transport/testing/conformance/connection_conformance.h"

namespace farcall {
namespace {

using Stepped = BrpcRdmaHarness<SteppedRdmaHarness>;
using Driven = BrpcRdmaHarness<DrivenRdmaHarness>;

// A message that finds no receive would end brpc's queue pair.
template <typename Harness>
class WithoutMissedReceives final : public ConformanceHarness {
 public:
  explicit WithoutMissedReceives(FakeMode mode, const FakeRdma::Change& change = nullptr)
      : inner_(mode, Harness::Options(), change) {}
  ~WithoutMissedReceives() override { End(); }
  Transport& transport() override { return inner_.transport(); }
  LoopGroup& loops() override { return inner_.loops(); }
  BlockPool& pool() override { return inner_.pool(); }
  Address FreeAddress() override { return inner_.FreeAddress(); }
  Address RefusingAddress() override { return inner_.RefusingAddress(); }
  Address SilentAddress() override { return inner_.SilentAddress(); }
  void Run(EventLoop& loop, absl::FunctionRef<void()> work) override { inner_.Run(loop, work); }
  bool Until(absl::FunctionRef<bool()> done) override { return inner_.Until(done); }
  void Settle() override { inner_.Settle(); }
  void End() override {
    for (const char* device : {"fakeA", "fakeB"}) {
      EXPECT_EQ(inner_.fabric().counters(device).rnrs, 0u);
    }
    inner_.End();
  }
  size_t LargestMessage() const override { return inner_.LargestMessage(); }
  size_t MoreThanFits() const override { return inner_.MoreThanFits(); }

 private:
  Harness inner_;
};

// The least that brpc allows.
void SmallQueues(FakeFabricOptions&, RdmaRigOptions& rig) {
  rig.rdma.send_slots = rig.rdma.receive_slots = 16;
}

template <typename Harness>
std::vector<ConformanceCase> Cases(FakeMode mode, const FakeRdma::Change& change = nullptr) {
  return LinkCases([=] { return std::make_unique<WithoutMissedReceives<Harness>>(mode, change); });
}

INSTANTIATE_TEST_SUITE_P(BrpcStepped, ConnectionConformance,
                         testing::ValuesIn(Cases<Stepped>(FakeMode::kStepped)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(BrpcSmallQueues, ConnectionConformance,
                         testing::ValuesIn(Cases<Stepped>(FakeMode::kStepped, SmallQueues)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(BrpcDriven, ConnectionConformance,
                         testing::ValuesIn(Cases<Driven>(FakeMode::kImmediate)),
                         ConformanceCaseName);

}  // namespace
}  // namespace farcall
