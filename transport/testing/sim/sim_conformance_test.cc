// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "gtest/gtest.h"
#include "transport/testing/conformance/connection_conformance.h"
#include "transport/testing/seeds_here.h"
#include "transport/testing/sim/sim_harness.h"

namespace farcall {
namespace {

const uint64_t kSeeds = SeedsHere(20);

class SimConformance : public testing::TestWithParam<ConformanceCase> {};

TEST_P(SimConformance, HoldsForEverySeed) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SimHarness harness(seed);
    const absl::Status status = RunCheck(GetParam().check, harness);
    ASSERT_TRUE(status.ok()) << status.message();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimConformance, testing::ValuesIn(ConformanceCases(nullptr)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(Sim, ConnectionConformance, testing::ValuesIn(ConformanceCases([] {
                           return std::make_unique<SimHarness>(1000);
                         })),
                         ConformanceCaseName);

}  // namespace
}  // namespace farcall
