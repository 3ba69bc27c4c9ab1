// SPDX-License-Identifier: Apache-2.0
//
// BrpcCredits: when one end of a queue pair on brpc's wire may send, and what it tells. Messages
// have no header; beside each goes a number of 32 bits, "immediate data": of how many messages with
// bytes the receives were posted again since the last report. A message without bytes carries
// nothing but that, a bare report.
//
//   send window       min(own sends, peer's receives) - 3: messages with bytes that may be sent and
//                     not reported, and that may be in the send queue
//   peer's window     min(own receives, peer's sends) - 3
//   the 3             bare reports that may be in the send queue; they take no credit
//
// Why no message ever finds no receive, which ends brpc's queue pairs at once: messages with bytes
// that were sent and not reported are at most as many as the window. A bare report tells of more
// than half of the peer's window, and what was reported and not read yet is never more than the
// window: so the peer has read the bare report before, and posted its receive again.
//
// Why it cannot stand still: a peer without credits has had its whole window read, which is more
// than half of it, so a bare report is due; it waits for completions of this end alone.
//
// A peer may sleep until a message is marked as solicited. The last of each burst is, each bare
// report, and one in a quarter of the window or a mebibyte.

#ifndef FARCALL_TRANSPORT_RDMA_FLOW_BRPC_CREDITS_H_
#define FARCALL_TRANSPORT_RDMA_FLOW_BRPC_CREDITS_H_

#include <array>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "transport/brpc_end.h"

namespace farcall {

// How one message is to be posted.
struct BrpcSend {
  // Counts messages up by one, with or without bytes, and wraps: buffers may be kept in a ring of a
  // power of two >= BrpcEnd::send_slots.
  uint32_t seq = 0;
  uint32_t report = 0;     // beside the message
  bool signaled = false;   // IBV_SEND_SIGNALED
  bool solicited = false;  // IBV_SEND_SOLICITED
};

// One thread at a time; no allocation.
class BrpcCredits {
 public:
  static constexpr uint32_t kBare = BrpcEnd::kBareSlots;
  // Where seqs begin: soon before they wrap.
  static constexpr uint32_t kFirstSeq = 0u - 64;
  // Bytes after which a message is solicited.
  static constexpr uint32_t kSolicitAfter = 1 << 20;

  // Both ends have at least BrpcEnd::kMinSlots of either kind.
  BrpcCredits(const BrpcEnd& own, const BrpcEnd& peer);

  // --- Sending ---
  // Messages with bytes that may be sent now.
  uint32_t Budget() const;
  // The next one, with so many bytes (> 0); Budget() > 0. Must be posted, in this order. `last`: no
  // other is posted with it in this batch.
  BrpcSend Send(uint32_t bytes, bool last);
  // Whether a bare report is due and may be sent: ask when no message with bytes was sent.
  bool BareIsDue() const;
  BrpcSend SendBare();
  // The completion of the signaled message `seq`: frees its slot and all before it. How many; 0 for
  // one that is free already.
  uint32_t OnCompleted(uint32_t seq);

  // --- Receiving ---
  // A message came, with this report. An error: the peer does not keep to the protocol.
  absl::Status OnMessage(uint32_t bytes, uint32_t report);
  // The receives of so many more messages with bytes were posted again, and may be reported.
  void OnPosted(uint32_t receives);

  // --- What there is ---
  uint32_t credits() const { return credits_; }
  uint32_t free_slots() const { return slots_; }
  uint32_t window() const { return window_; }
  uint32_t peer_window() const { return peer_window_; }
  // Sent, not known to be completed; with and without bytes.
  uint32_t unfinished() const { return sent_ - completed_; }
  // Messages with bytes that came and were not reported.
  uint32_t unreported() const { return unreported_; }
  // The peer can send no bytes, and will not hear soon that it can.
  bool PeerStandsStill() const { return unreported_ == peer_window_ && due_ == 0; }

 private:
  BrpcSend Plan(bool signaled, bool solicited);

  const uint32_t window_;
  const uint32_t peer_window_;
  uint32_t credits_;  // messages with bytes that the peer has receives for
  uint32_t slots_;    // for them, in the send queue
  uint32_t bare_ = 0;
  std::array<uint32_t, kBare> bare_seqs_{};  // of them, the oldest first
  uint32_t sent_ = kFirstSeq;
  uint32_t completed_ = kFirstSeq;
  uint32_t signaled_ = kFirstSeq;   // up to the last signaled one
  uint32_t unsolicited_ = 0;        // messages since the last solicited one
  uint32_t unsolicited_bytes_ = 0;  // theirs
  uint32_t unreported_ = 0;
  uint32_t due_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_FLOW_BRPC_CREDITS_H_
