// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "gtest/gtest.h"
#include "transport/tcp/testing/tcp_harness.h"
#include "transport/testing/conformance/connection_conformance.h"
#include "transport/testing/conformance/stepped_harness.h"
#include "transport/testing/seeds_here.h"
#include "transport/testing/sim/sim_harness.h"
#include "transport/tls/testing/tls_harness.h"

namespace farcall {
namespace {

const uint64_t kSeeds = SeedsHere(5);

std::unique_ptr<ConformanceHarness> OverTcp() {
  return std::make_unique<TlsHarness>(TcpOn<SteppedHarness>("127.0.0.1:0"));
}

// The handshake has random bytes of its own, but what they are changes no step of it.
class TlsOverSim : public testing::TestWithParam<ConformanceCase> {};

TEST_P(TlsOverSim, HoldsForEverySeed) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    TlsHarness harness(std::make_unique<SimHarness>(seed));
    const absl::Status status = RunCheck(GetParam().check, harness);
    ASSERT_TRUE(status.ok()) << status.message();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, TlsOverSim, testing::ValuesIn(ConformanceCases(nullptr)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(TlsTcp, ConnectionConformance,
                         testing::ValuesIn(ConformanceCases(OverTcp)), ConformanceCaseName);

}  // namespace
}  // namespace farcall
