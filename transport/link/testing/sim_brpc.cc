// SPDX-License-Identifier: Apache-2.0

#include "transport/link/testing/sim_brpc.h"

#include <atomic>
#include <utility>

#include "transport/link/testing/sim_await.h"
#include "transport/why_not_rdma.h"

namespace farcall {

uint32_t SimBrpcPairs::Add(std::shared_ptr<One> one) {
  pairs_[++last_] = std::move(one);
  return last_;
}

std::shared_ptr<SimBrpcPairs::One> SimBrpcPairs::Find(uint32_t number) const {
  const auto found = pairs_.find(number);
  return found == pairs_.end() ? nullptr : found->second;
}

SimBrpcPair::SimBrpcPair(EventLoop& loop, SimFabric& fabric, BlockPool& pool, const BrpcWish& wish,
                         UpgradeTransport::OnBrpcEnd made)
    : loop_(loop),
      fabric_(fabric),
      pool_(pool),
      wish_(wish),
      random_(fabric.NextRandom()),
      number_(fabric.brpc.Add(own_)),
      timer_([this] { std::exchange(next_, nullptr)(); }) {
  own_->port = std::make_shared<SimPort>(loop, std::make_shared<std::atomic<bool>>(false));
  if (Fails(fabric.options().no_offer)) return;
  After([this, made = std::move(made)]() mutable {
    if (Fails(fabric_.options().no_capacity)) {
      return made(NotRdma(WhyNotRdma::kCapacity, "simulated"));
    }
    if (wish_.peer) Meet(*wish_.peer);
    made(BrpcEnd{.number = number_, .block_bytes = 8160, .send_slots = 16, .receive_slots = 16});
  });
}

SimBrpcPair::~SimBrpcPair() {
  loop_.CancelTimer(timer_);
  fabric_.brpc.Remove(number_);
}

void SimBrpcPair::Join(const BrpcEnd& peer, OnJoin done) {
  After([this, peer, done = std::move(done)]() mutable {
    if (Fails(fabric_.options().refuse)) return done(NotRdma(WhyNotRdma::kDeviceRefused, ""));
    Meet(peer);
    done(absl::OkStatus());
  });
}

void SimBrpcPair::Open(Transport::OnConnect done) {
  CheckOrder();
  own_->opened = true;
  After([this, done = std::move(done)]() mutable {
    const bool fails = connection_ == nullptr || Fails(fabric_.options().refuse);
    if (fails) return done(NotRdma(WhyNotRdma::kBroken, "simulated"));
    done(std::move(connection_));
  });
}

// Behind all that has come.
void SimBrpcPair::EndOfPeer() {
  SimPort::Send({SimPacket::Kind::kEnd, "", 0}, peer_port_, own_->port);
}

void SimBrpcPair::After(absl::AnyInvocable<void()> work) {
  next_ = std::move(work);
  loop_.SetTimer(timer_, loop_.now() + StepOf(fabric_, random_));
}

bool SimBrpcPair::Fails(double chance) { return !fabric_.healed() && random_.Chance(chance); }

void SimBrpcPair::Meet(const BrpcEnd& peer) {
  own_->joined = true;
  peer_ = peer.number;
  const auto other = fabric_.brpc.Find(peer_);
  // Without a peer, what is sent breaks the connection.
  peer_port_ = other != nullptr
                   ? other->port
                   : std::make_shared<SimPort>(loop_, std::make_shared<std::atomic<bool>>(false));
  SimOptions network = fabric_.NextNetwork();
  network.tells_ends = false;
  network.mute = 0;
  connection_ = std::make_unique<SimConnection>(
      SimConnection::Parts{own_->port, peer_port_, network, TestRandom(random_.Next()),
                           wish_.connection, wish_.local, Address::Ipv4({10, 9, 0, 1}, 1)},
      pool_);
}

void SimBrpcPair::CheckOrder() {
  std::string wrong;
  const auto peer = fabric_.brpc.Find(peer_);
  if (!own_->joined) wrong = "it opens without a peer";
  if (wish_.peer && peer != nullptr && !peer->joined) {
    wrong = "a server opens before the client is ready";
  }
  if (!wish_.peer && !fabric_.brpc.hasty_clients && peer != nullptr && !peer->opened) {
    wrong = "a client opens before the server has read its decision";
  }
  if (fabric_.brpc.breach.empty()) fabric_.brpc.breach = wrong;
}

}  // namespace farcall
