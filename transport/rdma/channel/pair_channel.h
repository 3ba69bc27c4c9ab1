// SPDX-License-Identifier: Apache-2.0
//
// PairChannel: what the data loop sees of one queue pair, whatever travels on it. It sends a
// stream of bytes as messages within the peer's credits, and gives back the bytes of those that
// come. It outlives the connection that uses it: work requests under way keep their buffers until
// their completions came or the queue pair is destroyed.

#ifndef FARCALL_TRANSPORT_RDMA_CHANNEL_PAIR_CHANNEL_H_
#define FARCALL_TRANSPORT_RDMA_CHANNEL_PAIR_CHANNEL_H_

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transport/base/clock.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/block_writer.h"
#include "transport/buffer/buffer.h"
#include "transport/buffer/pool_watch.h"
#include "transport/copied_bytes.h"
#include "transport/copy_tally.h"
#include "transport/rdma/channel/device_poller_counters.h"
#include "transport/rdma/channel/receive_queue.h"
#include "transport/rdma/channel/send_batch.h"
#include "transport/rdma/flow/completion_queue_budget.h"
#include "transport/rdma/flow/incoming_stream.h"
#include "transport/rdma/flow/wr_id.h"
#include "transport/rdma/verbs/verbs_api.h"
#include "transport/rdma_options.h"
#include "transport/reads_use.h"

namespace farcall {

// What a PairChannel has done.
struct ChannelCounters {
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t receives = 0;   // completions
  uint64_t doorbells = 0;  // calls of ibv_post_send
  uint64_t messages = 0;   // that it posted
  CopiedBytes copied;
  uint64_t references = 0;  // sent
  uint64_t reads = 0;       // RDMA READs that have completed
  uint64_t fetched = 0;     // bytes that they brought
  uint64_t landed = 0;      // bytes that went to where User::PlaceFor said
  // Times that it began to wait while it had bytes to send.
  uint64_t credit_waits = 0;
  uint64_t slot_waits = 0;
  uint64_t memory_waits = 0;
};

// All with the data loop held, but the constructor.
class PairChannel {
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
    virtual Buffer PlaceFor(size_t ahead, size_t bytes) = 0;
    virtual std::shared_ptr<void> HoldPlace() = 0;

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
    uint32_t read_at_least = 0;  // bytes: of larger pieces references may be sent
    ReadsWhy reads_why = ReadsWhy::kNever;
    bool binds_alone = false;  // DeviceInfo::binds_again

    // Entries of the completion queue that are there in any case.
    uint32_t own_completions() const { return kOwnSends + (reads > 0 ? kOwnReads : 0); }
  };

  using Counters = ChannelCounters;

  // `pair` lives until the channel is stopped. With a receive queue of its own: `own_slots`
  // > 0, which keeps its blocks until the channel dies. `copied` (may be null) counts with it.
  PairChannel(const VerbsApi& api, BlockPool& pool, size_t device, ibv_qp& pair,
              const Limits& limits, uint32_t own_slots, CopyTally* copied);
  PairChannel(const PairChannel&) = delete;
  PairChannel& operator=(const PairChannel&) = delete;
  virtual ~PairChannel() = default;

  uint32_t number() const { return number_; }
  const Limits& limits() const { return limits_; }
  ReceiveQueue* own_queue() { return own_queue_ ? &*own_queue_ : nullptr; }

  // --- Setting up.

  // Receives come from `queue`, and are sent from `batch`; `poller` counts with it. kCapacity:
  // there are none for another connection. Its peer may use ReceiveLedger::kMinimum of them.
  // Of the completion queue Limits::own_completions() are its own, others come from `room`.
  virtual absl::Status Join(ReceiveQueue& queue, SendBatch& batch, CompletionQueueBudget& room,
                            DevicePollerCounters& poller, const Clock& clock,
                            PeerTrust trust = PeerTrust::kTrusted);
  // Undoes Join: nothing of it is left in the completion queue.
  virtual void Leave() = 0;

  // --- Its user.

  void Attach(User& user) { user_ = &user; }
  // What comes from now on is dropped, and no credit is given any more. The input stays.
  virtual void Detach() = 0;
  // Whether the peer is given credits for what it uses. Not at first.
  virtual void SetReading(bool reading) = 0;
  // Its peer is trusted from now on.
  void TrustPeer() {
    if (member_) queue_->ledger().Trust(*member_);
  }
  // Sends the front of `out`, as much as may leave now, and the count that the peer should
  // hear; after the last byte, if `fin`, the end. One or few doorbells. False: no memory for
  // copies now, try later.
  virtual bool Send(Buffer& out, bool fin) = 0;
  // Sends head + body, behind all that was given to Send, as a message of copied bytes. False: it
  // did nothing, since they are many, or may not leave now.
  virtual bool SendNow(absl::string_view /*head*/, const Buffer& /*body*/) { return false; }
  // Whether Send would have something to tell the peer although there are no bytes.
  virtual bool HasUpdate() const = 0;
  // What came, in order, behind what the user has left there; whether some came since the last
  // time.
  Buffer& TakeInput() { return incoming_.Take(); }
  bool has_input() const { return incoming_.has_bytes(); }
  // The peer sends no more bytes: what came is all.
  virtual bool ended() const = 0;
  bool fin_sent() const { return fin_sent_; }
  // All that was sent, and the end, is with the peer, which sends no more either.
  virtual bool flushed() const = 0;
  // All that was sent is with the peer.
  virtual bool quiet() const = 0;
  // Why it can be used no more. OK: it can.
  const absl::Status& error() const { return error_; }
  const Counters& counters() const { return counters_; }
  // Messages that the peer lets it send now.
  virtual uint32_t credits() const = 0;

