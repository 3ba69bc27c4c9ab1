// SPDX-License-Identifier: Apache-2.0
//
// MessageChannel: what the data loop sees of one queue pair. It sends a stream of bytes as
// messages within the peer's credits, and gives back the bytes of those that come. It
// outlives the connection that uses it: work requests under way keep their buffers until
// their completions came or the queue pair is destroyed.

#ifndef FARCALL_TRANSPORT_RDMA_MESSAGE_CHANNEL_H_
#define FARCALL_TRANSPORT_RDMA_MESSAGE_CHANNEL_H_

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "transport/buffer/block_writer.h"
#include "transport/buffer/buffer.h"
#include "transport/rdma/credit_flow.h"
#include "transport/rdma/message_plan.h"
#include "transport/rdma/private_data.h"
#include "transport/rdma/receive_queue.h"
#include "transport/rdma/send_batch.h"
#include "transport/rdma/verbs/verbs_api.h"
#include "transport/rdma_options.h"

namespace farcall {

// All with the data loop held, but the constructor.
class MessageChannel final {
 public:
  class User {
   public:
    // Bytes or the end came, sends completed, credits came, or it failed: once for all that one
    // look at the completion queue brought.
    virtual void OnChannel() = 0;
    // For long the pool has had no blocks to receive its bytes in.
    virtual void OnStarved() = 0;

   protected:
    ~User() = default;
  };

  struct Limits {
    uint32_t send_slots = 0;  // of the queue pair
    uint32_t receive_slots = 0;
    uint32_t max_inline = 0;
    uint32_t max_segments = 0;
    uint32_t copy_out_below = 0;
  };

  struct Counters {
    uint64_t bytes_read = 0;
    uint64_t bytes_written = 0;
    uint64_t receives = 0;   // completions
    uint64_t doorbells = 0;  // calls of ibv_post_send
  };

  // `pair` lives until the channel is stopped. With a receive queue of its own: `own_slots`
  // > 0, which keeps its blocks until the channel dies.
  MessageChannel(const VerbsApi& api, BlockPool& pool, size_t device, ibv_qp& pair,
                 const Limits& limits, uint32_t own_slots);
  MessageChannel(const MessageChannel&) = delete;
  MessageChannel& operator=(const MessageChannel&) = delete;

  uint32_t number() const { return number_; }
  const Limits& limits() const { return limits_; }
  ReceiveQueue* own_queue() { return own_queue_ ? &*own_queue_ : nullptr; }

  // --- Setting up.

  // Receives come from `queue`, and are sent from `batch`. kCapacity: there are none for
  // another connection. Its peer may use ReceiveLedger::kMinimum of them.
  absl::Status Join(ReceiveQueue& queue, SendBatch& batch);
  // The peer's part is known. The initiator sends the first message, at once.
  void Open(const ReceiveTerms& peer, bool initiator);
  // Undoes Join: nothing of it is left in the completion queue.
  void Leave();

  // --- Its user.

  void Attach(User& user) { user_ = &user; }
  // What comes from now on is dropped, and no credit is given any more.
  void Detach();
  // Whether the peer is given credits for what it uses. Not at first.
  void SetReading(bool reading);
  // Sends the front of `out`, as much as may leave now, and the count that the peer should
  // hear; after the last byte, if `fin`, the end. One or few doorbells. False: no memory for
  // copies now, try later.
  bool Send(Buffer& out, bool fin);
  // Whether Send would have something to tell the peer although there are no bytes.
  bool HasNews() const;
  // What came since the last time, in order.
  Buffer TakeInput() { return std::move(input_); }
  bool has_input() const { return !input_.empty(); }
  // The peer sends no more bytes: what came is all.
  bool ended() const { return ended_; }
  bool fin_sent() const { return fin_sent_; }
  // All that was sent is with the peer.
  bool quiet() const { return !flow_ || flow_->unfinished() == 0; }
  // Why it can be used no more. OK: it can.
  const absl::Status& error() const { return error_; }
  const Counters& counters() const { return counters_; }

  // --- Its end.

  // Posts nothing from now on; the user is told by the error. The first error counts.
  void Fail(absl::Status error);

  // --- The lane.

  // A completion of this queue pair.
  void OnCompletion(const ibv_wc& completion);
  // After a batch of completions and the receives that were posted again.
  void EndBatch();
  // There may be more credits for it.
  void Grant();
  // Its peer may send nothing, and there are no receives to let it.
  void Starve();
  uint32_t member() const { return *member_; }

  // The lane's: it is in the list of those that the batch concerns.
  bool touched = false;

 private:
  struct Sent {
    Buffer data;    // what the device reads in place
    BlockRef copy;  // header and copied bytes
  };

  void OnReceived(uint32_t slot, uint32_t bytes);
  void TakeBytes(uint32_t slot, uint32_t bytes);
  void OnSent(uint32_t seq);
  void OnError(const ibv_wc& completion);
  bool FillBatch(Buffer& out, bool fin);
  MessagePlan Plan(const Buffer& out, uint32_t max_copy) const;
  bool AddBare(bool fin);
  void AddMessage(Buffer& out, const MessagePlan& plan, const SendPlan& send, bool fin);
  void PostBatch();

  const VerbsApi& api_;
  ibv_qp& pair_;
  const uint32_t number_;
  const Limits limits_;
  std::optional<ReceiveQueue> own_queue_;
  ReceiveQueue* queue_ = nullptr;
  SendBatch* batch_ = nullptr;
  std::optional<ReceiveLedger::Member> member_;
  std::optional<CreditFlow> flow_;
  MessageLimits message_limits_;
  User* user_ = nullptr;

  std::vector<Sent> sent_;  // a ring by seq
  bool may_send_ = false;   // the passive side: since the first message came
  bool hello_due_ = false;  // the initiator: until its first message is sent
  bool fin_sent_ = false;
  Buffer input_;
  BlockWriter small_;  // small messages are copied into its blocks
  uint32_t bare_ = 0;  // bare messages that came; their receives are given back
  bool detached_ = false;
  bool ended_ = false;
  absl::Status error_;
  Counters counters_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_MESSAGE_CHANNEL_H_
