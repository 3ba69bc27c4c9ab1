// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite over connections on brpc's wire, both ends of which are this library's.

#ifndef FARCALL_TRANSPORT_LINK_TESTING_LINK_BRPC_CASES_H_
#define FARCALL_TRANSPORT_LINK_TESTING_LINK_BRPC_CASES_H_

#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "transport/link/testing/brpc_rdma_harness.h"
#include "transport/link/testing/link_cases.h"
#include "transport/testing/conformance/connection_conformance.h"

namespace farcall {

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

template <typename Harness>
std::vector<ConformanceCase> BrpcCases(FakeMode mode, const FakeRdma::Change& change = nullptr) {
  return LinkCases([=] { return std::make_unique<WithoutMissedReceives<Harness>>(mode, change); });
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_TESTING_LINK_BRPC_CASES_H_
