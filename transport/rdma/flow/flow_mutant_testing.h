// SPDX-License-Identifier: Apache-2.0
//
// CreditFlow with one rule broken, to see that the simulation notices.

#ifndef FARCALL_TRANSPORT_RDMA_FLOW_FLOW_MUTANT_TESTING_H_
#define FARCALL_TRANSPORT_RDMA_FLOW_FLOW_MUTANT_TESTING_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "transport/rdma/flow/credit_flow.h"

namespace farcall::testing {

enum class Mutation : uint8_t {
  kNone,                   // behaves as CreditFlow, which a test holds it to
  kNoReserve,              // data takes the last credit and the last slot
  kNoCreditReserve,        // only the last credit
  kCreditsByCompletion,    // a completed send gives its credit back
  kCreditsAndCompletions,  // both the count and the completion give it
  kWholeWindow,            // bare counts only once the peer can know of no receive
  kFixedHalf,              // half of the largest window, not of the one there is
  kOneIsEnough,            // a bare count for one receive
  kAlwaysEnough,           // a bare count for any receive, however many the peer has
  kWrapUnsafe,             // compares counts as numbers
  kCountIsMore,            // takes the count as receives to be added
  kSlotPerCompletion,      // a completion frees one slot
  kSignalsQuartersOnly,    // the last of a batch is not signaled
  kSignalsLastOnly,        // quarters are not signaled
  kForgetsToAnnounce,      // announces, and does not note it
};

// Without the checks of the original: what goes wrong is for the simulation to see.
template <Mutation M>
class MutantFlow {
 public:
  explicit MutantFlow(const CreditLimits& limits)
      : limits_(limits),
        peer_count_(CreditFlow::kFirstCount + limits.initial_credits),
        granted_(CreditFlow::kFirstCount + limits.initial_receives),
        announced_(granted_) {}

  uint32_t Budget() const {
    const bool all = M == Mutation::kNoReserve;
    const uint32_t of_credits = all || M == Mutation::kNoCreditReserve ? 0 : 1;
    const uint32_t of_slots = all ? 0 : 1;
    return std::min(credits() - std::min(credits(), of_credits),
                    free_slots() - std::min(free_slots(), of_slots));
  }
  SendPlan Send(bool last) {
    const bool end = (last || Budget() == 1) && M != Mutation::kSignalsQuartersOnly;
    const bool quarter = sent_ + 1 - signaled_ >= limits_.send_slots / 4;
    return Plan(end || (quarter && M != Mutation::kSignalsLastOnly));
  }
  std::optional<SendPlan> BareCount() {
    if (unannounced() < Least()) return std::nullopt;
    if (credits() == 0 || free_slots() == 0) return std::nullopt;
    return Plan(true);
  }
  uint32_t OnCompleted(uint32_t seq) {
    if (static_cast<int32_t>(completed_ - seq) > 0) return 0;
    const uint32_t freed = M == Mutation::kSlotPerCompletion ? 1 : seq + 1 - completed_;
    if (M == Mutation::kCreditsByCompletion || M == Mutation::kCreditsAndCompletions) {
      peer_count_ += freed;
    }
    completed_ += freed;
    return freed;
  }

  absl::Status OnMessage(uint32_t count) {
    ++received_;
    if (M == Mutation::kCreditsByCompletion) return absl::OkStatus();
    const bool later = M == Mutation::kWrapUnsafe ? count > peer_count_
                                                  : static_cast<int32_t>(count - peer_count_) > 0;
    if (!later) return absl::OkStatus();
    if (M == Mutation::kCountIsMore) {
      peer_count_ += count - CreditFlow::kFirstCount;
    } else {
      peer_count_ = count;
    }
    return absl::OkStatus();
  }
  void OnGranted(uint32_t receives) { granted_ += receives; }

  uint32_t credits() const { return peer_count_ - sent_; }
  uint32_t free_slots() const { return limits_.send_slots - unfinished(); }
  uint32_t unfinished() const { return sent_ - completed_; }
  uint32_t outstanding() const { return granted_ - received_; }
  uint32_t unannounced() const { return granted_ - announced_; }

 private:
  uint32_t Least() const {
    const uint32_t known = announced_ - received_;
    switch (M) {
      case Mutation::kWholeWindow:
        return known == 0 ? CreditFlow::kMinUpdate : limits_.receive_slots + 1;
      case Mutation::kFixedHalf:
        return std::max(CreditFlow::kMinUpdate, limits_.receive_slots / 2);
      case Mutation::kOneIsEnough:
        return std::max(1u, known);
      case Mutation::kAlwaysEnough:
        return 1;
      default:
        return std::max(CreditFlow::kMinUpdate, known);
    }
  }
  SendPlan Plan(bool signaled) {
    const SendPlan plan{.seq = sent_, .count = granted_, .signaled = signaled};
    ++sent_;
    if (signaled) signaled_ = sent_;
    if (M != Mutation::kForgetsToAnnounce) announced_ = granted_;
    return plan;
  }

  const CreditLimits limits_;
  uint32_t sent_ = CreditFlow::kFirstCount;
  uint32_t completed_ = CreditFlow::kFirstCount;
  uint32_t signaled_ = CreditFlow::kFirstCount;
  uint32_t peer_count_;
  uint32_t received_ = CreditFlow::kFirstCount;
  uint32_t granted_;
  uint32_t announced_;
};

}  // namespace farcall::testing

#endif  // FARCALL_TRANSPORT_RDMA_FLOW_FLOW_MUTANT_TESTING_H_
