// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_RECEIVE_QUEUE_H_
#define FARCALL_TRANSPORT_RDMA_RECEIVE_QUEUE_H_

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/buffer/block_pool.h"
#include "transport/rdma/receive_ledger.h"

namespace farcall {

// The receives of a shared queue, or of one queue pair: a block in each slot, posted; and the
// ledger of what was promised out of them. A slot whose block was taken stays empty until the
// pool has another one: that is how a full pool slows down the senders. One thread at a time.
class ReceiveQueue {
 public:
  // One of the two.
  struct Target {
    ibv_srq* shared = nullptr;
    ibv_qp* own = nullptr;
  };

  // `device`: index in RegionKeys. `slots`: what the queue holds. `member_slots`: most that one
  // connection is given.
  ReceiveQueue(BlockPool& pool, size_t device, Target target, uint32_t slots,
               uint32_t member_slots);
  ReceiveQueue(const ReceiveQueue&) = delete;
  ReceiveQueue& operator=(const ReceiveQueue&) = delete;
  // After the queue itself, which may write to the blocks as long as it is there.
  ~ReceiveQueue() = default;

  // --- A completion named `slot` (< slots()).

  const BlockRef& block(uint32_t slot) const { return blocks_[slot]; }
  uint32_t slots() const { return static_cast<uint32_t>(blocks_.size()); }
  // Takes the block out.
  BlockRef Take(uint32_t slot);
  // The block is posted again. `bare`: its message had no bytes, so the ledger was not told of
  // it and the same member is given it back.
  void Reuse(uint32_t slot, bool bare);

  // --- After a batch of completions.

  // Gets blocks for empty slots that the device knows: others would keep the slots for as
  // long as they are not registered, which may be for ever.
  void Fill();
  // Posts what has a block, and tells the ledger. False: some slots stay empty, to be tried
  // again later.
  bool Post();

  ReceiveLedger& ledger() { return ledger_; }

 private:
  // Work requests of one doorbell.
  static constexpr uint32_t kBatch = 32;
  // So many blocks that the device does not know are looked past in one Fill.
  static constexpr size_t kMostUnknown = 64;

  uint32_t PostSome(uint32_t from);
  int PostChain(ibv_recv_wr* first, ibv_recv_wr** bad);

  BlockPool& pool_;
  const size_t device_;
  const Target target_;
  ReceiveLedger ledger_;
  std::vector<BlockRef> blocks_;
  std::vector<uint32_t> empty_;  // slots without a block
  std::vector<uint32_t> ready_;  // slots with a block that is to be posted
  uint32_t bare_ = 0;            // of those, how many the ledger counts as posted
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_RECEIVE_QUEUE_H_
