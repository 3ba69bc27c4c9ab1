// SPDX-License-Identifier: Apache-2.0
//
// CreditFlow: when one RDMA connection may send. A message needs two things: a slot of the
// send queue here, and a receive posted at the peer, a credit. Each comes back by an event of
// its own and no other: slots by completions, credits by the count in the peer's messages.
// Not even a completed send says that its receive was posted again.
//
// Counts are cumulative, of 32 bits, and wrap: of the receives given to the peer since the
// connection began. A window grows by giving more, and shrinks by not giving.
//
// Why it cannot stand still, nor chatter for ever:
//   - Data leaves the last credit and the last slot alone; they are kept for a bare count
//     (a message without bytes).
//   - A bare count is sent when at least kMinUpdate receives are unannounced, and at least
//     as many as the peer may still know of: half of its window; or only kMinUpdate, where it must
//     hear soon. So the last credit is spent only to give the peer two or more; both sides
//     cannot be without.
//   - The receive of a bare count is posted again and given back at once, even while reading
//     is paused or the pool is empty (its block came back empty): else a paused reader would
//     lose its peer's last credit, and with it the counts that its own sending waits for.
//   - Each bare count announces two receives or more, and takes one. Their number is thus at
//     most that of other messages, plus the largest windows: in silence they end.

#ifndef FARCALL_TRANSPORT_RDMA_FLOW_CREDIT_FLOW_H_
#define FARCALL_TRANSPORT_RDMA_FLOW_CREDIT_FLOW_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"

namespace farcall {

struct CreditLimits {
  static constexpr uint32_t kMin = 4;
  static constexpr uint32_t kMax = 16384;

  // All kMin to kMax.
  uint32_t send_slots = 128;     // work requests in the send queue, kept for this alone
  uint32_t receive_slots = 128;  // receives that the peer is given at once, at most
  uint32_t peer_slots = 128;     // the peer's receive_slots
  // Exchanged while connecting. kMin to receive_slots, and to peer_slots.
  uint32_t initial_receives = 4;  // given to the peer
  uint32_t initial_credits = 4;   // given by the peer

  absl::Status Validate() const;
};

// How one message is to be posted.
struct SendPlan {
  // Counts messages up by one, and wraps; its buffers may be kept in a ring of a power of
  // two >= send_slots.
  uint32_t seq = 0;
  uint32_t count = 0;     // for MessageHeader::count
  bool signaled = false;  // asks for a completion: IBV_SEND_SIGNALED
};

// One thread at a time; no allocation.
class CreditFlow {
 public:
  // Where counts and seqs begin: each connection sees them wrap after a few messages, so
  // what does not bear that fails at once instead of after 2^32 messages.
  static constexpr uint32_t kFirstCount = 0u - 64;
  static constexpr uint32_t kMinUpdate = 2;

  // `limits` are valid.
  explicit CreditFlow(const CreditLimits& limits);

  // --- Sending ---
  // Messages with bytes or FIN that may be sent now.
  uint32_t Budget() const;
  // The next message; Budget() > 0. Must be posted, in this order. `last`: no other is
  // posted with it in this batch. The first message of a connection, a bare one, also comes
  // from here.
  SendPlan Send(bool last);
  // A message without bytes, where the peer must hear the count. Ask after what may bring
  // one has been done for a turn (OnMessage, OnGranted, OnCompleted) and nothing was sent.
  // Its 8 bytes must not wait for memory of the pool, which may be held by messages that wait
  // for what the peer would answer: they go inline, or lie in memory kept for them.
  // `soon`: the peer waits for more than receives, so that fewer are enough.
  std::optional<SendPlan> BareCount(bool soon = false);
  // Whether BareCount would give one.
  bool HasUpdate(bool soon = false) const;
  // The completion of the signaled message `seq`: frees its slot and all before it, and
  // returns how many; 0 for one that is free already.
  uint32_t OnCompleted(uint32_t seq);

  // --- Receiving ---
  // A message came, with this count. An error: the peer does not keep to the protocol, and
  // the connection must end (it may eat receives of others).
  absl::Status OnMessage(uint32_t count);
  // The peer was given `receives` more, which are posted. At most receive_slots are given
  // and not used at a time.
  void OnGranted(uint32_t receives);

  // --- What there is ---
  uint32_t credits() const { return peer_count_ - sent_; }
  uint32_t free_slots() const { return limits_.send_slots - unfinished(); }
  // Sent, not known to be completed.
  uint32_t unfinished() const { return sent_ - completed_; }
  // Given to the peer, and not used by messages that came.
  uint32_t outstanding() const { return granted_ - received_; }
  uint32_t unannounced() const { return granted_ - announced_; }
  // The peer can send no bytes, and will hear of no more receives until it is given some: all
  // that it was given but the one for a bare count, and too few for another, has been used.
  bool PeerStandsStill() const;

 private:
  SendPlan Plan(bool signaled);

  const CreditLimits limits_;
  uint32_t sent_ = kFirstCount;       // messages
  uint32_t completed_ = kFirstCount;  // of them
  uint32_t signaled_ = kFirstCount;   // of them, up to the last signaled one
  uint32_t peer_count_;               // receives given by the peer, as far as announced
  uint32_t received_ = kFirstCount;   // messages
  uint32_t granted_;                  // receives given to the peer
  uint32_t announced_;                // of them
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_FLOW_CREDIT_FLOW_H_
