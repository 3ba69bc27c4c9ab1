// SPDX-License-Identifier: Apache-2.0
//
// Upgrades of whole links in virtual time: what info tells, what is counted and logged,
// and that no byte is lost or doubled when generations come and go under load.

#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "transport/link/testing/link_harness.h"
#include "transport/testing/conformance/conformance_run.h"
#include "transport/testing/seeds_here.h"
#include "transport/testing/sim/sim_harness.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

std::unique_ptr<LinkHarness> Make(uint64_t seed, const LinkVariant& variant) {
  return std::make_unique<LinkHarness>(std::make_unique<SimHarness>(seed), variant);
}

// Nothing broken, and all blocks at home.
void ExpectClean(LinkHarness& harness, ConformanceRun& run, std::unique_ptr<Duo> duo) {
  duo.reset();
  EXPECT_TRUE(harness.Until([&] { return harness.pool().stats().used_bytes == 0; }));
  EXPECT_TRUE(run.violations().empty())
      << "seed " << harness.seed() << ": " << absl::StrJoin(run.violations(), "\n");
}

TEST(LinkUpgradeTest, BothEndsGoOver) {
  const auto harness = Make(1, LinkVariant::Of(1));
  ConformanceRun run(*harness);
  auto duo = run.Connect();
  ASSERT_NE(duo, nullptr);
  EXPECT_EQ(duo->client.info().why_not_rdma, WhyNotRdma::kPending);
  EXPECT_EQ(duo->client.info().transport, TransportKind::kSimulated);
  ASSERT_TRUE(harness->Until([&] { return OnRdma(duo->client) && OnRdma(duo->server); }));
  EXPECT_EQ(duo->client.info().why_not_rdma, WhyNotRdma::kInUse);
  EXPECT_EQ(duo->client.info().why_detail, "");
  EXPECT_EQ(harness->record().counts().upgrades, 2u);
  EXPECT_EQ(harness->fabric().admitted, 1);
  EXPECT_TRUE(harness->log().empty()) << absl::StrJoin(harness->log(), "\n");
  ExpectClean(*harness, run, std::move(duo));
}

// Calls wait for the hello's answer, never for RDMA.
TEST(LinkUpgradeTest, BytesFlowWhileItIsSetUp) {
  LinkVariant variant = LinkVariant::Of(1);
  variant.fabric.no_offer = 1;
  const auto harness = Make(1, variant);
  ConformanceRun run(*harness);
  auto duo = run.Connect();
  ASSERT_NE(duo, nullptr);
  duo->client.Send(100000);
  duo->server.Send(100000);
  EXPECT_TRUE(harness->Until([&] { return AllArrived(*duo); }));
  EXPECT_EQ(duo->client.info().why_not_rdma, WhyNotRdma::kPending);
  EXPECT_EQ(duo->client.info().bytes_written, 100000u);
  EXPECT_EQ(duo->client.info().bytes_read, 100000u);
  ExpectClean(*harness, run, std::move(duo));
}

void Flap(LinkVariant& variant) {
  for (UpgradeOptions* const options : {&variant.client, &variant.server}) {
    options->upgrade.first_pause = milliseconds(1);
    options->upgrade.longest_pause = milliseconds(4);
    options->upgrade.answer = milliseconds(20);
    options->upgrade.dial = milliseconds(20);
  }
}

struct Totals {
  uint64_t upgrades = 0;
  uint64_t broken = 0;
  uint64_t timed_out = 0;
};

// Both directions under load, in bursts, until the end in order.
Totals RunLoad(uint64_t seed, const LinkVariant& variant) {
  const auto harness = Make(seed, variant);
  ConformanceRun run(*harness);
  auto duo = run.Connect();
  EXPECT_NE(duo, nullptr);
  if (duo == nullptr) return {};
  for (int i = 0; i < 40; ++i) {
    duo->client.Send(run.random.Size(size_t{64} << 10));
    duo->server.Send(run.random.Size(size_t{64} << 10));
    if (run.random.Chance(0.2)) duo->server.Pause();
    harness->Settle();
    if (run.random.Chance(0.5)) duo->server.Resume();
  }
  duo->server.Resume();
  EXPECT_TRUE(harness->Until([&] { return AllArrived(*duo); })) << "seed " << seed;
  duo->client.Send(run.random.Size(size_t{256} << 10));
  duo->client.Close(absl::CancelledError("bye"), CloseMode::kFlush);
  EXPECT_TRUE(harness->Until([&] { return duo->client.over() && duo->server.over(); }));
  EXPECT_EQ(duo->server.seen().received, duo->client.sent()) << "seed " << seed;
  const UpgradeCounts counts = harness->record().counts();
  ExpectClean(*harness, run, std::move(duo));
  return {counts.upgrades, counts.fallbacks[static_cast<size_t>(WhyNotRdma::kBroken)],
          counts.fallbacks[static_cast<size_t>(WhyNotRdma::kTimedOut)]};
}

