// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_CHANNEL_RECEIVE_QUEUE_H_
#define FARCALL_TRANSPORT_RDMA_CHANNEL_RECEIVE_QUEUE_H_

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "transport/base/time.h"
#include "transport/buffer/block_pool.h"
#include "transport/rdma/flow/receive_ledger.h"

namespace farcall {

// The receives of a shared queue, or of one queue pair: a block in each slot, posted; and the
// ledger of what was promised out of them. A slot whose block was taken stays empty until the
// pool has another one: that is how a full pool slows down the senders. It holds more slots
// than it keeps posted at first, since few devices resize a queue.
//
// Some receives may be gone with a queue pair that took them (Doubt). A queue is first in, first
// out: when all that was posted since has come, once around, what was posted before and has not
// come is lost. Each doubt is settled by itself. A lost one's slot stays as it is, since the device
// may still write to its block; another takes its place. One that comes all the same is used as
// before. One thread at a time.
class ReceiveQueue {
 public:
  // One of the two.
  struct Target {
    ibv_srq* shared = nullptr;
    ibv_qp* own = nullptr;
  };

  // `device`: index in RegionKeys. `slots`: what the queue holds; all are in use until
  // SetUsed. `member_slots`: most that one connection is given.
  ReceiveQueue(BlockPool& pool, size_t device, Target target, uint32_t slots,
               uint32_t member_slots);
  ReceiveQueue(const ReceiveQueue&) = delete;
  ReceiveQueue& operator=(const ReceiveQueue&) = delete;
  // After the queue itself, which may write to the blocks as long as it is there.
  ~ReceiveQueue() = default;

  // --- A completion named `slot` (< slots()).

  const BlockRef& block(uint32_t slot) const { return blocks_[slot]; }
  uint32_t slots() const { return static_cast<uint32_t>(blocks_.size()); }
  // How many slots are kept posted, of slots(). More of them are filled with the next Fill; of
  // fewer, what is used is not posted again, until it is so few.
  void SetUsed(uint32_t used);
  uint32_t used() const { return used_; }
  // Takes the block out.
  BlockRef Take(uint32_t slot);
  // The block is posted again. `bare`: its message had no bytes, so the ledger did not count
  // it and the same member is given it back.
  void Reuse(uint32_t slot, bool bare);

  // --- After a batch of completions.

  // Whether Fill and Post are due. Of a shared queue some receives are left for the next batch, so
  // that a chain of them costs one doorbell: as long as no member waits for them.
  bool PostDue() const;
  // Gets blocks for empty slots that the device knows: others would keep the slots for as
  // long as they are not registered, which may be for ever.
  void Fill();
  // Each slot that is to be posted has a block.
  bool filled() const { return empty_.empty(); }
  // Posts what has a block, and tells the ledger. False: some slots stay empty, to be tried
  // again later.
  bool Post();
  // The errno with which the device refused a receive in the last Post; 0: it refused none.
  int refused() const { return refused_; }

  ReceiveLedger& ledger() { return ledger_; }
  // The queue pair of the member ended, and its device did not say that it has given up what it
  // took of the queue. Before the member leaves.
  void Doubt(ReceiveLedger::Member member);
  // Before a member joins. If no receive is free for it, those that are doubted are given again:
  // the messages that come then settle the doubts, and what is lost is found as before.
  void BelieveIfNoneIsFree();
  // Receives that are gone, or may be.
  uint32_t lost() const { return lost_ + ledger_.doubted(); }

  // The poller's: since when Post has not been true.
  std::optional<TimePoint> starving_since;

 private:
  // One in so many of a shared queue, when it is as large as it may become, are for untrusted
  // peers.
  static constexpr uint32_t kUntrustedShare = 4;
  // Work requests of one doorbell, at most; and, of a shared queue, at least, but for a small one.
  static constexpr uint32_t kBatch = 32;
  static constexpr uint32_t kTogether = 16;
  // So many blocks that the device does not know are looked past in one Fill. Twice as many the
  // next time where all were such: the pool may have grown by regions that may not be
  // registered, and known blocks may lie behind them.
  static constexpr size_t kFirstUnknown = 64;
  static constexpr size_t kMaxUnknown = 16'384;

  void OnCame(uint32_t slot);
  void Settle(uint64_t came);
  bool Idle(uint32_t slot);
  uint32_t PostSome(uint32_t from);
  int PostChain(ibv_recv_wr* first, ibv_recv_wr** bad);

  BlockPool& pool_;
  const size_t device_;
  const Target target_;
  ReceiveLedger ledger_;
  std::vector<BlockRef> blocks_;
  size_t look_past_ = kFirstUnknown;
  uint32_t used_;                // slots that are wanted posted
  std::vector<uint32_t> idle_;   // slots that are not
  std::vector<uint32_t> empty_;  // slots without a block
  std::vector<uint32_t> ready_;  // slots with a block that is to be posted
  uint32_t bare_ = 0;            // of those, how many the ledger counts as posted
  // Of each slot: its number among all that were posted; kNotPosted, kLost.
  static constexpr uint64_t kNotPosted = 0;
  static constexpr uint64_t kLost = ~uint64_t{0};
  std::vector<uint64_t> stamps_;
  uint64_t next_stamp_ = 1;
  struct Doubted {
    uint64_t before;    // of what was posted before this number
    uint64_t until;     // this one, or a later one, comes
    uint32_t receives;  // may be gone: so many are in doubted() of the ledger
  };
  // In the order of `before`, each another one. One is settled at the latest when twice slots()
  // receives were posted after it: so there are no more than that.
  std::deque<Doubted> doubts_;
  uint64_t believed_ = 0;  // next_stamp_ when doubted receives were last given again
  uint32_t lost_ = 0;
  int refused_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CHANNEL_RECEIVE_QUEUE_H_
