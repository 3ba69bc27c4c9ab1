// SPDX-License-Identifier: Apache-2.0

#include "transport/link/testing/sim_await.h"

#include <utility>

#include "transport/testing/sim/sim_port.h"

namespace farcall {
namespace {

const Address kGood = Address::Ipv4({10, 9, 0, 1}, 4791);

}  // namespace

Duration StepOf(const SimFabric& fabric, TestRandom& random) {
  const auto most = static_cast<uint64_t>(fabric.options().max_step.count());
  return Duration(random.Below(most + 1));
}

SimAwait::SimAwait(EventLoop& loop, SimFabric& fabric, BlockPool& pool, const UpgradePass& pass,
                   const ConnectionOptions& options, UpgradeTransport::OnOffer offered,
                   UpgradeTransport::OnAdmit admitted)
    : loop_(loop),
      fabric_(fabric),
      pool_(pool),
      pass_(pass),
      options_(options),
      offered_(std::move(offered)),
      admitted_(std::move(admitted)),
      random_(fabric.NextRandom()),
      timer_([this] { OnTime(); }) {
  if (!fabric_.healed() && random_.Chance(fabric_.options().no_offer)) return;
  loop_.SetTimer(timer_, loop_.now() + StepOf(fabric_, random_));
}

SimAwait::~SimAwait() {
  loop_.CancelTimer(timer_);
  fabric_.Withdraw(pass_);
}

void SimAwait::OnTime() {
  if (offered_ == nullptr) {
    ++fabric_.admitted;
    return admitted_(std::move(connection_));
  }
  const auto offered = std::exchange(offered_, nullptr);
  auto call = [&](absl::StatusOr<std::vector<UpgradeAddress>> offer) mutable {
    const_cast<UpgradeTransport::OnOffer&>(offered)(std::move(offer));
  };
  if (!fabric_.healed() && random_.Chance(fabric_.options().no_capacity)) {
    return call(NotRdma(WhyNotRdma::kCapacity, "simulated"));
  }
  fabric_.Register(pass_, loop_, alive_);
  std::vector<UpgradeAddress> addresses;
  for (size_t i = 0; i < fabric_.options().dead_addresses; ++i) {
    addresses.push_back(
        {Address::Ipv4({10, 9, 1, static_cast<uint8_t>(i)}, 4791), "sim0", LinkLayer::kIwarp});
  }
  addresses.push_back({kGood, "sim1", LinkLayer::kRoce});
  call(std::move(addresses));
}

void SimAwait::Admit(std::unique_ptr<Connection> connection) {
  connection_ = std::move(connection);
  loop_.SetTimer(timer_, loop_.now() + StepOf(fabric_, random_));
}

SimConnectAttempt::SimConnectAttempt(EventLoop& loop, SimFabric& fabric, BlockPool& pool,
                                     std::vector<UpgradeAddress> addresses, const UpgradePass& pass,
                                     const OfferConnectOptions& options, Transport::OnConnect done)
    : loop_(loop),
      fabric_(fabric),
      pool_(pool),
      addresses_(std::move(addresses)),
      pass_(pass),
      options_(options),
      deadline_(loop.now() + options.timeout),
      done_(std::move(done)),
      random_(fabric.NextRandom()),
      timer_([this] { OnTime(); }) {
  unanswered_ = !fabric_.healed() && random_.Chance(fabric_.options().unanswered);
  loop_.SetTimer(timer_, unanswered_ ? deadline_ : loop_.now() + StepOf(fabric_, random_));
}

SimConnectAttempt::~SimConnectAttempt() { loop_.CancelTimer(timer_); }

void SimConnectAttempt::OnTime() {
  if (connection_ != nullptr) return Finish(std::move(connection_));
  if (unanswered_ || loop_.now() >= deadline_) {
    return Finish(NotRdma(WhyNotRdma::kTimedOut, "simulated"));
  }
  if (tried_ == addresses_.size()) return Finish(NotRdma(WhyNotRdma::kUnreachable, "simulated"));
  if (options_.apart && options_.rails.size() >= fabric_.options().port_pairs) {
    return Finish(absl::AlreadyExistsError("simulated"));
  }
  const Address peer = addresses_[tried_++].address;
  if (peer == kGood) {
    if (!fabric_.healed() && random_.Chance(fabric_.options().refuse)) {
      return Finish(NotRdma(WhyNotRdma::kRejected, "simulated"));
    }
    SimFabric::Entry entry = fabric_.Take(pass_);
    if (entry.loop == nullptr) return Finish(NotRdma(WhyNotRdma::kRejected, "wrong token"));
    Join(std::move(entry), peer);
  }
  loop_.SetTimer(timer_, loop_.now() + StepOf(fabric_, random_));
}

// This end is made here and now, and handed over later; the other by a posted task.
void SimConnectAttempt::Join(SimFabric::Entry entry, const Address& peer) {
  const auto cut = std::make_shared<std::atomic<bool>>(false);
  const auto mine = std::make_shared<SimPort>(loop_, cut);
  const auto other = std::make_shared<SimPort>(*entry.loop, cut);
  const Address here = Address::Ipv4({10, 9, 2, 1}, 1);
  const SimOptions network = fabric_.NextNetwork();
  SimConnection::Parts theirs{other, mine, network, TestRandom(random_.Next()), {}, peer, here};
  entry.loop->Post([await = entry.await, parts = std::move(theirs)]() mutable {
    const auto alive = await.lock();
    if (alive == nullptr) return;
    SimAwait& ticket = **alive;
    parts.options = ticket.options();
    ticket.Admit(std::make_unique<SimConnection>(std::move(parts), ticket.pool()));
  });
  connection_ = std::make_unique<SimConnection>(
      SimConnection::Parts{mine, other, network, TestRandom(random_.Next()), options_.connection,
                           here, peer},
      pool_);
}

void SimConnectAttempt::Finish(absl::StatusOr<std::unique_ptr<Connection>> result) {
  done_(std::move(result));
}

}  // namespace farcall
