// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_CHANNEL_SEND_BATCH_H_
#define FARCALL_TRANSPORT_RDMA_CHANNEL_SEND_BATCH_H_

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/strings/string_view.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"
#include "transport/rdma/flow/incoming_stream.h"
#include "transport/rdma/flow/memory_window_ring.h"
#include "transport/rdma/flow/message_header.h"
#include "transport/rdma/flow/message_plan.h"

namespace farcall {

// Work requests for one queue pair, chained and posted with one doorbell; and the memory for
// headers and for what must be copied. Serves all connections of a poller, one after the
// other. One thread at a time.
class SendBatch {
 public:
  // Messages of one doorbell. A reference binds a window too.
  static constexpr size_t kMax = 32;
  // Work requests beside these: invalidations and READs.
  static constexpr size_t kMaxOthers = size_t{2} * MemoryWindowRing::kMax;

  // `device`: index in RegionKeys of `registrar`, the pool's. `max_inline`: of any queue pair
  // that it serves.
  SendBatch(BlockPool& pool, const void* registrar, size_t device, uint32_t max_inline);
  SendBatch(const SendBatch&) = delete;
  SendBatch& operator=(const SendBatch&) = delete;

  size_t size() const { return messages_; }
  bool full() const { return messages_ == kMax; }
  // Nothing is to be posted.
  bool empty() const { return size_ == 0; }
  bool Knows(const Block& block) const;
  // Whether a window can be bound to it.
  bool Opens(const Block& block) const;

  // Makes room for the header and the copied bytes of `plan`, the batch's next message. False:
  // the pool has no block, or none yet that the device knows; try later.
  bool Reserve(const MessagePlan& plan);
  // Adds the message that was Reserved: the front of `slices`, which stay referenced until it
  // is completed. Gives the block of its header and copied bytes, to be kept as long; null
  // where it goes inline.
  BlockRef Add(std::span<const Buffer::Slice> slices, const MessagePlan& plan,
               const MessageHeader& header, uint64_t wr_id, bool signaled);
  // The same of `head` and all slices, which are copied.
  BlockRef AddCopied(absl::string_view head, std::span<const Buffer::Slice> slices,
                     const MessagePlan& plan, const MessageHeader& header, uint64_t wr_id,
                     bool signaled);
  // The same of a message without a header; `immediate` goes beside its bytes, if any.
  BlockRef AddImmediate(std::span<const Buffer::Slice> slices, const MessagePlan& plan,
                        uint32_t immediate, uint64_t wr_id, bool signaled, bool solicited);
  // The same for a reference, whose message is that of `plan`, Reserved; before it goes
  // what binds `window` to the bytes, with a key that it did not have before.
  BlockRef AddReference(const Buffer::Slice& slice, const MessagePlan& plan,
                        const MessageHeader& header, ibv_mw& window, uint64_t bind_wr_id,
                        uint64_t wr_id, bool signaled);
  // Closes it to the peer; asks for the completion.
  void AddInvalidate(const ibv_mw& window, uint64_t wr_id);
  // Asks for the completion.
  void AddRead(const IncomingStream::Read& read, uint64_t wr_id);
  // Asks for the completion of the last message, if it does not.
  void SignalLast();
  // Wakes the peer for it (IBV_SEND_SOLICITED).
  void SolicitLast();
  // Posts all and is empty. 0, or the errno of ibv_post_send(3).
  int Post(ibv_qp& pair);

 private:
  static constexpr size_t kSegments = MessagePlan::kMaxSegments;

  // Where the header of a message goes, and its key.
  struct Head {
    char* bytes = nullptr;
    uint32_t key = 0;
    BlockRef kept;
  };
  Head TakeHead(const MessagePlan& plan);
  Head PutHead(const MessagePlan& plan, const MessageHeader& header);
  void PutSegments(std::span<const Buffer::Slice> slices, const MessagePlan& plan,
                   const Head& head);
  ibv_send_wr& Append(ibv_wr_opcode opcode, uint64_t wr_id);
  ibv_sge* NextSegments() { return segments_.data() + size_ * kSegments; }
  ibv_send_wr& Finish(const MessagePlan& plan, uint64_t wr_id, bool signaled);

  BlockPool& pool_;
  const void* const registrar_;
  const size_t device_;
  const uint32_t inline_room_;
  std::vector<ibv_send_wr> requests_;
  std::vector<ibv_sge> segments_;
  std::vector<char> inline_;
  size_t size_ = 0;      // work requests
  size_t messages_ = 0;  // of them
  size_t last_ = 0;      // of them, the last message
  // What is copied goes here, each message where the last one ended.
  BlockRef arena_;
  uint32_t arena_used_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CHANNEL_SEND_BATCH_H_
