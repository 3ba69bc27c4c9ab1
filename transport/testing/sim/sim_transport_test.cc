// SPDX-License-Identifier: Apache-2.0
//
// Many connections over bad networks, for many seeds: what arrives is what was
// sent, in order; every connection that can hear of its end does, once; and every
// block comes home.

#include "transport/testing/sim/sim_transport.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "transport/testing/conformance/conformance_run.h"
#include "transport/testing/seeds_here.h"
#include "transport/testing/sim/sim_harness.h"

namespace farcall {
namespace {

const uint64_t kSeeds = SeedsHere(200);
constexpr int kConnections = 3;

struct Faults {
  double reset = 0;
  double mute = 0;
  double refuse = 0;
  double unanswered = 0;
};

// Clients that send to a server which sends back as much, now and then paused, over a
// network with faults.
class Storm {
 public:
  Storm(uint64_t seed, const Faults& faults)
      : harness_(seed,
                 [&](SimOptions& options) {
                   options.reset = faults.reset;
                   options.mute = faults.mute;
                   options.refuse = faults.refuse;
                   options.unanswered = faults.unanswered;
                   // So small that it fills up.
                   options.window /= 16;
                   options.max_packet /= 8;
                 }),
        run_(harness_) {
    auto listener = harness_.transport().Listen(
        harness_.loops(), harness_.FreeAddress(), ListenOptions(),
        [this](EventLoop& loop, std::unique_ptr<Connection> connection) {
          servers_.push_back(std::make_unique<TestPeer>(harness_, "server", 2, 1));
          servers_.back()->on_read = [](TestPeer& server) { Answer(server); };
          servers_.back()->Adopt(loop, std::move(connection));
        });
    EXPECT_TRUE(listener.ok());
    listener_ = *std::move(listener);
  }

  void ConnectAll() {
    for (int i = 0; i < kConnections; ++i) {
      EventLoop& loop = harness_.loops().Next();
      auto client = std::make_unique<TestPeer>(harness_, "client", 1, 2);
      const absl::Status connected = run_.TryConnect(listener_->address(), ConnectOptions(), loop,
                                                     [&](std::unique_ptr<Connection> connection) {
                                                       client->Adopt(loop, std::move(connection));
                                                     });
      if (connected.ok()) clients_.push_back(std::move(client));
    }
  }

  void Exchange() {
    for (int round = 0; round < 8; ++round) {
      for (const auto& client : clients_) {
        if (run_.random.Chance(0.7)) client->Send(run_.random.Size(size_t{12} << 10));
      }
      for (const auto& server : servers_) {
        run_.random.Chance(0.2) ? server->Pause() : server->Resume();
      }
      harness_.Settle();
    }
    for (const auto& server : servers_) server->Resume();
  }

  bool AllArrived() const {
    for (const auto& client : clients_) {
      if (client->seen().received != client->sent()) return false;
    }
    return true;
  }
  bool UntilAllArrived() {
    return harness_.Until([&] { return AllArrived(); });
  }

  // Whatever the network does, Close(kFlush) ends in time.
  void CloseAll() {
    for (const auto& client : clients_) {
      client->Close(absl::CancelledError("over"), CloseMode::kFlush);
    }
    run_.Until("clients end", [&] { return AllOver(clients_); });
    for (const auto& server : servers_) {
      server->Close(absl::CancelledError("over"), CloseMode::kAbort);
    }
    run_.Until("servers end", [&] { return AllOver(servers_); });
    run_.Until("blocks come home", [&] { return harness_.pool().stats().used_bytes == 0; });
    for (const auto& client : clients_) run_.Note(client->violations());
    for (const auto& server : servers_) run_.Note(server->violations());
  }

  size_t clients() const { return clients_.size(); }
  const std::vector<std::string>& violations() const { return run_.violations(); }
  // What happened, to compare two runs.
  std::string Trace() {
    std::string trace;
    for (const auto& peers : {&clients_, &servers_}) {
      for (const auto& peer : *peers) {
        const TestPeer::Seen seen = peer->seen();
        trace += std::to_string(seen.received) + "/" + std::to_string(seen.reads) + " ";
      }
    }
    return trace;
  }

 private:
  using Peers = std::vector<std::unique_ptr<TestPeer>>;

  static void Answer(TestPeer& server) {
    server.Send(static_cast<size_t>(server.seen().received - server.sent()));
  }
  static bool AllOver(const Peers& peers) {
    for (const auto& peer : peers) {
      if (!peer->over()) return false;
    }
    return true;
  }

  SimHarness harness_;
  ConformanceRun run_;
  std::unique_ptr<Listener> listener_;
  Peers clients_;
  Peers servers_;
};

void Weather(const Faults& faults, bool all_must_arrive) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Storm storm(seed, faults);
    storm.ConnectAll();
    storm.Exchange();
    if (all_must_arrive) {
      ASSERT_TRUE(storm.UntilAllArrived()) << "seed " << seed;
      ASSERT_EQ(storm.clients(), size_t{kConnections}) << "seed " << seed;
    }
    storm.CloseAll();
    ASSERT_TRUE(storm.violations().empty()) << "seed " << seed << ": " << storm.violations()[0];
  }
}

TEST(SimTransportTest, EverythingArrivesInFairWeather) { Weather(Faults(), true); }

TEST(SimTransportTest, ResetsEndConnectionsAndNothingElse) {
  Weather({.reset = 0.02, .refuse = 0.1}, false);
}

TEST(SimTransportTest, SilenceIsSurvived) { Weather({.mute = 0.02, .unanswered = 0.1}, false); }

TEST(SimTransportTest, AllFaultsTogether) {
  Weather({.reset = 0.01, .mute = 0.01, .refuse = 0.05, .unanswered = 0.05}, false);
}

TEST(SimTransportTest, OneSeedIsOneRun) {
  const Faults faults{.reset = 0.01, .mute = 0.01};
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    std::string traces[2];
    for (std::string& trace : traces) {
      Storm storm(seed, faults);
      storm.ConnectAll();
      storm.Exchange();
      storm.CloseAll();
      trace = storm.Trace();
    }
    EXPECT_EQ(traces[0], traces[1]);
  }
}

}  // namespace
}  // namespace farcall
