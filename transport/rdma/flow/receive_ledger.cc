// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/flow/receive_ledger.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/why_not_rdma.h"

namespace farcall {

ReceiveLedger::ReceiveLedger(uint32_t receive_slots, Use use, uint32_t for_untrusted)
    : receive_slots_(receive_slots), use_(use), for_untrusted_(for_untrusted) {
  Check(receive_slots >= kMinimum, "a member may be given the minimum");
}

absl::StatusOr<ReceiveLedger::Member> ReceiveLedger::Join(PeerTrust trust) {
  const bool untrusted = trust == PeerTrust::kUntrusted;
  if (untrusted && ForUntrusted() < kMinimum) {
    return NotRdma(WhyNotRdma::kCapacity,
                   absl::StrCat("connections without a good request so far have all the ",
                                for_untrusted_, " receives that are there for such"));
  }
  if (free() < kMinimum) {
    return NotRdma(
        WhyNotRdma::kCapacity,
        absl::StrCat("of ", posted_, " posted receives ", outstanding_, " are given to ", members(),
                     " connections, and ", free(), " of the others are free"));
  }
  if (vacant_.empty()) {
    vacant_.push_back(static_cast<Member>(members_.size()));
    members_.emplace_back();
  }
  const Member member = vacant_.back();
  vacant_.pop_back();
  State& state = members_[member];
  state = {.joined = true, .untrusted = untrusted};
  claimed_ += kMinimum;
  if (untrusted) untrusted_claimed_ += kMinimum;
  Give(state, kMinimum);
  return member;
}

void ReceiveLedger::Trust(Member member) {
  State& state = At(member);
  if (std::exchange(state.untrusted, false))
    untrusted_claimed_ -= std::max(state.outstanding, kMinimum);
}

void ReceiveLedger::Leave(Member member) {
  Trust(member);
  State& state = At(member);
  if (state.starved) starved_.erase(std::find(starved_.begin(), starved_.end(), member));
  claimed_ -= std::max(state.outstanding, kMinimum);
  outstanding_ -= state.outstanding;
  state = {};
  vacant_.push_back(member);
}

uint32_t ReceiveLedger::Doubt(Member member) {
  const uint32_t receives = std::min(At(member).outstanding, posted_);
  posted_ -= receives;
  doubted_ += receives;
  return receives;
}

void ReceiveLedger::Recount(uint32_t doubted, uint32_t lost) {
  // Some were found before.
  const uint32_t there = std::min(doubted_, doubted);
  doubted_ -= there;
  posted_ += there;
  posted_ -= std::min(posted_, lost);
}

void ReceiveLedger::OnPosted(uint32_t receives) { posted_ += receives; }

void ReceiveLedger::OnConsumed(Member member) {
  State& state = At(member);
  // A peer that sends without a credit finds those that are doubted.
  if (posted_ == 0 && doubted_ > 0) {
    --doubted_;
    ++posted_;
  }
  Check(posted_ > 0, "a receive that was used was posted");
  --posted_;
  // A peer that sends without a credit takes one of others; CreditFlow ends its connection.
  if (state.outstanding == 0) return;
  ++state.used;
  if (state.outstanding > kMinimum) {
    --claimed_;
    if (state.untrusted) --untrusted_claimed_;
  }
  --state.outstanding;
  --outstanding_;
}

uint32_t ReceiveLedger::Grant(Member member) {
  State& state = At(member);
  if (state.paused) return 0;
  const uint32_t entitled = Entitled(state);
  const uint32_t there = posted_ - std::min(posted_, outstanding_);
  const uint32_t given = std::min(there, entitled - std::min(entitled, state.outstanding));
  state.used -= std::min(state.used, (given + 1) / 2);
  Give(state, given);
  if (state.outstanding < kMinimum && !state.starved) {
    state.starved = true;
    starved_.push_back(member);
  }
  return given;
}

void ReceiveLedger::Pause(Member member) { At(member).paused = true; }

void ReceiveLedger::Resume(Member member) { At(member).paused = false; }

std::optional<ReceiveLedger::Member> ReceiveLedger::NextStarved() {
  while (!starved_.empty() && outstanding_ < posted_) {
    const Member member = starved_.front();
    starved_.pop_front();
    State& state = members_[member];
    state.starved = false;
    if (!state.paused && state.outstanding < kMinimum) return member;
  }
  return std::nullopt;
}

ReceiveLedger::State& ReceiveLedger::At(Member member) {
  Check(member < members_.size() && members_[member].joined, "a member has joined");
  return members_[member];
}

// How many receives the member may have in all.
uint32_t ReceiveLedger::Entitled(const State& state) const {
  const uint32_t base = std::max(state.outstanding, kMinimum);
  const uint32_t by_use = std::max(kMinimum, state.outstanding + 2 * state.used);
  if (use_ == Use::kSole) return std::min({receive_slots_, base + free(), by_use});
  const uint32_t spare = free() - std::min(free(), posted_ / 4);
  // What it has beyond the minimum may be as much as is spare after it was given more.
  const uint32_t beyond = base - kMinimum;
  uint32_t fair = spare > beyond ? (spare - beyond + 1) / 2 : 0;
  if (state.untrusted) fair = std::min(fair, ForUntrusted());
  return std::min({receive_slots_, base + fair, by_use});
}

void ReceiveLedger::Give(State& state, uint32_t receives) {
  const uint32_t before = std::max(state.outstanding, kMinimum);
  state.outstanding += receives;
  const uint32_t more = std::max(state.outstanding, kMinimum) - before;
  claimed_ += more;
  if (state.untrusted) untrusted_claimed_ += more;
  outstanding_ += receives;
}

}  // namespace farcall
