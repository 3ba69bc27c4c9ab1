// SPDX-License-Identifier: Apache-2.0

#include "transport/link/upgrade/upgrade_record.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/base/event_ring.h"
#include "transport/link/upgrade/upgrade_options.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const TimePoint kStart = TimePoint(seconds(1000));

struct Logged {
  std::vector<std::string> lines;
  UpgradeRecord record{[this](absl::string_view line) { lines.emplace_back(line); }};
};

TEST(UpgradeRecordTest, CountsByReason) {
  Logged logged;
  logged.record.OnUpgrade("a");
  logged.record.OnFallback("a", NotRdma(WhyNotRdma::kPeerOff, ""));
  logged.record.OnFallback("a", NotRdma(WhyNotRdma::kPeerOff, ""));
  logged.record.CountFallback(absl::UnavailableError("reset"));
  const UpgradeCounts counts = logged.record.counts();
  EXPECT_EQ(counts.upgrades, 1u);
  EXPECT_EQ(counts.fallbacks[static_cast<size_t>(WhyNotRdma::kPeerOff)], 2u);
  EXPECT_EQ(counts.fallbacks[static_cast<size_t>(WhyNotRdma::kBroken)], 1u);
}

TEST(UpgradeRecordTest, LogsEachPeerAndReasonOnce) {
  Logged logged;
  for (int i = 0; i < 3; ++i) {
    logged.record.OnFallback("10.0.0.1:80", NotRdma(WhyNotRdma::kPeerOff, ""));
    logged.record.OnFallback("10.0.0.1:80", NotRdma(WhyNotRdma::kBroken, "cable"));
    logged.record.OnFallback("10.0.0.2:80", NotRdma(WhyNotRdma::kPeerOff, ""));
  }
  ASSERT_EQ(logged.lines.size(), 3u);
  EXPECT_TRUE(absl::StrContains(logged.lines[1], "10.0.0.1:80"));
  EXPECT_TRUE(absl::StrContains(logged.lines[1], Explain(WhyNotRdma::kBroken)));
  EXPECT_TRUE(absl::StrContains(logged.lines[1], "cable"));
}

TEST(UpgradeRecordTest, TellsOfRequiredRdmaThatIsLost) {
  EventRing events;
  std::vector<std::string> lines;
  UpgradeRecord record([&](absl::string_view line) { lines.emplace_back(line); }, &events);
  for (int i = 0; i < 2; ++i) {
    record.OnRequiredLost("10.0.0.1:80", NotRdma(WhyNotRdma::kBroken, "cable"));
  }
  ASSERT_EQ(events.events().size(), 1u);
  EXPECT_EQ(events.events()[0].times, 2u);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(absl::StrContains(lines[0], "10.0.0.1:80")) << lines[0];
  EXPECT_TRUE(absl::StrContains(lines[0], "cable")) << lines[0];
  EXPECT_EQ(record.counts().fallbacks[static_cast<size_t>(WhyNotRdma::kBroken)], 0u)
      << "no call travels over TCP";
}

TEST(UpgradeRecordTest, RemembersABoundedNumberOfPeers) {
  Logged logged;
  for (int i = 0; i < 5000; ++i) {
    const std::string peer = absl::StrCat("peer", i);
    logged.record.OnFallback(peer, NotRdma(WhyNotRdma::kPeerOff, ""));
    logged.record.RememberSilent(peer, kStart, kStart + seconds(60));
    EXPECT_TRUE(logged.record.KnownSilent(peer, kStart));
  }
  EXPECT_EQ(logged.lines.size(), 5000u);
  size_t known = 0;
  for (int i = 0; i < 5000; ++i) {
    known += logged.record.KnownSilent(absl::StrCat("peer", i), kStart) ? 1 : 0;
  }
  EXPECT_LE(known, UpgradeRecord::kMaxPeers);
  EXPECT_GE(known, UpgradeRecord::kMaxPeers / 2);
}

TEST(UpgradeRecordTest, WhoIsSilentOnceMoreDisplacesNobody) {
  Logged logged;
  const auto remember = [&logged](size_t i) {
    logged.record.RememberSilent(absl::StrCat("peer", i), kStart, kStart + seconds(60));
  };
  for (size_t i = 0; i < UpgradeRecord::kMaxPeers; ++i) remember(i);
  remember(7);
  for (size_t i = 0; i < UpgradeRecord::kMaxPeers; ++i) {
    ASSERT_TRUE(logged.record.KnownSilent(absl::StrCat("peer", i), kStart)) << i;
  }
}

