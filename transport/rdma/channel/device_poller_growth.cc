// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "transport/rdma/channel/device_poller.h"

namespace farcall {
namespace {

// Receives are added by so many: a region of the pool, by default.
constexpr uint32_t kStep = 128;

uint32_t RoundUp(uint32_t receives) { return (receives + kStep - 1) / kStep * kStep; }

}  // namespace

// After members joined, were given receives, or left. Half of the first number is kept for
// members to come: more than what connections that are being set up at once join with.
void DevicePoller::BalanceReceives() {
  if (!receives_) return;
  const uint32_t ahead = first_receives_ / 2;
  const uint32_t used = receives_->used();
  const uint32_t wanted = std::min(RoundUp(receives_->ledger().Wanted(ahead)), receives_->slots());
  if (wanted <= used) {
    // Far fewer than there were: a few more or less are not worth it.
    if (2 * wanted <= used) receives_->SetUsed(std::max(wanted, first_receives_));
    return;
  }
  if (asking_ || loop_.now() < ask_again_) return;
  if (wanted > receive_room_) {
    if (!room_.Take(wanted - receive_room_)) {
      ask_again_ = loop_.now() + kAskEvery;
      return;
    }
    receive_room_ = wanted;
  }
  asking_ = true;
  ask_(*this, wanted - used);
}

void DevicePoller::OnReceives(uint32_t more) {
  asking_ = false;
  if (more == 0 || !polling_) {
    ask_again_ = loop_.now() + kAskEvery;
    return;
  }
  receives_->SetUsed(std::min(receives_->used() + more, receives_->slots()));
  Replenish(*receives_);
  GrantStarved();
  BalanceReceives();
}

}  // namespace farcall
