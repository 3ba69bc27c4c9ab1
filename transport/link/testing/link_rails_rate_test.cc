// SPDX-License-Identifier: Apache-2.0
//
// What links with several rails carry, and how soon, in virtual time over adapters of given rates.

#include <chrono>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <vector>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "transport/link/testing/link_harness.h"
#include "transport/testing/conformance/conformance_run.h"
#include "transport/testing/sim/sim_harness.h"

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

// A link that uses all of its rails.
class RatedLink {
 public:
  explicit RatedLink(const std::vector<uint64_t>& rates)
      : harness_(std::make_unique<SimHarness>(1), Variant(rates)),
        run_(harness_),
        duo_(run_.Connect()) {
    const auto ready = [&](TestPeer& peer) { return peer.info().rails.size() == rates.size(); };
    ready_ = duo_ != nullptr && harness_.Until([&] {
      if (rates.size() > 1) return ready(duo_->client) && ready(duo_->server);
      return duo_->client.info().transport == TransportKind::kRdma;
    });
    EXPECT_TRUE(ready_);
  }
  ~RatedLink() {
    duo_.reset();
    EXPECT_TRUE(run_.violations().empty()) << absl::StrJoin(run_.violations(), "\n");
  }
  RatedLink(const RatedLink&) = delete;
  RatedLink& operator=(const RatedLink&) = delete;

  // Seconds until all has come: what the client writes, one after the other, and the server.
  double Carry(std::initializer_list<size_t> client, size_t server) {
    if (!ready_) return 0;
    const TimePoint begin = now();
    for (const size_t bytes : client) duo_->client.Send(bytes);
    if (server > 0) duo_->server.Send(server);
    EXPECT_TRUE(harness_.Until([&] {
      return duo_->server.seen().received == duo_->client.sent() &&
             duo_->client.seen().received == duo_->server.sent();
    }));
    return Seconds(now() - begin);
  }

 private:
  TimePoint now() { return harness_.loops().at(0).now(); }

  LinkHarness harness_;
  ConformanceRun run_;
  std::unique_ptr<Duo> duo_;
  bool ready_ = false;
};

double Sum(const std::vector<uint64_t>& rates) {
  return static_cast<double>(std::accumulate(rates.begin(), rates.end(), uint64_t{0}));
}

// Bytes a second of one direction; `both`: while as many go the other way.
double Carried(const std::vector<uint64_t>& rates, bool both) {
  constexpr size_t kBytes = 160 * kMiB;
  RatedLink link(rates);
  // This shows how fast each is.
  link.Carry({32 * kMiB}, both ? 32 * kMiB : 0);
  return kBytes / link.Carry({kBytes}, both ? kBytes : 0);
}

class LinkRailsRateTest : public testing::TestWithParam<bool> {};

TEST_P(LinkRailsRateTest, FourAdaptersCarryTheSumOfTheirRates) {
  const std::vector<std::vector<uint64_t>> cases = {
      {1000 * kMB, 1000 * kMB, 1000 * kMB, 1000 * kMB},
      {250 * kMB, 500 * kMB, 1000 * kMB, 2000 * kMB},
      {400 * kMB, 1600 * kMB}};
  for (const auto& rates : cases) {
    EXPECT_GE(Carried(rates, GetParam()), 0.95 * Sum(rates)) << testing::PrintToString(rates);
  }
}

TEST_P(LinkRailsRateTest, OneCarriesItsOwn) {
  EXPECT_GE(Carried({1000 * kMB}, GetParam()), 0.95 * 1000 * kMB);
}

// Nothing is known of the rails yet.
TEST_P(LinkRailsRateTest, AConnectionThatHasJustBegunDoesSo) {
  constexpr size_t kBytes = 8 * kMiB;
  const std::vector<std::vector<uint64_t>> cases = {{200 * kMB, 800 * kMB}, {800 * kMB, 200 * kMB}};
  for (const auto& rates : cases) {
    RatedLink link(rates);
    for (int i = 0; i < 4; ++i) {
      const double carried = kBytes / link.Carry({kBytes}, GetParam() ? kBytes : 0);
      EXPECT_GE(carried, 0.9 * Sum(rates)) << testing::PrintToString(rates) << ", message " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Directions, LinkRailsRateTest, testing::Bool(),
                         [](const auto& both) { return both.param ? "BothWays" : "OneWay"; });

// A stream is in one order: neither rails nor slices nor what is in flight change what a small
// message waits for (docs/rdma.md says what does).
TEST(LinkOrderTest, ASmallMessageWaitsForWhatWasWrittenBeforeItAndForNothingElse) {
  const std::vector<std::vector<uint64_t>> cases = {
      {1000 * kMB}, {500 * kMB, 500 * kMB}, {200 * kMB, 800 * kMB}};
  for (const auto& rates : cases) {
    SCOPED_TRACE(testing::PrintToString(rates));
    RatedLink link(rates);
    link.Carry({128 * kMiB}, 0);
    const double alone = link.Carry({100}, 0);
    EXPECT_LT(alone, 0.0002);
    for (const size_t before : {kMiB, 8 * kMiB, 64 * kMiB}) {
      SCOPED_TRACE(before);
      const double waits = static_cast<double>(before) / Sum(rates);
      const double took = link.Carry({before, 100}, 0);
      EXPECT_GE(took, 0.95 * waits);
      EXPECT_LE(took, 1.1 * waits + 2 * alone + 0.0002);
    }
  }
}

}  // namespace
}  // namespace farcall