TEST(LinkUpgradeTest, NoByteIsLostWhenGenerationsBreakUnderLoad) {
  Totals totals;
  for (uint64_t seed = 1; seed <= SeedsHere(200); ++seed) {
    LinkVariant variant = LinkVariant::Of(seed);
    Flap(variant);
    variant.fabric.network.reset = 0.02;
    variant.fabric.refuse = 0.1;
    variant.fabric.no_capacity = 0.1;
    const Totals of_seed = RunLoad(seed, variant);
    totals.upgrades += of_seed.upgrades;
    totals.broken += of_seed.broken;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(totals.broken, SeedsHere(200) * 5) << "what was to be tried was tried";
  EXPECT_GT(totals.upgrades, totals.broken / 2);
}

TEST(LinkUpgradeTest, NoByteIsLostWhenGenerationsFallSilentUnderLoad) {
  Totals totals;
  for (uint64_t seed = 1; seed <= SeedsHere(200); ++seed) {
    LinkVariant variant = LinkVariant::Of(seed);
    Flap(variant);
    variant.fabric.network.mute = 0.01;
    variant.fabric.unanswered = 0.1;
    variant.fabric.no_offer = 0.1;
    const Totals of_seed = RunLoad(seed, variant);
    totals.upgrades += of_seed.upgrades;
    totals.broken += of_seed.broken;
    totals.timed_out += of_seed.timed_out;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(totals.broken, SeedsHere(200) / 2) << "what was to be tried was tried";
  EXPECT_GE(totals.timed_out, SeedsHere(200) / 15);
}

// Its queue pair and its TCP connection end in either order. Nothing travels over TCP then, so no
// line and no count say so.
TEST(LinkUpgradeTest, APeerThatEndsHasNotFallenBack) {
  for (uint64_t seed = 1; seed <= SeedsHere(100); ++seed) {
    const auto harness = Make(seed, LinkVariant::Of(seed));
    ConformanceRun run(*harness);
    auto duo = run.Connect();
    ASSERT_NE(duo, nullptr);
    ASSERT_TRUE(harness->Until([&] { return OnRdma(duo->client) && OnRdma(duo->server); }));
    TestPeer& ends = seed % 2 == 0 ? duo->client : duo->server;
    TestPeer& stays = seed % 2 == 0 ? duo->server : duo->client;
    duo->client.Send(run.random.Size(size_t{64} << 10));
    ends.Destroy();
    ASSERT_TRUE(harness->Until([&] { return stays.over(); })) << "seed " << seed;
    for (const uint64_t fallbacks : harness->record().counts().fallbacks) {
      EXPECT_EQ(fallbacks, 0u) << "seed " << seed;
    }
    ExpectClean(*harness, run, std::move(duo));
    if (HasFailure()) return;
  }
}

// A server that reads nothing while its backlog is above the mark, as sessions do, hears of its
// fall, whatever breaks meanwhile and is sent again.
TEST(LinkUpgradeTest, ABacklogDrainsThroughGenerationsThatBreak) {
  uint64_t pauses = 0;
  for (uint64_t seed = 1; seed <= SeedsHere(200); ++seed) {
    LinkVariant variant = LinkVariant::Of(seed);
    Flap(variant);
    variant.fabric.network.reset = 0.02;
    const auto harness = Make(seed, variant);
    ConformanceRun run(*harness);
    ConformanceRun::Setup setup;
    setup.server.high_water = size_t{8} << 10;
    setup.server.low_water = size_t{2} << 10;
    setup.prepare = [&](Duo& duo) {
      duo.server.on_read = [&](TestPeer& server) {
        if (server.backlog() <= setup.server.high_water) return;
        ++pauses;
        server.Pause();
      };
      duo.server.on_drained = [](TestPeer& server) { server.Resume(); };
    };
    auto duo = run.Connect(setup);
    ASSERT_NE(duo, nullptr);
    for (int i = 0; i < 60; ++i) {
      duo->client.Send(run.random.Size(5000));
      // A byte more than the mark. What a reader that has paused does not acknowledge is sent
      // again.
      const size_t backlog = duo->server.backlog();
      if (backlog <= setup.server.high_water) {
        duo->server.Send(setup.server.high_water - backlog + 1);
      }
      if (i % 8 == 0) duo->client.Pause();
      harness->Settle();
      if (i % 8 == 6) duo->client.Resume();
    }
    duo->client.Resume();
    ASSERT_TRUE(harness->Until([&] { return AllArrived(*duo); })) << "seed " << seed;
    ExpectClean(*harness, run, std::move(duo));
    if (HasFailure()) return;
  }
  EXPECT_GT(pauses, SeedsHere(200) / 10) << "what was to be tried was tried";
}

// The way back up: what breaks is replaced once the fabric works.
TEST(LinkUpgradeTest, ComesBackWhenTheFabricHeals) {
  for (uint64_t seed = 1; seed <= SeedsHere(100); ++seed) {
    LinkVariant variant = LinkVariant::Of(seed);
    Flap(variant);
    variant.fabric.network.reset = 0.05;
    variant.fabric.network.mute = 0.02;
    variant.fabric.unanswered = variant.fabric.no_offer = variant.fabric.refuse = 0.2;
    const auto harness = Make(seed, variant);
    ConformanceRun run(*harness);
    auto duo = run.Connect();
    ASSERT_NE(duo, nullptr);
    for (int i = 0; i < 20; ++i) {
      duo->client.Send(20000);
      duo->server.Send(20000);
      harness->Settle();
    }
    harness->fabric().Heal();
    ASSERT_TRUE(harness->Until([&] {
      // A generation that is cut is noticed only when something is sent.
      duo->client.Send(1);
      duo->server.Send(1);
      harness->Settle();
      return AllArrived(*duo) && OnRdma(duo->client) && OnRdma(duo->server);
    })) << "seed "
        << seed;
    ExpectClean(*harness, run, std::move(duo));
  }
}

TEST(LinkUpgradeTest, InfoVersionCountsTheSwitches) {
  LinkVariant variant = LinkVariant::Of(3);
  Flap(variant);
  variant.fabric.network.reset = 0.05;
  const auto harness = Make(3, variant);
  ConformanceRun run(*harness);
  uint64_t version = 0;
  TransportKind kind = TransportKind::kTcp;
  WhyNotRdma why = WhyNotRdma::kNotAsked;
  int switches = 0;
  auto duo = run.Connect();
  ASSERT_NE(duo, nullptr);
  for (int i = 0; i < 300; ++i) {
    duo->client.Send(3000);
    harness->Settle();
    const ConnectionInfo info = duo->client.info();
    const uint64_t now = duo->client.info_version();
    EXPECT_GE(now, version);
    if (now == version) {
      EXPECT_EQ(info.transport, kind);
      EXPECT_EQ(info.why_not_rdma, why);
    } else {
      ++switches;
    }
    version = now;
    kind = info.transport;
    why = info.why_not_rdma;
  }
  EXPECT_GT(switches, 10);
  EXPECT_LT(switches, 300) << "it stands still meanwhile";
  ExpectClean(*harness, run, std::move(duo));
}

// Either end dies at any time, in whatever state the link is; the other hears of it, and
// nothing leaks.
TEST(LinkUpgradeTest, DeathAtAnyTime) {
  for (uint64_t seed = 1; seed <= SeedsHere(200); ++seed) {
    LinkVariant variant = LinkVariant::Of(seed);
    Flap(variant);
    variant.fabric.network.reset = 0.02;
    const auto harness = Make(seed, variant);
    ConformanceRun run(*harness);
    auto duo = run.Connect();
    ASSERT_NE(duo, nullptr);
    int left = static_cast<int>(run.random.Below(40));
    duo->client.Send(run.random.Size(100000));
    duo->server.Send(run.random.Size(100000));
    // A task or a packet at a time, not whole milliseconds.
    harness->Until([&] { return left-- <= 0; });
    TestPeer& dies = run.random.Chance(0.5) ? duo->client : duo->server;
    TestPeer& lives = &dies == &duo->client ? duo->server : duo->client;
    dies.Destroy();
    ASSERT_TRUE(harness->Until([&] { return lives.over(); })) << "seed " << seed;
    EXPECT_TRUE(absl::IsUnavailable(lives.seen().why)) << lives.seen().why;
    ExpectClean(*harness, run, std::move(duo));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace farcall
