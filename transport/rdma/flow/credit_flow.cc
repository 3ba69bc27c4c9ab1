// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/flow/credit_flow.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

// What only a bare count may take, of credits and of slots.
constexpr uint32_t kReserve = 1;

absl::Status Between(absl::string_view name, uint32_t value, uint32_t most) {
  if (value >= CreditLimits::kMin && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", value, ", not ", CreditLimits::kMin, " to ", most));
}

// Whether count `a` is later than `b`; they are less than 2^31 apart.
bool Later(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) > 0; }

}  // namespace

absl::Status CreditLimits::Validate() const {
  absl::Status status = Between("send_slots", send_slots, kMax);
  status.Update(Between("receive_slots", receive_slots, kMax));
  status.Update(Between("peer_slots", peer_slots, kMax));
  status.Update(Between("initial_receives", initial_receives, receive_slots));
  status.Update(Between("initial_credits", initial_credits, peer_slots));
  return status;
}

CreditFlow::CreditFlow(const CreditLimits& limits)
    : limits_(limits),
      peer_count_(kFirstCount + limits.initial_credits),
      granted_(kFirstCount + limits.initial_receives),
      announced_(granted_) {
  Check(limits.Validate().ok(), "the limits of a connection are valid");
}

uint32_t CreditFlow::Budget() const {
  const uint32_t least = std::min(credits(), free_slots());
  return least > kReserve ? least - kReserve : 0;
}

SendPlan CreditFlow::Send(bool last) {
  const uint32_t budget = Budget();
  Check(budget > 0, "data is sent within the budget");
  // Nothing may follow for long once the budget is used up: that is the end of a batch too.
  const uint32_t quarter = limits_.send_slots / 4;
  return Plan(last || budget == 1 || sent_ + 1 - signaled_ >= quarter);
}

bool CreditFlow::HasUpdate(bool soon) const {
  const uint32_t known = announced_ - received_;  // what the peer may still have, at most
  const uint32_t enough = soon ? kMinUpdate : std::max(kMinUpdate, known);
  return unannounced() >= enough && credits() > 0 && free_slots() > 0;
}

bool CreditFlow::PeerStandsStill() const {
  return announced_ - received_ <= kReserve && unannounced() < kMinUpdate;
}

std::optional<SendPlan> CreditFlow::BareCount(bool soon) {
  if (!HasUpdate(soon)) return std::nullopt;
  return Plan(/*signaled=*/true);
}

SendPlan CreditFlow::Plan(bool signaled) {
  const SendPlan plan{.seq = sent_, .count = granted_, .signaled = signaled};
  ++sent_;
  if (signaled) signaled_ = sent_;
  announced_ = granted_;
  return plan;
}

uint32_t CreditFlow::OnCompleted(uint32_t seq) {
  if (Later(completed_, seq)) return 0;
  const uint32_t freed = seq + 1 - completed_;
  Check(freed <= unfinished(), "a completed message was sent");
  completed_ = seq + 1;
  return freed;
}

absl::Status CreditFlow::OnMessage(uint32_t count) {
  if (received_ == announced_) {
    return absl::InvalidArgumentError("the RDMA peer sent a message without a credit");
  }
  ++received_;
  if (count == peer_count_) return absl::OkStatus();
  if (!Later(count, peer_count_)) {
    return absl::InvalidArgumentError(absl::StrCat("the RDMA peer took back ", peer_count_ - count,
                                                   " of the receives that it gave"));
  }
  if (count - sent_ > limits_.peer_slots) {
    return absl::InvalidArgumentError(
        absl::StrCat("the RDMA peer gave ", count - peer_count_, " receives beyond ", credits(),
                     ", more than the ", limits_.peer_slots, " it may"));
  }
  peer_count_ = count;
  return absl::OkStatus();
}

void CreditFlow::OnGranted(uint32_t receives) {
  Check(receives <= limits_.receive_slots - outstanding(), "receives are given within their limit");
  granted_ += receives;
}

}  // namespace farcall
