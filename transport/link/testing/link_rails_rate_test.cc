// SPDX-License-Identifier: Apache-2.0
//
// What links with several rails carry, in virtual time over adapters of given rates.

#include <chrono>
#include <memory>
#include <numeric>
#include <vector>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "transport/link/testing/link_harness.h"
#include "transport/testing/conformance_run.h"
#include "transport/testing/sim_harness.h"

namespace farcall {
namespace {

using std::chrono::microseconds;

constexpr uint64_t kMB = 1'000'000;
constexpr size_t kMiB = size_t{1} << 20;

LinkVariant Variant(const std::vector<uint64_t>& rates) {
  LinkVariant variant;
  for (UpgradeOptions* const options : {&variant.client, &variant.server}) {
    options->stream.rails = static_cast<uint32_t>(rates.size());
  }
  SimOptions& network = variant.fabric.network;
  network.min_delay = network.max_delay = microseconds(10);
  network.window = 4 * kMiB;
  network.max_packet = size_t{64} << 10;
  variant.fabric.rates = rates;
  return variant;
}

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// Bytes a second of one direction; `both`: while as many go the other way.
double Carried(const std::vector<uint64_t>& rates, bool both) {
  LinkHarness harness(std::make_unique<SimHarness>(1), Variant(rates));
  ConformanceRun run(harness);
  auto duo = run.Connect();
  const auto ready = [&](TestPeer& peer) { return peer.info().rails.size() == rates.size(); };
  const auto done = [&] {
    return duo->server.seen().received == duo->client.sent() &&
           duo->client.seen().received == duo->server.sent();
  };
  double carried = 0;
  if (harness.Until([&] {
        if (rates.size() > 1) return ready(duo->client) && ready(duo->server);
        return duo->client.info().transport == TransportKind::kRdma;
      })) {
    // The first shows how fast each is.
    for (const size_t bytes : {32 * kMiB, 160 * kMiB}) {
      const TimePoint begin = harness.loops().at(0).now();
      duo->client.Send(bytes);
      if (both) duo->server.Send(bytes);
      EXPECT_TRUE(harness.Until(done));
      carried = static_cast<double>(bytes) / Seconds(harness.loops().at(0).now() - begin);
    }
  }
  duo.reset();
  EXPECT_TRUE(run.violations().empty()) << absl::StrJoin(run.violations(), "\n");
  return carried;
}

class LinkRailsRateTest : public testing::TestWithParam<bool> {};

TEST_P(LinkRailsRateTest, FourAdaptersCarryTheSumOfTheirRates) {
  const std::vector<std::vector<uint64_t>> cases = {
      {1000 * kMB, 1000 * kMB, 1000 * kMB, 1000 * kMB},
      {250 * kMB, 500 * kMB, 1000 * kMB, 2000 * kMB},
      {400 * kMB, 1600 * kMB}};
  for (const auto& rates : cases) {
    const auto sum = static_cast<double>(std::accumulate(rates.begin(), rates.end(), uint64_t{0}));
    EXPECT_GE(Carried(rates, GetParam()), 0.95 * sum) << testing::PrintToString(rates);
  }
}

TEST_P(LinkRailsRateTest, OneCarriesItsOwn) {
  EXPECT_GE(Carried({1000 * kMB}, GetParam()), 0.95 * 1000 * kMB);
}

INSTANTIATE_TEST_SUITE_P(Directions, LinkRailsRateTest, testing::Bool(),
                         [](const auto& both) { return both.param ? "BothWays" : "OneWay"; });

}  // namespace
}  // namespace farcall