TEST(UpgradeRecordTest, ForgetsSilentPeers) {
  Logged logged;
  logged.record.RememberSilent("a", kStart, kStart + seconds(60));
  EXPECT_TRUE(logged.record.KnownSilent("a", kStart + milliseconds(59'999)));
  EXPECT_FALSE(logged.record.KnownSilent("a", kStart + seconds(60)));
  EXPECT_FALSE(logged.record.KnownSilent("b", kStart));
}

TEST(UpgradeRecordTest, ForgetsWhoTookNoHelloOfBrpc) {
  Logged logged;
  logged.record.RememberNoBrpc("a", kStart, kStart + seconds(60));
  EXPECT_TRUE(logged.record.KnownNoBrpc("a", kStart + milliseconds(59'999)));
  EXPECT_FALSE(logged.record.KnownSilent("a", kStart)) << "which is another thing";
  EXPECT_FALSE(logged.record.KnownNoBrpc("a", kStart + seconds(60)));
  EXPECT_FALSE(logged.record.KnownNoBrpc("b", kStart));
  for (int i = 0; i < 3000; ++i) {
    logged.record.RememberNoBrpc(absl::StrCat("peer", i), kStart, kStart + seconds(60));
  }
  size_t known = 0;
  for (int i = 0; i < 3000; ++i) {
    known += logged.record.KnownNoBrpc(absl::StrCat("peer", i), kStart) ? 1 : 0;
  }
  EXPECT_LE(known, UpgradeRecord::kMaxPeers);
}

TEST(UpgradeRecordTest, APeerWithoutHelloIsRemembered) {
  Logged logged;
  EXPECT_FALSE(logged.record.KnownNoHello("a"));
  logged.record.RememberNoHello("a");
  EXPECT_TRUE(logged.record.KnownNoHello("a"));
  EXPECT_FALSE(logged.record.MayAnswer("a"));
  logged.record.RememberAnswering("a");
  EXPECT_FALSE(logged.record.KnownNoHello("a"));
}

TEST(UpgradeRecordTest, WhoAnswersIsNotSilentAnyMore) {
  Logged logged;
  EXPECT_FALSE(logged.record.KnownAnswering("a"));
  logged.record.RememberSilent("a", kStart, kStart + seconds(60));
  logged.record.RememberAnswering("a");
  EXPECT_TRUE(logged.record.KnownAnswering("a"));
  EXPECT_FALSE(logged.record.KnownSilent("a", kStart));
  logged.record.ForgetAnswering("a");
  EXPECT_FALSE(logged.record.KnownAnswering("a"));
}

TEST(UpgradeRecordTest, WhoAnswersOnceMoreDisplacesNobody) {
  Logged logged;
  for (size_t i = 0; i < UpgradeRecord::kMaxPeers; ++i) {
    logged.record.RememberAnswering(absl::StrCat("peer", i));
  }
  logged.record.RememberAnswering("peer7");
  EXPECT_TRUE(logged.record.KnownAnswering("peer8"));
  logged.record.RememberAnswering("another");
  EXPECT_TRUE(logged.record.KnownAnswering("another"));
  EXPECT_FALSE(logged.record.KnownAnswering("peer8")) << "its memory is bounded";
}

TEST(UpgradeRecordTest, WhoIsNamedOnceMoreDisplacesNobody) {
  Logged logged;
  const auto name = [&logged](const std::string& peer) {
    logged.record.RememberNoHello(peer);
    logged.record.OnFallback(peer, NotRdma(WhyNotRdma::kPeerOff, ""));
    logged.record.OnStall(peer, "it stands still");
  };
  for (size_t i = 0; i < UpgradeRecord::kMaxPeers; ++i) name(absl::StrCat("peer", i));
  const size_t lines = logged.lines.size();
  for (int i = 0; i < 3; ++i) name("peer7");
  name("peer8");
  EXPECT_EQ(logged.lines.size(), lines) << "each is logged once";
  EXPECT_TRUE(logged.record.KnownNoHello("peer9"));
}

TEST(UpgradeRecordTest, AStallIsLoggedOnceAndCountedWhileItLasts) {
  Logged logged;
  for (int i = 0; i < 3; ++i) logged.record.OnStall("a", "7 bytes wait for a");
  EXPECT_EQ(logged.record.counts().stalls, 3u);
  EXPECT_EQ(logged.record.counts().stalled, 3u);
  for (int i = 0; i < 3; ++i) logged.record.OnStallOver();
  EXPECT_EQ(logged.record.counts().stalls, 3u);
  EXPECT_EQ(logged.record.counts().stalled, 0u);
  EXPECT_EQ(logged.lines.size(), 1u);
}

TEST(UpgradeRecordTest, EventsTellEachTime) {
  EventRing events;
  UpgradeRecord record(nullptr, &events);
  record.OnUpgrade("10.0.0.1:80");
  for (int i = 0; i < 3; ++i) {
    record.OnFallback("10.0.0.1:80", NotRdma(WhyNotRdma::kBroken, "vendor error 0x8a"));
  }
  record.CountFallback(NotRdma(WhyNotRdma::kPeerSilent, ""));
  const std::vector<PastEvent> all = events.events();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].text, "10.0.0.1:80 went over to RDMA");
  EXPECT_TRUE(absl::StartsWith(all[1].text, "10.0.0.1:80 travels over TCP: broken: "));
  EXPECT_TRUE(absl::StrContains(all[1].text, "vendor error 0x8a"));
  EXPECT_EQ(all[1].times, 3u);
}

TEST(UpgradeRecordTest, WhoHasNotShownThatItKnowsNoHelloMayAnswerOne) {
  UpgradeRecord record(nullptr);
  EXPECT_TRUE(record.MayAnswer("a"));
  record.RememberNoHello("a");
  EXPECT_FALSE(record.MayAnswer("a"));
  EXPECT_TRUE(record.MayAnswer("b"));
  record.RememberAnswering("a");
  EXPECT_TRUE(record.KnownAnswering("a") && record.MayAnswer("a"));
  record.ForgetAnswering("a");
  record.RememberNoHello("a");
  EXPECT_FALSE(record.KnownAnswering("a"));
  EXPECT_TRUE(record.MayAnswer("a")) << "it was stopped, or replaced, amid a hello";
  size_t known = 0;
  for (size_t i = 0; i < 2 * UpgradeRecord::kMaxPeers; ++i) {
    record.RememberNoHello(std::to_string(i));
  }
  for (size_t i = 0; i < 2 * UpgradeRecord::kMaxPeers; ++i) {
    known += record.MayAnswer(std::to_string(i)) ? 0 : 1;
  }
  EXPECT_LE(known, UpgradeRecord::kMaxPeers) << "memory is bounded";
}

TEST(UpgradeRecordTest, NeedsNoLog) {
  UpgradeRecord record(nullptr);
  record.OnFallback("a", NotRdma(WhyNotRdma::kPeerOff, ""));
  EXPECT_EQ(record.counts().fallbacks[static_cast<size_t>(WhyNotRdma::kPeerOff)], 1u);
}

TEST(UpgradeOptionsTest, DefaultsAreValid) { EXPECT_TRUE(UpgradeOptions().Validate().ok()); }

TEST(UpgradeOptionsTest, WhatIsOutOfBoundsIsNamed) {
  struct Case {
    const char* name;
    void (*change)(UpgradeOptions&);
  };
  for (const Case& bad : {
           Case{"require_timeout", [](UpgradeOptions& o) { o.require_timeout = seconds(0); }},
           Case{"probe_timeout", [](UpgradeOptions& o) { o.probe_timeout = seconds(0); }},
           Case{"hello_timeout", [](UpgradeOptions& o) { o.hello_timeout = seconds(61); }},
           Case{"silent_peer_memory",
                [](UpgradeOptions& o) { o.silent_peer_memory = -seconds(1); }},
           Case{"sniff_timeout", [](UpgradeOptions& o) { o.sniff_timeout = Duration(1); }},
           Case{"first_pause", [](UpgradeOptions& o) { o.upgrade.first_pause = {}; }},
           Case{"longest_pause",
                [](UpgradeOptions& o) { o.upgrade.longest_pause = milliseconds(1); }},
           Case{"answer", [](UpgradeOptions& o) { o.upgrade.answer = {}; }},
           Case{"dial", [](UpgradeOptions& o) { o.upgrade.dial = {}; }},
           Case{"send_window", [](UpgradeOptions& o) { o.stream.send_window = 1; }},
       }) {
    UpgradeOptions options;
    bad.change(options);
    const absl::Status status = options.Validate();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << bad.name;
    EXPECT_TRUE(absl::StrContains(status.message(), bad.name)) << status;
  }
}

}  // namespace
}  // namespace farcall
