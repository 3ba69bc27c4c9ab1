// SPDX-License-Identifier: Apache-2.0
//
// Links whose lifeline is TLS: hello, frames and upgrades run inside it.

#include <memory>

#include "gtest/gtest.h"
#include "transport/link/testing/link_cases.h"
#include "transport/link/testing/link_harness.h"
#include "transport/testing/sim_harness.h"
#include "transport/tls/testing/tls_harness.h"

namespace farcall {
namespace {

constexpr uint64_t kSeeds = SeedsHere(4);

class LinkOverTls : public testing::TestWithParam<ConformanceCase> {
 protected:
  void Hold(void (*change)(LinkVariant&)) {
    for (uint64_t seed = 1; seed <= (kSeeds > 0 ? kSeeds : 1); ++seed) {
      LinkVariant variant = LinkVariant::Of(seed);
      change(variant);
      LinkHarness harness(std::make_unique<TlsHarness>(std::make_unique<SimHarness>(seed)),
                          variant);
      const absl::Status status = RunCheck(GetParam().check, harness);
      ASSERT_TRUE(status.ok()) << status.message();
    }
  }
};

TEST_P(LinkOverTls, Upgrading) {
  Hold([](LinkVariant&) {});
}
TEST_P(LinkOverTls, NeverUpgraded) {
  Hold([](LinkVariant& variant) { variant.fabric.no_capacity = 1; });
}
TEST_P(LinkOverTls, Plain) {
  Hold([](LinkVariant& variant) { variant.server.use_rdma = false; });
}

INSTANTIATE_TEST_SUITE_P(Seeds, LinkOverTls, testing::ValuesIn(LinkCases(nullptr)),
                         ConformanceCaseName);

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ConnectionConformance);

}  // namespace
}  // namespace farcall
