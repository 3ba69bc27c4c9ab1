// SPDX-License-Identifier: Apache-2.0
//
// CreditFlow as the simulation's mutants have it.

#include <cstdint>
#include <deque>

#include "gtest/gtest.h"
#include "transport/rdma/flow/credit_flow_testing.h"
#include "transport/rdma/flow/flow_mutant_testing.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

constexpr uint32_t kFirst = CreditFlow::kFirstCount;

// The mutants of the simulation are CreditFlow but for their mutation.
TEST(CreditFlowTest, TheModelOfTheMutantsIsTheSame) {
  using testing::MutantFlow;
  using testing::Mutation;
  TestRandom random(1);
  CreditFlow flow(kEightOfEach);
  MutantFlow<Mutation::kNone> model(kEightOfEach);
  std::deque<uint32_t> signaled;
  uint32_t given = 8;  // by the peer
  const auto same = [&](const SendPlan& a, const SendPlan& b) {
    if (a.signaled) signaled.push_back(a.seq);
    EXPECT_EQ(a.seq, b.seq);
    EXPECT_EQ(a.count, b.count);
    EXPECT_EQ(a.signaled, b.signaled);
  };
  for (int i = 0; i < 20000; ++i) {
    ASSERT_EQ(flow.Budget(), model.Budget());
    ASSERT_EQ(flow.unannounced(), model.unannounced());
    const bool last = random.Chance(0.3);
    switch (random.Below(4)) {
      case 0:
        if (flow.Budget() > 0) same(flow.Send(last), model.Send(last));
        break;
      case 1: {
        if (flow.outstanding() == flow.unannounced()) break;
        if (flow.credits() < 8) given += static_cast<uint32_t>(random.Below(9 - flow.credits()));
        ASSERT_TRUE(flow.OnMessage(kFirst + given).ok());
        ASSERT_TRUE(model.OnMessage(kFirst + given).ok());
        break;
      }
      case 2: {
        const auto more = static_cast<uint32_t>(random.Below(9 - flow.outstanding()));
        flow.OnGranted(more);
        model.OnGranted(more);
        const auto plan = flow.BareCount();
        const auto other = model.BareCount();
        ASSERT_EQ(plan.has_value(), other.has_value());
        if (plan.has_value()) same(*plan, *other);
        break;
      }
      default:
        if (signaled.empty()) break;
        ASSERT_EQ(flow.OnCompleted(signaled.front()), model.OnCompleted(signaled.front()));
        signaled.pop_front();
    }
  }
}

}  // namespace
}  // namespace farcall
