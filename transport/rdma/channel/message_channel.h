// SPDX-License-Identifier: Apache-2.0
//
// MessageChannel: what the data loop sees of one queue pair. It sends a stream of bytes as
// messages within the peer's credits, and gives back the bytes of those that come. It
// outlives the connection that uses it: work requests under way keep their buffers until
// their completions came or the queue pair is destroyed.

#ifndef FARCALL_TRANSPORT_RDMA_CHANNEL_MESSAGE_CHANNEL_H_
#define FARCALL_TRANSPORT_RDMA_CHANNEL_MESSAGE_CHANNEL_H_

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transport/buffer/block_writer.h"
#include "transport/buffer/buffer.h"
#include "transport/buffer/pool_watch.h"
#include "transport/copied_bytes.h"
#include "transport/copy_tally.h"
#include "transport/rdma/channel/lane_counters.h"
#include "transport/rdma/channel/receive_queue.h"
#include "transport/rdma/channel/send_batch.h"
#include "transport/rdma/flow/completion_room.h"
#include "transport/rdma/flow/credit_flow.h"
#include "transport/rdma/flow/incoming_stream.h"
#include "transport/rdma/flow/message_header.h"
#include "transport/rdma/flow/message_plan.h"
#include "transport/rdma/flow/private_data.h"
#include "transport/rdma/flow/window_ring.h"
#include "transport/rdma/flow/wr_id.h"
#include "transport/rdma/verbs/verbs_api.h"
#include "transport/rdma_options.h"

namespace farcall {

// All with the data loop held, but the constructor.
class MessageChannel final {
 public:
  // Sends whose completions have room in any case; the last of them is for a bare count. For
  // more it takes entries of the completion queue. While there are none it waits for its own
  // completions.
  static constexpr uint32_t kOwnSends = kMinSlots;
  // The same for RDMA READs, one at a time.
  static constexpr uint32_t kOwnReads = 1;

  class User {
   public:
    // Bytes or the end came, sends completed, credits came, or it failed: once for all that one
    // look at the completion queue brought.
    virtual void OnChannel() = 0;
    // For long the pool has had no blocks to receive its bytes in.
    virtual void OnStarved() = 0;
    // As Connection::Handler. From inside Read only.
    virtual Buffer Landing(size_t ahead, size_t bytes) = 0;
    virtual std::shared_ptr<void> HoldLanding() = 0;

   protected:
    ~User() = default;
  };

  struct Limits {
    uint32_t send_slots = 0;  // of the queue pair, for messages
    uint32_t windows = 0;     // for which there are two slots more each
    uint32_t reads = 0;       // and one
    uint32_t receive_slots = 0;
    uint32_t max_inline = 0;
    uint32_t max_segments = 0;
    uint32_t read_segments = 0;  // of an RDMA READ
    uint32_t copy_out_below = 0;
    uint32_t read_at_least = 0;  // RdmaOptions
    bool binds_alone = false;    // DeviceInfo::binds_again

    // Work requests that may be in the send queue.
    uint32_t send_queue() const { return send_slots + 2 * windows + reads; }
    // Entries of the completion queue that are there in any case.
    uint32_t own_completions() const { return kOwnSends + (reads > 0 ? kOwnReads : 0); }
  };

  struct Counters {
    uint64_t bytes_read = 0;
    uint64_t bytes_written = 0;
    uint64_t receives = 0;   // completions
    uint64_t doorbells = 0;  // calls of ibv_post_send
    uint64_t messages = 0;   // that it posted
    CopiedBytes copied;
    uint64_t references = 0;  // sent
    uint64_t reads = 0;       // RDMA READs that have completed
    uint64_t fetched = 0;     // bytes that they brought
    uint64_t landed = 0;      // bytes that went to where User::Landing said
    // Times that it began to wait while it had bytes to send.
    uint64_t credit_waits = 0;
    uint64_t slot_waits = 0;
    uint64_t memory_waits = 0;
  };