  // --- Bytes that the peer refers to and does not send, where it may.

  // Whether the peer fetches from here.
  virtual ReadsUse reads_use() const { return {}; }
  // Of the references that were sent, those that the peer has read.
  virtual uint64_t references_read() const { return 0; }
  virtual bool fetches() const { return false; }
  bool fetching() const { return incoming_.reading() > 0; }
  // Begins to fetch what the peer has referred to, when the input was taken. False: no memory
  // for it now, try later.
  bool Read() { return incoming_.clear() || ReadSome(); }
  // What was referred to and is not being fetched is not wanted.
  virtual void DropUnread() {}
  // Calls `done` when nothing is being fetched, or can be any more: from inside, or later
  // instead of the user's OnChannel. Null takes it back.
  virtual void WhenReadsEnd(absl::AnyInvocable<void()> done) {
    if (done) done();
  }
  // The device did not do with a memory window what it said it can.
  virtual bool windows_failed() const { return false; }

  // --- Its end.

  // Posts nothing from now on; the user gets the error. The first error counts.
  void Fail(absl::Status error);

  // --- The poller.

  // All that was posted has completed.
  virtual bool idle() const = 0;
  // A completion of this queue pair.
  virtual void OnCompletion(const ibv_wc& completion) = 0;
  // After a batch of completions and the receives that were posted again.
  void EndBatch() {
    Grant();
    if (user_ != nullptr) user_->OnChannel();
  }
  // There may be more credits for it.
  virtual void Grant() = 0;
  // Its peer may send no bytes, and there are no receives to let it.
  virtual void Starve() = 0;
  uint32_t member() const { return *member_; }

  // The poller's: it is in the list of those that the batch concerns.
  bool touched = false;

 protected:
  virtual bool ReadSome() { return true; }

  struct Sent {
    Buffer data;            // what the device reads in place
    BlockRef copy;          // header and copied bytes
    uint32_t measured = 0;  // bytes, of a piece that might be read
  };

  Sent& SentAt(uint32_t seq) { return sent_[seq & (sent_.size() - 1)]; }
  // Of the sends up to `seq` the last `freed`: they are not read any more. Returns how many of
  // their bytes are measured.
  uint64_t Release(uint32_t seq, uint32_t freed);
  void OnError(const ibv_wc& completion);
  // Whether the completion queue has room for one send more than the `unfinished` that there are,
  // of which `own` need none taken.
  bool TakeRoom(uint32_t own, uint32_t unfinished);
  void GiveRoom(uint32_t unfinished);
  // Puts `plan`, the front of `out`, down as sent. `copy`: of the batch.
  void KeepSent(uint32_t seq, BlockRef copy, const MessagePlan& plan, Buffer& out);
  void CountSent(const MessagePlan& plan);
  void PostBatch();
  void CountCopied(CopyCause cause, uint64_t bytes);
  // What waits is tried each turn, and counts once.
  enum class Wait : uint8_t { kNothing, kMemory, kCredits, kSlots };
  void CountWait(Wait wait);
  // The bytes of the receive behind the first `skip` of all `bytes` are input, unless it is
  // detached; its slot is used again.
  void TakeBytes(uint32_t slot, uint32_t skip, uint32_t bytes);

  const VerbsApi& api_;
  ibv_qp& pair_;
  const uint32_t number_;
  const Limits limits_;
  BlockPool& pool_;
  std::optional<ReceiveQueue> own_queue_;
  ReceiveQueue* queue_ = nullptr;
  SendBatch* batch_ = nullptr;
  CompletionQueueBudget* room_ = nullptr;
  uint32_t extra_ = 0;  // taken of it: at least what is unfinished - kOwnSends
  DevicePollerCounters* poller_ = nullptr;
  const Clock* clock_ = nullptr;
  std::optional<ReceiveLedger::Member> member_;
  User* user_ = nullptr;
  bool may_send_ = false;
  bool fin_sent_ = false;
  bool detached_ = false;
  bool breached_ = false;  // the peer broke a rule: nothing that came later is taken
  absl::Status error_;
  IncomingStream incoming_{0};
  Counters counters_;

 private:
  CopyTally* const copied_;
  std::vector<Sent> sent_;  // a ring by seq
  BlockWriter small_;       // small messages are copied into its blocks
  PoolWatch memory_;        // and larger ones, when it is short
  bool waits_ = false;      // counted already
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CHANNEL_PAIR_CHANNEL_H_
