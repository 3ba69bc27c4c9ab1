// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/flow/brpc_credits.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

uint32_t WindowOf(uint16_t sends, uint16_t receives) {
  const uint32_t least = std::min(sends, receives);
  Check(least >= BrpcEnd::kMinSlots, "both ends have room for a window");
  return least - BrpcEnd::kBareSlots;
}

// Whether message `a` is later than `b`; they are less than 2^31 apart.
bool IsLater(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) > 0; }

}  // namespace

BrpcCredits::BrpcCredits(const BrpcEnd& own, const BrpcEnd& peer)
    : window_(WindowOf(own.send_slots, peer.receive_slots)),
      peer_window_(WindowOf(peer.send_slots, own.receive_slots)),
      credits_(window_),
      slots_(window_) {}

uint32_t BrpcCredits::Budget() const { return std::min(credits_, slots_); }

bool BrpcCredits::BareIsDue() const { return 2 * due_ > peer_window_ && bare_ < kBare; }

BrpcSend BrpcCredits::Send(uint32_t bytes, bool last) {
  const uint32_t budget = Budget();
  Check(budget > 0 && bytes > 0, "bytes are sent within the budget");
  const uint32_t quarter = window_ / 4;
  // Nothing may follow for long once the budget is used up: that is the end of a burst too.
  const bool end = last || budget == 1;
  const bool solicited =
      end || unsolicited_ + 1 >= quarter || bytes >= kSolicitAfter - unsolicited_bytes_;
  --credits_;
  --slots_;
  unsolicited_ = solicited ? 0 : unsolicited_ + 1;
  unsolicited_bytes_ = solicited ? 0 : unsolicited_bytes_ + bytes;
  return Plan(end || sent_ + 1 - signaled_ >= quarter, solicited);
}

BrpcSend BrpcCredits::SendBare() {
  Check(BareIsDue(), "a bare report is sent when it is due");
  bare_seqs_[bare_++] = sent_;
  unsolicited_ = unsolicited_bytes_ = 0;
  return Plan(/*signaled=*/true, /*solicited=*/true);
}

BrpcSend BrpcCredits::Plan(bool signaled, bool solicited) {
  const BrpcSend plan{.seq = sent_, .report = due_, .signaled = signaled, .solicited = solicited};
  ++sent_;
  if (signaled) signaled_ = sent_;
  unreported_ -= due_;
  due_ = 0;
  return plan;
}

uint32_t BrpcCredits::OnCompleted(uint32_t seq) {
  if (IsLater(completed_, seq)) return 0;
  const uint32_t freed = seq + 1 - completed_;
  Check(freed <= unfinished(), "a completed message was sent");
  completed_ = seq + 1;
  uint32_t bare = 0;
  while (bare < bare_ && !IsLater(bare_seqs_[bare], seq)) ++bare;
  std::copy(bare_seqs_.begin() + bare, bare_seqs_.begin() + bare_, bare_seqs_.begin());
  bare_ -= bare;
  slots_ += freed - bare;
  return freed;
}

absl::Status BrpcCredits::OnMessage(uint32_t bytes, uint32_t report) {
  if (bytes == 0 && report == 0) {
    return absl::InvalidArgumentError("the brpc peer sent a message that says nothing");
  }
  if (bytes > 0 && unreported_ == peer_window_) {
    return absl::InvalidArgumentError("the brpc peer sent a message without a credit");
  }
  if (report > window_ - credits_) {
    return absl::InvalidArgumentError(absl::StrCat("the brpc peer reported ", report,
                                                   " messages, and ", window_ - credits_,
                                                   " were sent that it had not reported"));
  }
  credits_ += report;
  if (bytes > 0) ++unreported_;
  return absl::OkStatus();
}

void BrpcCredits::OnPosted(uint32_t receives) {
  Check(receives <= unreported_ - due_, "receives of messages that came are posted again");
  due_ += receives;
}

}  // namespace farcall
