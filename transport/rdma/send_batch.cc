// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/send_batch.h"

#include <algorithm>

#include "transport/base/check.h"
#include "transport/rdma/region_keys.h"

namespace farcall {
namespace {

// So that the header, and with it the copied bytes, begin on a word.
constexpr uint32_t kAlignment = 8;

uint32_t Aligned(uint32_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

uint32_t Room(const MessagePlan& plan) {
  return static_cast<uint32_t>(kMessageHeaderBytes) + plan.copied;
}

// 0 where the device has just been taken away: the request fails then, as all others.
uint32_t KeyOf(const Block& block, size_t device) {
  return block.keys == nullptr ? 0 : block.keys->lkey(device).value_or(0);
}

}  // namespace

SendBatch::SendBatch(BlockPool& pool, size_t device, uint32_t max_inline)
    : pool_(pool),
      device_(device),
      inline_room_(Aligned(max_inline)),
      requests_(kMost),
      segments_(kMost * kSegments),
      inline_(kMost * inline_room_) {}

bool SendBatch::Knows(const Block& block) const {
  return block.keys != nullptr && block.keys->lkey(device_).has_value();
}

bool SendBatch::Reserve(const MessagePlan& plan) {
  if (plan.send_inline) return true;
  const uint32_t room = Room(plan);
  // Nobody sends from it any more.
  if (arena_.unique()) arena_used_ = 0;
  if (arena_ && arena_->capacity - arena_used_ >= room && Knows(*arena_)) return true;
  BlockRef block = pool_.Allocate(std::max(room, BlockPool::kSmall));
  if (!block || block->capacity < room || !Knows(*block)) return false;
  arena_ = std::move(block);
  arena_used_ = 0;
  return true;
}

BlockRef SendBatch::Add(std::span<const Buffer::Slice> slices, const MessagePlan& plan,
                        const MessageHeader& header, uint64_t wr_id, bool signaled) {
  Check(!full(), "a batch has room for a message");
  BlockRef kept;
  char* out = inline_.data() + size_ * inline_room_;
  uint32_t key = 0;
  if (!plan.send_inline) {
    kept = arena_;
    out = arena_->bytes() + arena_used_;
    key = KeyOf(*arena_, device_);
    arena_used_ = std::min(arena_->capacity, arena_used_ + Aligned(Room(plan)));
  }
  EncodeMessageHeader(header, out);
  char* const copied = out + kMessageHeaderBytes;
  if (plan.copied > 0) GatherCopied(slices, 0, plan, copied);

  ibv_sge* const segments = segments_.data() + size_ * kSegments;
  segments[0] = {reinterpret_cast<uint64_t>(out),
                 static_cast<uint32_t>(kMessageHeaderBytes) + plan.segments[0].length, key};
  for (uint32_t i = 1; i < plan.segment_count; ++i) {
    const MessagePlan::Segment& segment = plan.segments[i];
    if (segment.slice == MessagePlan::kCopied) {
      segments[i] = {reinterpret_cast<uint64_t>(copied + segment.offset), segment.length, key};
      continue;
    }
    const Buffer::Slice& slice = slices[segment.slice];
    segments[i] = {reinterpret_cast<uint64_t>(slice.block->data + slice.offset + segment.offset),
                   segment.length, KeyOf(*slice.block, device_)};
  }
  ibv_send_wr& request = requests_[size_];
  request = {};
  request.wr_id = wr_id;
  request.sg_list = segments;
  request.num_sge = static_cast<int>(plan.segment_count);
  request.opcode = IBV_WR_SEND;
  if (signaled) request.send_flags |= IBV_SEND_SIGNALED;
  if (plan.send_inline) request.send_flags |= IBV_SEND_INLINE;
  if (size_ > 0) requests_[size_ - 1].next = &request;
  ++size_;
  return kept;
}

void SendBatch::SignalLast() {
  if (size_ > 0) requests_[size_ - 1].send_flags |= IBV_SEND_SIGNALED;
}

int SendBatch::Post(ibv_qp& pair) {
  if (size_ == 0) return 0;
  size_ = 0;
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(&pair, requests_.data(), &bad);
}

}  // namespace farcall