  // `pair` lives until the channel is stopped. With a receive queue of its own: `own_slots`
  // > 0, which keeps its blocks until the channel dies. `copied` (may be null) counts with it.
  MessageChannel(const VerbsApi& api, BlockPool& pool, size_t device, ibv_qp& pair,
                 const Limits& limits, uint32_t own_slots, CopyTally* copied = nullptr);
  MessageChannel(const MessageChannel&) = delete;
  MessageChannel& operator=(const MessageChannel&) = delete;

  uint32_t number() const { return number_; }
  const Limits& limits() const { return limits_; }
  ReceiveQueue* own_queue() { return own_queue_ ? &*own_queue_ : nullptr; }

  // --- Setting up.

  // Receives come from `queue`, and are sent from `batch`; `lane` counts with it. kCapacity:
  // there are none for another connection. Its peer may use ReceiveLedger::kMinimum of them.
  // Of the completion queue Limits::own_completions() are its own, others come from `room`.
  absl::Status Join(ReceiveQueue& queue, SendBatch& batch, CompletionRoom& room, LaneCounters& lane,
                    PeerTrust trust = PeerTrust::kTrusted);
  // Both ends' parts are known. The initiator sends the first message, at once. `windows`: those
  // by which references are sent, perhaps fewer than were told; they live until the
  // queue pair is destroyed.
  void Open(const ReceiveTerms& own, const ReceiveTerms& peer, bool initiator,
            std::vector<ibv_mw*> windows = {});
  // Undoes Join: nothing of it is left in the completion queue.
  void Leave();

  // --- Its user.

  void Attach(User& user) { user_ = &user; }
  // What comes from now on is dropped, and no credit is given any more.
  void Detach();
  // Whether the peer is given credits for what it uses. Not at first.
  void SetReading(bool reading);
  // Its peer is no stranger.
  void TrustPeer() {
    if (member_) queue_->ledger().Trust(*member_);
  }
  // Sends the front of `out`, as much as may leave now, and the count that the peer should
  // hear; after the last byte, if `fin`, the end. One or few doorbells. False: no memory for
  // copies now, try later.
  bool Send(Buffer& out, bool fin);
  // Whether Send would have something to tell the peer although there are no bytes.
  bool HasNews() const;
  // What came since the last time, in order.
  Buffer TakeInput() { return incoming_.Take(); }
  bool has_input() const { return incoming_.has_bytes(); }
  // The peer may refer to bytes that it does not send.
  bool fetches() const { return most_reads_ > 0; }
  bool fetching() const { return incoming_.reading() > 0; }
  // Begins to fetch what the peer has referred to, when the input was taken. False: no memory
  // for it now, try later.
  bool Read();
  // What was referred to and is not being fetched is not wanted.
  void DropUnread();
  // Calls `done` when nothing is being fetched, or can be any more: from inside, or later
  // instead of the user's OnChannel. Null takes it back.
  void WhenReadsEnd(absl::AnyInvocable<void()> done);
  // The peer sends no more bytes: what came is all.
  bool ended() const { return ended_ && incoming_.clear(); }
  bool fin_sent() const { return fin_sent_; }
  // All that was sent is with the peer.
  bool quiet() const { return posted_messages() == 0 && windows_.open() == 0; }
  // Why it can be used no more. OK: it can.
  const absl::Status& error() const { return error_; }
  // The device did not do with a memory window what it said it can.
  bool windows_failed() const { return windows_failed_; }
  const Counters& counters() const { return counters_; }
  // Messages that the peer lets it send now.
  uint32_t credits() const { return flow_ ? flow_->credits() : 0; }

  // --- Its end.

  // Posts nothing from now on; the user is told by the error. The first error counts.
  void Fail(absl::Status error);

  // --- The lane.

  // All that was posted has completed.
  bool idle() const { return posted_messages() == 0 && closing_ == 0 && incoming_.reading() == 0; }
  // A completion of this queue pair.
  void OnCompletion(const ibv_wc& completion);
  // After a batch of completions and the receives that were posted again.
  void EndBatch();
  // There may be more credits for it.
  void Grant();
  // Its peer may send no bytes, and there are no receives to let it.
  void Starve();
  uint32_t member() const { return *member_; }

  // The lane's: it is in the list of those that the batch concerns.
  bool touched = false;

