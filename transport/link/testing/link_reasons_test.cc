// SPDX-License-Identifier: Apache-2.0
//
// Why not RDMA: in info, counters, the log, and as errors where it is required.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "transport/link/link_transport.h"
#include "transport/link/testing/link_harness.h"
#include "transport/link/testing/raw_peer.h"
#include "transport/testing/conformance/conformance_run.h"
#include "transport/testing/sim/sim_harness.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

struct Case {
  const char* name;
  void (*change)(LinkVariant&);
  WhyNotRdma client;
  WhyNotRdma server;
  const char* detail;  // part of the reason that the client gets
};

void TryFor(LinkVariant& variant, Duration time) {
  variant.client.upgrade.answer = variant.client.upgrade.dial = time;
}

const Case kCases[] = {
    {"ServerOff", [](LinkVariant& variant) { variant.server.use_rdma = false; },
     WhyNotRdma::kPeerOff, WhyNotRdma::kNotAsked, ""},
    {"ServerHasNone",
     [](LinkVariant& variant) {
       variant.server_available = NotRdma(WhyNotRdma::kMemlock, "64 KiB allowed");
     },
     WhyNotRdma::kPeerHasNone, WhyNotRdma::kMemlock, "64 KiB allowed"},
    {"ClientHasNone",
     [](LinkVariant& variant) {
       variant.client_available = NotRdma(WhyNotRdma::kNoDevice, "nowhere");
     },
     WhyNotRdma::kNoDevice, WhyNotRdma::kPeerSilent, "nowhere"},
    {"NoCapacity", [](LinkVariant& variant) { variant.fabric.no_capacity = 1; },
     WhyNotRdma::kCapacity, WhyNotRdma::kCapacity, "simulated"},
    {"NoOffer",
     [](LinkVariant& variant) {
       variant.fabric.no_offer = 1;
       TryFor(variant, milliseconds(50));
     },
     WhyNotRdma::kTimedOut, WhyNotRdma::kPending, "did not answer"},
    {"Refused", [](LinkVariant& variant) { variant.fabric.refuse = 1; }, WhyNotRdma::kRejected,
     WhyNotRdma::kPending, "simulated"},
    {"Unanswered",
     [](LinkVariant& variant) {
       variant.fabric.unanswered = 1;
       TryFor(variant, milliseconds(50));
     },
     WhyNotRdma::kTimedOut, WhyNotRdma::kPending, "simulated"},
};

// Takes any number of connections.
class Server {
 public:
  explicit Server(LinkHarness& harness) : harness_(harness) {
    auto listener = harness.transport().Listen(
        harness.loops(), harness.FreeAddress(), ListenOptions(),
        [this](EventLoop& loop, std::unique_ptr<Connection> connection) {
          peers_.push_back(std::make_unique<TestPeer>(harness_, "server", 2, 1));
          peers_.back()->Adopt(loop, std::move(connection));
        });
    EXPECT_TRUE(listener.ok());
    listener_ = *std::move(listener);
  }

  absl::Status TryConnect(ConformanceRun& run, const ConformanceRun::AdoptFn& adopt = nullptr) {
    ConnectOptions options;
    options.timeout = std::chrono::seconds(1);
    return run.TryConnect(listener_->address(), options, harness_.loops().at(0), adopt);
  }
  const std::vector<std::unique_ptr<TestPeer>>& peers() const { return peers_; }

 private:
  LinkHarness& harness_;
  std::unique_ptr<Listener> listener_;
  std::vector<std::unique_ptr<TestPeer>> peers_;
};

class LinkReasonsTest : public testing::TestWithParam<Case> {
 protected:
  static std::unique_ptr<LinkHarness> Make(bool require = false) {
    LinkVariant variant = LinkVariant::Of(5);
    GetParam().change(variant);
    variant.client.require_rdma = require;
    return std::make_unique<LinkHarness>(std::make_unique<SimHarness>(5), variant);
  }
};

