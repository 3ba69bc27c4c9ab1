// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite over whole links in virtual time, with many seeds.

#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "transport/link/testing/link_cases.h"
#include "transport/link/testing/link_harness.h"
#include "transport/testing/seeds_here.h"
#include "transport/testing/sim/sim_harness.h"

namespace farcall {
namespace {

const uint64_t kSeeds = SeedsHere(6);

using Change = void (*)(LinkVariant&);

// Upgraded while the check runs.
void Upgrading(LinkVariant&) {}
// From the beginning, and the whole time.
void Required(LinkVariant& variant) {
  variant.client.require_rdma = variant.server.require_rdma = true;
}
// Link frames, and TCP carries them.
void NeverUpgraded(LinkVariant& variant) { variant.fabric.no_capacity = 1; }
// Generations break at random, and come again at once; each step may fail.
void Breaking(LinkVariant& variant) {
  variant.fabric.network.reset = 0.02;
  variant.fabric.refuse = 0.1;
  variant.fabric.no_capacity = 0.1;
  for (UpgradeOptions* const options : {&variant.client, &variant.server}) {
    options->upgrade.first_pause = std::chrono::milliseconds(1);
    options->upgrade.longest_pause = std::chrono::milliseconds(4);
  }
}
// Generations fall silent, which only the progress timer notices.
void Sticking(LinkVariant& variant) {
  Breaking(variant);
  variant.fabric.network.mute = 0.01;
  variant.fabric.unanswered = 0.1;
  variant.fabric.no_offer = 0.1;
  for (UpgradeOptions* const options : {&variant.client, &variant.server}) {
    options->upgrade.answer = std::chrono::milliseconds(20);
    options->upgrade.dial = std::chrono::milliseconds(20);
  }
}
// Several generations at once, over which even small checks are spread.
void Rails(LinkVariant& variant) {
  variant.client.stream.rails = 3;
  for (UpgradeOptions* const options : {&variant.client, &variant.server}) {
    options->stream.least_slice = size_t{4} << 10;
    options->stream.send_window = options->stream.receive_window = size_t{128} << 10;
  }
}
void BreakingRails(LinkVariant& variant) {
  Rails(variant);
  Breaking(variant);
}
void StickingRails(LinkVariant& variant) {
  Rails(variant);
  Sticking(variant);
}
void Declined(LinkVariant& variant) { variant.server.use_rdma = false; }
void PlainClient(LinkVariant& variant) { variant.client.use_rdma = false; }
void BothPlain(LinkVariant& variant) { variant.client.use_rdma = variant.server.use_rdma = false; }
void NoRdmaAtTheClient(LinkVariant& variant) {
  variant.client_available = NotRdma(WhyNotRdma::kNoDevice, "");
}
void NoRdmaAtTheServer(LinkVariant& variant) {
  variant.server_available = NotRdma(WhyNotRdma::kMemlock, "64 KiB");
}

std::unique_ptr<ConformanceHarness> Make(uint64_t seed, Change change) {
  LinkVariant variant = LinkVariant::Of(seed);
  change(variant);
  return std::make_unique<LinkHarness>(std::make_unique<SimHarness>(seed), variant);
}

class LinkConformance : public testing::TestWithParam<ConformanceCase> {
 protected:
  void Hold(Change change) {
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const auto harness = Make(seed, change);
      const absl::Status status = RunCheck(GetParam().check, *harness);
      ASSERT_TRUE(status.ok()) << status.message();
    }
  }
};

TEST_P(LinkConformance, Upgrading) { Hold(Upgrading); }
TEST_P(LinkConformance, Required) { Hold(Required); }
TEST_P(LinkConformance, NeverUpgraded) { Hold(NeverUpgraded); }
TEST_P(LinkConformance, Breaking) { Hold(Breaking); }
TEST_P(LinkConformance, Sticking) { Hold(Sticking); }
TEST_P(LinkConformance, Rails) { Hold(Rails); }
TEST_P(LinkConformance, BreakingRails) { Hold(BreakingRails); }
TEST_P(LinkConformance, StickingRails) { Hold(StickingRails); }
TEST_P(LinkConformance, Declined) { Hold(Declined); }
TEST_P(LinkConformance, PlainClient) { Hold(PlainClient); }
TEST_P(LinkConformance, BothPlain) { Hold(BothPlain); }
TEST_P(LinkConformance, NoRdmaAtTheClient) { Hold(NoRdmaAtTheClient); }
TEST_P(LinkConformance, NoRdmaAtTheServer) { Hold(NoRdmaAtTheServer); }

INSTANTIATE_TEST_SUITE_P(Seeds, LinkConformance, testing::ValuesIn(LinkCases(nullptr)),
                         ConformanceCaseName);

// These two ends are alike from the beginning.
TEST(LinkInfoTest, TellsEndsAndCounts) {
  for (const ConformanceCheck& check : ConnectChecks()) {
    if (absl::string_view(check.name) != "InfoShowsEndsAndCounts") continue;
    for (const Change change : {Required, BothPlain}) {
      for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const absl::Status status = RunCheck(check, *Make(seed, change));
        ASSERT_TRUE(status.ok()) << status.message();
      }
    }
    return;
  }
  FAIL() << "there is no such check";
}

}  // namespace
}  // namespace farcall
