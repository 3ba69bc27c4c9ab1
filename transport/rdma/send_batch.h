// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_SEND_BATCH_H_
#define FARCALL_TRANSPORT_RDMA_SEND_BATCH_H_

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"
#include "transport/rdma/message_header.h"
#include "transport/rdma/message_plan.h"

namespace farcall {

// Work requests for one queue pair, chained and posted with one doorbell; and the memory for
// headers and for what must be copied. Serves all connections of a lane, one after the
// other. One thread at a time.
class SendBatch {
 public:
  // Work requests of one doorbell.
  static constexpr size_t kMost = 32;

  // `device`: index in RegionKeys. `max_inline`: of any queue pair that it serves.
  SendBatch(BlockPool& pool, size_t device, uint32_t max_inline);
  SendBatch(const SendBatch&) = delete;
  SendBatch& operator=(const SendBatch&) = delete;

  size_t size() const { return size_; }
  bool full() const { return size_ == kMost; }
  bool Knows(const Block& block) const;

  // Makes room for the header and the copied bytes of `plan`, the batch's next message. False:
  // the pool has no block, or none yet that the device knows; try later.
  bool Reserve(const MessagePlan& plan);
  // Adds the message that was Reserved: the front of `slices`, which stay referenced until it
  // is completed. Gives the block of its header and copied bytes, to be kept as long; null
  // where it goes inline.
  BlockRef Add(std::span<const Buffer::Slice> slices, const MessagePlan& plan,
               const MessageHeader& header, uint64_t wr_id, bool signaled);
  // Asks for the completion of the last one, if it does not.
  void SignalLast();
  // Posts all and is empty. 0, or the errno of ibv_post_send(3).
  int Post(ibv_qp& pair);

 private:
  static constexpr size_t kSegments = MessagePlan::kMostSegments;

  BlockPool& pool_;
  const size_t device_;
  const uint32_t inline_room_;
  std::vector<ibv_send_wr> requests_;
  std::vector<ibv_sge> segments_;
  std::vector<char> inline_;
  size_t size_ = 0;
  // What is copied goes here, each message where the last one ended.
  BlockRef arena_;
  uint32_t arena_used_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_SEND_BATCH_H_
