// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/channel/receive_queue.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "transport/base/check.h"
#include "transport/rdma/flow/wr_id.h"
#include "transport/rdma/memory/region_keys.h"
#include "transport/rdma_options.h"

namespace farcall {

ReceiveQueue::ReceiveQueue(BlockPool& pool, size_t device, Target target, uint32_t slots,
                           uint32_t member_slots)
    : pool_(pool),
      device_(device),
      target_(target),
      ledger_(target.shared != nullptr
                  ? ReceiveLedger(member_slots, ReceiveLedger::Use::kShared,
                                  std::max(slots / kUntrustedShare, ReceiveLedger::kMinimum))
                  : ReceiveLedger(member_slots, ReceiveLedger::Use::kSole)),
      blocks_(slots),
      used_(slots),
      stamps_(slots, kNotPosted) {
  Check((target.shared == nullptr) != (target.own == nullptr), "receives go to one queue");
  idle_.reserve(slots);
  empty_.reserve(slots);
  ready_.reserve(slots);
  for (uint32_t slot = slots; slot > 0; --slot) empty_.push_back(slot - 1);
}

void ReceiveQueue::SetUsed(uint32_t used) {
  Check(used <= slots(), "a queue has so many slots");
  used_ = used;
  const uint32_t wanted = std::min(used_ + lost_, slots());
  while (!idle_.empty() && slots() - idle_.size() < wanted) {
    empty_.push_back(idle_.back());
    idle_.pop_back();
  }
  while (!empty_.empty() && slots() - idle_.size() > wanted) {
    idle_.push_back(empty_.back());
    empty_.pop_back();
  }
}

// Whether the slot, which is not posted, is one too many.
bool ReceiveQueue::Idle(uint32_t slot) {
  if (slots() - idle_.size() <= used_ + lost_) [[likely]] {
    return false;
  }
  idle_.push_back(slot);
  return true;
}

void ReceiveQueue::Doubt(ReceiveLedger::Member member) {
  const uint32_t receives = ledger_.Doubt(member);
  if (receives == 0) return;
  if (!doubts_.empty() && doubts_.back().before == next_stamp_) {
    doubts_.back().receives += receives;
  } else {
    doubts_.push_back({next_stamp_, next_stamp_ + used_, receives});
  }
}

// Not again before anything else was posted: if that did not help, the device has lost them.
void ReceiveQueue::BelieveIfNoneIsFree() {
  if (ledger_.free() >= ReceiveLedger::kMinimum || doubts_.empty()) return;
  if (std::exchange(believed_, next_stamp_) == next_stamp_) return;
  ledger_.Recount(ledger_.doubted(), /*lost=*/0);
  for (Doubted& doubted : doubts_) doubted.receives = 0;
}

void ReceiveQueue::OnCame(uint32_t slot) {
  const uint64_t stamp = std::exchange(stamps_[slot], kNotPosted);
  if (stamp == kLost) [[unlikely]] {
    --lost_;
    ledger_.OnFound();
  } else if (!doubts_.empty()) [[unlikely]] {
    Settle(stamp);
  }
}

void ReceiveQueue::Settle(uint64_t came) {
  while (!doubts_.empty() && came >= doubts_.front().until) {
    const Doubted doubted = doubts_.front();
    doubts_.pop_front();
    uint32_t lost = 0;
    for (uint64_t& stamp : stamps_) {
      if (stamp == kNotPosted || stamp >= doubted.before) continue;
      stamp = kLost;
      ++lost;
    }
    ledger_.Recount(doubted.receives, lost);
    lost_ += lost;
    SetUsed(used_);
  }
}

BlockRef ReceiveQueue::Take(uint32_t slot) {
  OnCame(slot);
  if (!Idle(slot)) empty_.push_back(slot);
  return std::move(blocks_[slot]);
}

void ReceiveQueue::Reuse(uint32_t slot, bool bare) {
  OnCame(slot);
  // One that was bare is given to its member again, so it must be there.
  if (!bare && Idle(slot)) {
    blocks_[slot] = BlockRef();
    return;
  }
  ready_.push_back(slot);
  if (bare) ++bare_;
}

// The receive of a bare message is given to its member again at once.
bool ReceiveQueue::PostDue() const {
  const uint32_t together = target_.shared == nullptr ? 0 : std::min(kTogether, used_ / 8);
  return bare_ > 0 || ready_.size() + empty_.size() >= together || ledger_.free() < together;
}

void ReceiveQueue::Fill() {
  std::vector<BlockRef> unknown;  // given back at the end, so that the pool gives others
  const size_t wanted = empty_.size();
  while (!empty_.empty() && unknown.size() < look_past_) {
    // New regions would not be registered either.
    BlockRef block = unknown.size() < kFirstUnknown ? pool_.Allocate(kReceiveBlock)
                                                    : pool_.AllocateMapped(kReceiveBlock);
    // Nor a larger one: it would lie posted for good, for a message of 64 KiB.
    if (!block || block->capacity > kReceiveBlock) return;
    if (block->keys == nullptr || !block->keys->lkey(device_)) {
      unknown.push_back(std::move(block));
      continue;
    }
    blocks_[empty_.back()] = std::move(block);
    ready_.push_back(empty_.back());
    empty_.pop_back();
  }
  if (empty_.size() < wanted) {
    look_past_ = kFirstUnknown;
  } else if (!unknown.empty()) {
    look_past_ = std::min(2 * look_past_, kMaxUnknown);
  }
}

bool ReceiveQueue::Post() {
  refused_ = 0;
  uint32_t posted = 0;
  while (posted < ready_.size()) {
    const uint32_t some = PostSome(posted);
    if (some == 0) break;
    for (uint32_t i = 0; i < some; ++i) stamps_[ready_[posted + i]] = next_stamp_++;
    posted += some;
  }
  ready_.erase(ready_.begin(), ready_.begin() + posted);
  const uint32_t bare = std::min(bare_, posted);
  bare_ -= bare;
  if (posted > bare) ledger_.OnPosted(posted - bare);
  return ready_.empty() && empty_.empty();
}

// Posts at most a batch of ready_, beginning with `from`; returns how many.
uint32_t ReceiveQueue::PostSome(uint32_t from) {
  std::array<ibv_recv_wr, kBatch> requests;
  std::array<ibv_sge, kBatch> segments;
  const auto kind = target_.shared != nullptr ? WrId::Kind::kReceive : WrId::Kind::kOwnReceive;
  const uint32_t most = std::min<uint32_t>(kBatch, static_cast<uint32_t>(ready_.size()) - from);
  uint32_t count = 0;
  for (; count < most; ++count) {
    const uint32_t slot = ready_[from + count];
    const Block& block = *blocks_[slot];
    const std::optional<uint32_t> key = block.keys->lkey(device_);
    if (!key) break;  // the device was just taken away
    segments[count] = {reinterpret_cast<uint64_t>(block.data), kReceiveBlock, *key};
    ibv_recv_wr& request = requests[count];
    request.wr_id = PackWrId({.kind = kind, .slot = slot});
    request.next = nullptr;
    request.sg_list = &segments[count];
    request.num_sge = 1;
    if (count > 0) requests[count - 1].next = &request;
  }
  if (count == 0) return 0;
  ibv_recv_wr* bad = nullptr;
  refused_ = PostChain(requests.data(), &bad);
  if (refused_ == 0) return count;
  // ENOMEM, or a broken device: those before `bad` are posted.
  return bad == nullptr ? 0 : static_cast<uint32_t>(bad - requests.data());
}

int ReceiveQueue::PostChain(ibv_recv_wr* first, ibv_recv_wr** bad) {
  if (target_.shared != nullptr) return ibv_post_srq_recv(target_.shared, first, bad);
  return ibv_post_recv(target_.own, first, bad);
}

}  // namespace farcall