TEST_P(LinkReasonsTest, AreToldCountedAndLoggedOnce) {
  const auto harness = Make();
  ConformanceRun run(*harness);
  for (int i = 0; i < 3; ++i) {
    const auto duo = run.Connect();
    ASSERT_NE(duo, nullptr);
    duo->client.Send(1000);
    ASSERT_TRUE(harness->Until([&] {
      return duo->server.seen().received == 1000 &&
             duo->client.info().why_not_rdma == GetParam().client;
    })) << Name(duo->client.info().why_not_rdma);
    EXPECT_TRUE(absl::StrContains(duo->client.info().why_detail, GetParam().detail))
        << duo->client.info().why_detail;
    EXPECT_EQ(Name(duo->server.info().why_not_rdma), Name(GetParam().server));
    EXPECT_EQ(duo->client.info().transport, TransportKind::kSimulated);
    EXPECT_EQ(duo->client.info().bytes_written, 1000u);
  }
  const UpgradeCounts counts = harness->record().counts();
  EXPECT_GE(counts.fallbacks[static_cast<size_t>(GetParam().client)], 3u);
  EXPECT_EQ(counts.upgrades, 0u);
  // Three connections, to three ports; the clients of a server are one to it.
  for (const std::string& line : harness->log()) {
    EXPECT_TRUE(absl::StrContains(line, "10.0.0.1:")) << line;
  }
  EXPECT_TRUE(absl::StrContains(absl::StrJoin(harness->log(), "\n"), Explain(GetParam().client)));
  EXPECT_LE(harness->log().size(), 6u) << absl::StrJoin(harness->log(), "\n");
}

TEST_P(LinkReasonsTest, AreErrorsWhereItIsRequired) {
  const auto harness = Make(/*require=*/true);
  ConformanceRun run(*harness);
  Server server(*harness);
  const absl::Status status = server.TryConnect(run);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(Name(ReasonOf(status)), Name(GetParam().client)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), Explain(GetParam().client))) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "10.0.0.1:")) << status;
  EXPECT_TRUE(run.violations().empty()) << run.violations()[0];
}

INSTANTIATE_TEST_SUITE_P(All, LinkReasonsTest, testing::ValuesIn(kCases),
                         [](const auto& one) { return one.param.name; });

uint64_t MissedPeers(LinkHarness& harness) {
  return harness.record().counts().fallbacks[static_cast<size_t>(WhyNotRdma::kPeerSilent)];
}

// A browser, a probe or a scanner could not have asked for RDMA, and is no cause for alarm.
TEST(LinkPeerSilentTest, OnlyPeersThatCouldHaveSaidHelloAreCounted) {
  LinkHarness harness(std::make_unique<SimHarness>(3), LinkVariant::Of(3));
  UpgradeOptions options;
  options.counted_opening = "PRPC";
  LinkTransport counting(harness.tcp(), nullptr, harness.record(), options);
  RawServer server(harness, counting, [](RawPeer& peer) {
    peer.on_read = [](RawPeer& self) { self.Send(std::exchange(self.received, "")); };
  });
  const auto say = [&](absl::string_view opening) {
    const auto client = RawPeer::Connect(harness, harness.tcp(), server.address());
    client->Send(opening);
    EXPECT_TRUE(harness.Until([&] { return client->received == opening; })) << opening;
  };
  for (const absl::string_view opening : {"GET /health HTTP/1.1\r\n\r\n", "POST / HTTP/1.1\r\n",
                                          "PRPX", "P", "PRP", "\x16\x03\x01"}) {
    say(opening);
    EXPECT_EQ(MissedPeers(harness), 0u) << opening;
  }
  say("PRPC");
  EXPECT_EQ(MissedPeers(harness), 1u);
  say("PRPC-call");
  EXPECT_EQ(MissedPeers(harness), 2u);
  EXPECT_TRUE(harness.log().empty()) << absl::StrJoin(harness.log(), "\n");
}

// The reason is what can be cured here, not that the peer could not do it either.
TEST(LinkPeerSilentTest, WhatThisHostLacksIsToldFirst) {
  LinkVariant variant = LinkVariant::Of(4);
  variant.client_available = NotRdma(WhyNotRdma::kNoDevice, "nowhere");
  LinkHarness harness(std::make_unique<SimHarness>(4), variant);
  ConformanceRun run(harness);
  const RawServer server(harness, harness.tcp(), [](RawPeer&) {});
  EventLoop& loop = harness.loops().at(0);
  const TimePoint now = loop.clock().Now();
  harness.record().RememberSilent(server.address().ToString(), now, now + std::chrono::hours(1));
  ConnectionInfo info;
  const absl::Status connected =
      run.TryConnect(server.address(), ConnectOptions(), loop,
                     [&](std::unique_ptr<Connection> connection) { info = connection->info(); });
  ASSERT_TRUE(connected.ok()) << connected;
  EXPECT_EQ(Name(info.why_not_rdma), Name(WhyNotRdma::kNoDevice));
  EXPECT_EQ(info.why_detail, "nowhere");
}

