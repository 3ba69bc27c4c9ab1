// SPDX-License-Identifier: Apache-2.0
//
// ReceiveLedger: how the receives of one shared receive queue are given out as credits. The
// peers of its members may send as much as they were given, all at once, so in sum never
// more is given than is posted.
//
// Each member is entitled to kMinimum; no other member is given those. Who uses receives is given
// up to twice what it used, until it has as many as are free beyond the minimums and a
// quarter of what is posted, which is left for members to come. So one busy member has up to
// about three eighths of a large queue, several share it, and the more there are, the less
// each is given again of what it uses. What was given is not taken back: an idle member's
// comes back as it is used.
//
// Members whose peers have shown nothing yet, not even a good request, are untrusted. Together
// they are given no more than their share of the queue, so that who is known finds a place.
//
// A message without bytes is not counted here: its receive is posted again and given
// to the same member at once (see credit_flow.h).

#ifndef FARCALL_TRANSPORT_RDMA_FLOW_RECEIVE_LEDGER_H_
#define FARCALL_TRANSPORT_RDMA_FLOW_RECEIVE_LEDGER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "transport/peer_trust.h"

namespace farcall {

// One thread at a time. No allocation while there are receives for all members.
class ReceiveLedger {
 public:
  using Member = uint32_t;
  static constexpr uint32_t kMinimum = 4;

  enum class Use : uint8_t {
    kShared,
    kSole,  // the queue of one queue pair: a single member may have all of it
  };

  // `receive_slots`: what a member is given at a time, at most; >= kMinimum. `for_untrusted`: what
  // all untrusted members are given in sum, at most.
  explicit ReceiveLedger(uint32_t receive_slots, Use use = Use::kShared,
                         uint32_t for_untrusted = std::numeric_limits<uint32_t>::max());

  // A connection begins: it is given kMinimum. kCapacity (why_not_rdma.h): they are not
  // there. Numbers of members that left are used again.
  absl::StatusOr<Member> Join(PeerTrust trust = PeerTrust::kTrusted);
  // It is trusted from now on.
  void Trust(Member member);
  // Its peer can use no more receives: the queue pair is destroyed, and no completion of it
  // is left in the completion queue. What it was given is free again.
  void Leave(Member member);

  // Before Leave, where the device has not said that the queue pair gave up what it took: as many
  // receives as its peer could still use may be gone with it. They count as none until Recount.
  // Returns how many.
  uint32_t Doubt(Member member);
  // `doubted` are doubted no more; `lost` receives are gone.
  void Recount(uint32_t doubted, uint32_t lost);
  // One that was counted as gone has come.
  void OnFound() { ++posted_; }
  uint32_t doubted() const { return doubted_; }

  // `receives` were posted, new or again.
  void OnPosted(uint32_t receives);
  // A message with bytes came and took a receive; also one in error.
  void OnConsumed(Member member);
  // How many more to give to the member now (CreditFlow::OnGranted); they count as given.
  // Ask after OnConsumed, for each message or for several, and for NextStarved.
  uint32_t Grant(Member member);
  // Its handler does not read: it is given nothing until it does.
  void Pause(Member member);
  // Grant follows.
  void Resume(Member member);

  // A member below kMinimum for which there are receives now: ask until there is none after
  // OnPosted and Leave, each time followed by Grant. In turn, so that none starves.
  std::optional<Member> NextStarved();

  // How many should be posted so that there are minimums for members to come, `ahead` at
  // least, and something for members who use theirs. By their number alone: if what they use
  // counted, more receives would make them use more. Others take the place of those that are
  // doubted.
  uint32_t Wanted(uint32_t ahead) const {
    const uint32_t minimums = kMinimum * static_cast<uint32_t>(members());
    return minimums + std::max(minimums / 3, ahead) + doubted_;
  }

  uint32_t posted() const { return posted_; }
  // What is neither given nor kept for the minimum of a member.
  uint32_t free() const { return posted_ > claimed_ ? posted_ - claimed_ : 0; }
  // Given to all members and not used.
  uint32_t outstanding() const { return outstanding_; }
  uint32_t outstanding(Member member) const { return members_[member].outstanding; }
  size_t members() const { return members_.size() - vacant_.size(); }

 private:
  struct State {
    bool joined = false;
    bool untrusted = false;
    bool paused = false;
    bool starved = false;      // in starved_
    uint32_t outstanding = 0;  // given, not used
    uint32_t used = 0;         // and not yet answered by a Grant
  };
  State& At(Member member);
  uint32_t Entitled(const State& state) const;
  uint32_t ForUntrusted() const {
    return for_untrusted_ - std::min(for_untrusted_, untrusted_claimed_);
  }
  void Give(State& state, uint32_t receives);

  const uint32_t receive_slots_;
  const Use use_;
  const uint32_t for_untrusted_;
  uint32_t posted_ = 0;
  uint32_t doubted_ = 0;  // and not in posted_
  uint32_t outstanding_ = 0;
  uint32_t claimed_ = 0;            // the sum of what each was given, or kMinimum if that is more
  uint32_t untrusted_claimed_ = 0;  // of claimed_, those of untrusted members
  std::vector<State> members_;
  std::vector<Member> vacant_;
  std::deque<Member> starved_;  // below kMinimum and not paused when they were put here
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_FLOW_RECEIVE_LEDGER_H_