 private:
  // Bytes of one reference that is sent; and of READs under way, after which no other is begun.
  // With 4 MiB at once rxe loses answers, and waits for its ACK timeout; 512 KiB fill a wire of
  // 100 Gb/s for 40 us.
  static constexpr uint32_t kReference = 256 << 10;
  static constexpr uint64_t kMostFetched = 512 << 10;

  // Completions of a window, bound and invalidated.
  static constexpr uint32_t kOfWindow = 2;

  struct Sent {
    Buffer data;    // what the device reads in place
    BlockRef copy;  // header and copied bytes
  };

  uint32_t posted_messages() const { return flow_ ? flow_->unfinished() : 0; }
  void OnReceived(uint32_t slot, uint32_t bytes);
  absl::Status OnHeader(const MessageHeader& header, absl::string_view message);
  void TakeBytes(uint32_t slot, uint32_t bytes);
  void OnSent(uint32_t seq);
  void OnError(const ibv_wc& completion);
  bool TakeRoom(uint32_t own);
  void GiveRoom();
  bool TakeReadRoom();
  bool FillBatch(Buffer& out, bool fin);
  MessagePlan Plan(const Buffer& out, uint32_t max_copy) const;
  bool AddBare(bool fin);
  bool TellsNow() const;
  bool ReadsUntold() const { return told_read_ != incoming_.read(); }
  void AddMessage(Buffer& out, const MessagePlan& plan, const SendPlan& send, bool fin);
  void PostBatch();
  void CountCopied(CopyCause cause, uint64_t bytes);
  void CountWait(bool bytes_left, bool memory);
  void UpdateReading();

  // message_channel_references.cc
  bool MayBind() const;
  BlockRef AddReference(Buffer& out, const MessagePlan& plan, const MessageHeader& header,
                        const SendPlan& send);
  void CloseWindows();
  void OnLocal(const WrId& id, bool good);
  void OnRead(bool good);
  bool MayRead();
  bool PostNextRead();
  Buffer PlaceFor(const IncomingStream::Place& place, std::shared_ptr<void>& hold);
  Buffer Blocks(uint32_t bytes);
  void EndReads();

  const VerbsApi& api_;
  ibv_qp& pair_;
  const uint32_t number_;
  const Limits limits_;
  BlockPool& pool_;
  CopyTally* const copied_;
  std::optional<ReceiveQueue> own_queue_;
  ReceiveQueue* queue_ = nullptr;
  SendBatch* batch_ = nullptr;
  CompletionRoom* room_ = nullptr;
  uint32_t extra_ = 0;  // taken of it: at least unfinished() - kOwnSends
  LaneCounters* lane_ = nullptr;
  std::optional<ReceiveLedger::Member> member_;
  std::optional<CreditFlow> flow_;
  MessageLimits message_limits_;
  User* user_ = nullptr;

  std::vector<Sent> sent_;  // a ring by seq
  bool may_send_ = false;   // the passive side: since the first message came
  bool hello_due_ = false;  // the initiator: until its first message is sent
  bool fin_sent_ = false;

  References references_ = References::kNo;
  std::vector<ibv_mw*> window_handles_;
  std::vector<Buffer> opened_;  // what each is bound to
  WindowRing windows_{0};
  uint32_t closing_ = 0;  // invalidations under way
  // Taken of room_: kOfWindow for each window that is not free, and of READs all but kOwnReads.
  uint32_t window_room_ = 0;
  uint32_t read_room_ = 0;
  IncomingStream incoming_{0};
  uint32_t most_reads_ = 0;  // at a time
  bool windows_failed_ = false;
  bool bind_waits_ = false;  // until MayBind
  uint64_t told_read_ = 0;   // of incoming_.read()
  absl::AnyInvocable<void()> reads_end_;
  bool reading_ = false;  // the user does
  BlockWriter small_;     // small messages are copied into its blocks
  PoolWatch memory_;      // and larger ones, when it is short
  uint32_t bare_ = 0;     // bare messages that came; their receives are given back
  bool detached_ = false;
  bool ended_ = false;
  bool breached_ = false;  // the peer broke a rule: nothing that came later is taken
  absl::Status error_;
  Counters counters_;
  bool waits_ = false;  // counted already
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CHANNEL_MESSAGE_CHANNEL_H_
