// SPDX-License-Identifier: Apache-2.0
//
// An UpgradeTransport without a device: its connections are those of the simulated
// network, and each step may fail. In virtual time, or on loops with threads.

#ifndef FARCALL_TRANSPORT_LINK_TESTING_SIM_UPGRADE_H_
#define FARCALL_TRANSPORT_LINK_TESTING_SIM_UPGRADE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "transport/buffer/block_pool.h"
#include "transport/link/testing/sim_brpc.h"
#include "transport/link_options.h"
#include "transport/testing/sim/sim_options.h"
#include "transport/testing/test_random.h"
#include "transport/upgrade.h"

namespace farcall {

// Chances are 0 to 1, of each attempt.
struct SimUpgradeOptions {
  SimOptions network;  // of the upgraded connections
  // SimOptions::rate of one after the other, in turns. Empty: that of `network`.
  std::vector<uint64_t> rates;
  double no_capacity = 0;  // Await is refused
  double no_offer = 0;     // Await is never answered
  double refuse = 0;       // ConnectToOffer is refused
  double unanswered = 0;   // ConnectToOffer gets no answer
  // OfferConnectOptions::apart: so many rails have ports of their own.
  size_t port_pairs = kMaxRails;
  // Each step takes up to so long; so does one end to be ready after the other.
  Duration max_step = std::chrono::milliseconds(1);
  // Addresses that are offered before the good one, and do not route.
  size_t dead_addresses = 0;
};

class SimAwait;
struct SimWatch;

// What the hosts of one simulated fabric share. Any thread.
class SimFabric {
 public:
  explicit SimFabric(const SimUpgradeOptions& options)
      : options_(options), random_(options.network.seed) {}

  const SimUpgradeOptions& options() const { return options_; }
  TestRandom NextRandom();
  // How the next connection is.
  SimOptions NextNetwork();
  // All failures end: from now on what is tried works. Connections stay as they are.
  void Heal() { healed_ = true; }
  bool healed() const { return healed_; }

  // Whoever awaits; each under its token.
  void Register(const UpgradePass& pass, EventLoop& loop, const std::weak_ptr<SimAwait*>& await);
  void Withdraw(const UpgradePass& pass);
  struct Entry {
    EventLoop* loop = nullptr;
    uint32_t generation = 0;
    std::weak_ptr<SimAwait*> await;  // to be locked with the loop held
  };
  // Takes it out; `loop` is null if no connection awaits it.
  Entry Take(const UpgradePass& pass);

  // Connections made, both ends ready; and tokens shown that no connection awaited.
  std::atomic<int> admitted{0};
  std::atomic<int> wrong_tokens{0};
  SimBrpcPairs brpc;

 private:
  const SimUpgradeOptions options_;
  std::atomic<bool> healed_{false};
  std::mutex mutex_;
  // Guarded by mutex_.
  TestRandom random_;
  size_t joined_ = 0;
  std::map<UpgradeToken, Entry> entries_;
};

// What an UpgradeTransport without queue pairs does.
std::unique_ptr<BrpcPair> RefuseBrpc(EventLoop& loop, UpgradeTransport::OnBrpcEnd made);

class SimUpgrade final : public UpgradeTransport {
 public:
  // `fabric` and `pool` outlive it. `available`: what Probe tells.
  SimUpgrade(SimFabric& fabric, BlockPool& pool, absl::Status available = absl::OkStatus())
      : fabric_(fabric), pool_(pool), available_(std::move(available)) {}

  void Probe(EventLoop& loop, OnAvailable done) override;
  std::unique_ptr<UpgradeTicket> ConnectToOffer(EventLoop& loop,
                                                std::vector<UpgradeAddress> addresses,
                                                const UpgradePass& pass,
                                                const OfferConnectOptions& options, SendSetUp,
                                                Transport::OnConnect done) override;
  std::unique_ptr<UpgradeTicket> Await(EventLoop& loop, const UpgradePass& pass,
                                       const ConnectionOptions& options, PeerTrust, SendSetUp,
                                       OnOffer offered, OnAdmit admitted) override;

  std::unique_ptr<UpgradeTicket> Watch(EventLoop& loop, OnCome come) override;
  std::unique_ptr<BrpcPair> MakeForBrpc(EventLoop& loop, const BrpcWish& wish,
                                        OnBrpcEnd made) override {
    return std::make_unique<SimBrpcPair>(loop, fabric_, pool_, wish, std::move(made));
  }
  // Something came: notifies those who watch.
  void Come();

  // Passes that connects were begun with, in their order.
  std::vector<UpgradePass> connects() const;

 private:
  SimFabric& fabric_;
  BlockPool& pool_;
  const absl::Status available_;
  mutable std::mutex mutex_;
  std::vector<UpgradePass> connects_;             // guarded by mutex_
  std::vector<std::weak_ptr<SimWatch>> watches_;  // guarded by mutex_
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_TESTING_SIM_UPGRADE_H_