TEST(LinkRequiredTest, IsHandedOverOnRdma) {
  LinkVariant variant = LinkVariant::Of(2);
  variant.client.require_rdma = true;
  LinkHarness harness(std::make_unique<SimHarness>(2), variant);
  ConformanceRun run(harness);
  Server server(harness);
  std::optional<ConnectionInfo> info;
  const absl::Status status = server.TryConnect(
      run, [&](std::unique_ptr<Connection> connection) { info = connection->info(); });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(info->transport, TransportKind::kRdma);
}

TEST(LinkRequiredTest, FallingBackClosesWithTheReason) {
  for (const bool at_client : {true, false}) {
    LinkVariant variant = LinkVariant::Of(2);
    (at_client ? variant.client : variant.server).require_rdma = true;
    variant.fabric.network.reset = 0.05;
    LinkHarness harness(std::make_unique<SimHarness>(2), variant);
    ConformanceRun run(harness);
    const auto duo = run.Connect();
    ASSERT_NE(duo, nullptr);
    TestPeer& requires_it = at_client ? duo->client : duo->server;
    ASSERT_TRUE(harness.Until([&] {
      duo->client.Send(10000);
      harness.Settle();
      return requires_it.over();
    }));
    EXPECT_EQ(Name(ReasonOf(requires_it.seen().why)), "broken") << requires_it.seen().why;
    EXPECT_TRUE(harness.Until([&] { return duo->client.over() && duo->server.over(); }));
    EXPECT_NE(absl::StrJoin(harness.log(), "\n").find("RDMA is required and was lost"),
              std::string::npos)
        << absl::StrJoin(harness.log(), "\n");
  }
}

// Nothing reaches the handler before; what was sent by TCP waits for it.
TEST(LinkRequiredTest, AServerReadsNothingBeforeItIsOnRdma) {
  LinkVariant variant = LinkVariant::Of(2);
  variant.server.require_rdma = true;
  variant.fabric.max_step = milliseconds(100);
  LinkHarness harness(std::make_unique<SimHarness>(2), variant);
  ConformanceRun run(harness);
  ConformanceRun::Setup setup;
  bool early = false;
  setup.prepare = [&](Duo& duo) {
    duo.server.on_read = [&](TestPeer& server) {
      early |= server.info().transport != TransportKind::kRdma;
    };
  };
  const auto duo = run.Connect(setup);
  ASSERT_NE(duo, nullptr);
  duo->client.Send(100000);
  EXPECT_TRUE(harness.Until([&] { return duo->server.seen().received == 100000; }));
  EXPECT_FALSE(early);
}

TEST(LinkRequiredTest, AServerClosesWhatIsNotUpgraded) {
  struct Want {
    const char* reason;
    void (*change)(LinkVariant&);
  };
  for (const Want& want : {
           Want{"capacity", [](LinkVariant& variant) { variant.fabric.no_capacity = 1; }},
           Want{"timed_out", [](LinkVariant& variant) { variant.fabric.no_offer = 1; }},
           Want{"peer_silent", [](LinkVariant& variant) { variant.client.use_rdma = false; }},
       }) {
    LinkVariant variant = LinkVariant::Of(2);
    variant.server.require_rdma = true;
    want.change(variant);
    LinkHarness harness(std::make_unique<SimHarness>(2), variant);
    ConformanceRun run(harness);
    const auto duo = run.Connect();
    ASSERT_NE(duo, nullptr);
    duo->client.Send(1000);
    ASSERT_TRUE(harness.Until([&] { return duo->server.over() && duo->client.over(); }));
    EXPECT_EQ(Name(ReasonOf(duo->server.seen().why)), want.reason) << duo->server.seen().why;
    EXPECT_EQ(duo->server.seen().received, 0u);
  }
}

// Neither end writes: the connection is not kept for ever either.
TEST(LinkRequiredTest, AServerClosesASilentConnection) {
  LinkVariant variant = LinkVariant::Of(2);
  variant.server.require_rdma = true;
  variant.client.use_rdma = false;
  LinkHarness harness(std::make_unique<SimHarness>(2), variant);
  ConformanceRun run(harness);
  const auto duo = run.Connect();
  ASSERT_NE(duo, nullptr);
  ASSERT_TRUE(harness.Until([&] { return duo->server.over() && duo->client.over(); }));
  EXPECT_EQ(Name(ReasonOf(duo->server.seen().why)), "timed_out") << duo->server.seen().why;
}

}  // namespace
}  // namespace farcall
