// SPDX-License-Identifier: Apache-2.0

#include "transport/link/testing/sim_upgrade.h"

#include <utility>

#include "transport/link/testing/sim_await.h"
#include "transport/loop/event_loop.h"

namespace farcall {

TestRandom SimFabric::NextRandom() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return TestRandom(random_.Next());
}

SimOptions SimFabric::NextNetwork() {
  SimOptions network = options_.network;
  if (healed_) network.reset = network.mute = 0;
  if (options_.rates.empty()) return network;
  const std::lock_guard<std::mutex> lock(mutex_);
  network.rate = options_.rates[joined_++ % options_.rates.size()];
  return network;
}

void SimFabric::Register(const UpgradePass& pass, EventLoop& loop,
                         const std::weak_ptr<SimAwait*>& await) {
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_[pass.token] = Entry{&loop, pass.generation, await};
}

void SimFabric::Withdraw(const UpgradePass& pass) {
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_.erase(pass.token);
}

SimFabric::Entry SimFabric::Take(const UpgradePass& pass) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // Void at its first sight.
  auto found = entries_.extract(pass.token);
  if (found.empty() || found.mapped().generation != pass.generation) {
    ++wrong_tokens;
    return Entry();
  }
  return std::move(found.mapped());
}

void SimUpgrade::Probe(EventLoop& loop, OnAvailable done) {
  loop.Post([done = std::move(done), status = available_]() mutable { done(status); });
}

std::unique_ptr<UpgradeTicket> SimUpgrade::ConnectToOffer(EventLoop& loop,
                                                          std::vector<UpgradeAddress> addresses,
                                                          const UpgradePass& pass,
                                                          const OfferConnectOptions& options,
                                                          SendSetUp, Transport::OnConnect done) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    connects_.push_back(pass);
  }
  return std::make_unique<SimConnectAttempt>(loop, fabric_, pool_, std::move(addresses), pass,
                                             options, std::move(done));
}

std::unique_ptr<UpgradeTicket> SimUpgrade::Await(EventLoop& loop, const UpgradePass& pass,
                                                 const ConnectionOptions& options, PeerTrust,
                                                 SendSetUp, OnOffer offered, OnAdmit admitted) {
  return std::make_unique<SimAwait>(loop, fabric_, pool_, pass, options, std::move(offered),
                                    std::move(admitted));
}

std::unique_ptr<UpgradeTicket> SimUpgrade::Watch(EventLoop& loop, OnCome come) {
  auto watch = std::make_shared<SimWatch>(SimWatch{loop, std::move(come)});
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(watches_, [](const auto& weak) { return weak.expired(); });
  watches_.push_back(watch);
  return std::make_unique<SimWatchTicket>(std::move(watch));
}

void SimUpgrade::Come() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& weak : watches_) {
    if (const auto watch = weak.lock()) {
      watch->loop.Post([weak] {
        if (const auto alive = weak.lock()) alive->come();
      });
    }
  }
}

std::vector<UpgradePass> SimUpgrade::connects() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return connects_;
}

namespace {

class NoBrpcPair final : public BrpcPair {
 public:
  explicit NoBrpcPair(UpgradeTransport::OnBrpcEnd made)
      : made_(std::make_shared<UpgradeTransport::OnBrpcEnd>(std::move(made))) {}
  void Refuse(EventLoop& loop) {
    loop.Post([weak = std::weak_ptr(made_)] {
      if (const auto made = weak.lock()) (*made)(NotRdma(WhyNotRdma::kNoDevice, ""));
    });
  }
  void Join(const BrpcEnd&, OnJoin) override {}
  void Open(Transport::OnConnect) override {}
  void EndOfPeer() override {}

 private:
  const std::shared_ptr<UpgradeTransport::OnBrpcEnd> made_;
};

}  // namespace

std::unique_ptr<BrpcPair> RefuseBrpc(EventLoop& loop, UpgradeTransport::OnBrpcEnd made) {
  auto pair = std::make_unique<NoBrpcPair>(std::move(made));
  pair->Refuse(loop);
  return pair;
}

}  // namespace farcall
