// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/channel/send_batch.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/base/check.h"
#include "transport/rdma/memory/region_keys.h"

namespace farcall {
namespace {

// So that the header, and with it the copied bytes, begin on a word.
constexpr uint32_t kAlignment = 8;

uint32_t Aligned(uint32_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// 0 where the device has just been taken away: the request fails then, as all others.
uint32_t KeyOf(const Block& block, size_t device) {
  return block.keys == nullptr ? 0 : block.keys->lkey(device).value_or(0);
}

}  // namespace

SendBatch::SendBatch(BlockPool& pool, const void* registrar, size_t device, uint32_t max_inline)
    : pool_(pool),
      registrar_(registrar),
      device_(device),
      inline_room_(Aligned(max_inline)),
      requests_(2 * kMax + kMaxOthers),
      segments_(requests_.size() * kSegments),
      inline_(kMax * inline_room_) {}

bool SendBatch::Knows(const Block& block) const {
  return block.keys != nullptr && block.keys->registrar == registrar_ &&
         block.keys->lkey(device_).has_value();
}

bool SendBatch::Opens(const Block& block) const {
  return Knows(block) && block.keys->region(device_) != nullptr;
}

bool SendBatch::Reserve(const MessagePlan& plan) {
  const uint32_t room = plan.own_bytes();
  if (plan.send_inline || room == 0) return true;
  // No send uses it any more.
  if (arena_.unique()) arena_used_ = 0;
  if (arena_ && arena_->capacity - arena_used_ >= room && Knows(*arena_)) return true;
  BlockRef block = pool_.Allocate(std::max(room, BlockPool::kSmall));
  if (!block || block->capacity < room || !Knows(*block)) return false;
  arena_ = std::move(block);
  arena_used_ = 0;
  return true;
}

inline SendBatch::Head SendBatch::TakeHead(const MessagePlan& plan) {
  Head head;
  if (plan.own_bytes() == 0) return head;
  if (plan.send_inline) {
    head.bytes = inline_.data() + messages_ * inline_room_;
  } else {
    head.kept = arena_;
    head.bytes = arena_->bytes() + arena_used_;
    head.key = KeyOf(*arena_, device_);
    arena_used_ = std::min(arena_->capacity, arena_used_ + Aligned(plan.own_bytes()));
  }
  return head;
}

inline SendBatch::Head SendBatch::PutHead(const MessagePlan& plan, const MessageHeader& header) {
  Head head = TakeHead(plan);
  EncodeMessageHeader(header, head.bytes);
  return head;
}

inline ibv_send_wr& SendBatch::Append(ibv_wr_opcode opcode, uint64_t wr_id) {
  Check(size_ < requests_.size(), "a batch has room for a work request");
  ibv_send_wr& request = requests_[size_];
  request = {};
  request.wr_id = wr_id;
  request.opcode = opcode;
  if (size_ > 0) requests_[size_ - 1].next = &request;
  ++size_;
  return request;
}

inline ibv_send_wr& SendBatch::Finish(const MessagePlan& plan, uint64_t wr_id, bool signaled) {
  ibv_sge* const segments = NextSegments();
  last_ = size_;
  ibv_send_wr& request = Append(IBV_WR_SEND, wr_id);
  request.sg_list = segments;
  request.num_sge = static_cast<int>(plan.segment_count);
  if (signaled) request.send_flags |= IBV_SEND_SIGNALED;
  if (plan.send_inline) request.send_flags |= IBV_SEND_INLINE;
  ++messages_;
  return request;
}

// The head's, with the copied bytes that follow it, first.
void SendBatch::PutSegments(std::span<const Buffer::Slice> slices, const MessagePlan& plan,
                            const Head& head) {
  char* const copied = head.bytes + plan.header;
  if (plan.copied > 0) GatherCopied(slices, 0, plan, copied);
  ibv_sge* const segments = NextSegments();
  segments[0] = {reinterpret_cast<uint64_t>(head.bytes), plan.header + plan.segments[0].length,
                 head.key};
  for (uint32_t i = 1; i < plan.segment_count; ++i) {
    const MessagePlan::Segment& segment = plan.segments[i];
    if (segment.slice == MessagePlan::kCopied) {
      segments[i] = {reinterpret_cast<uint64_t>(copied + segment.offset), segment.length, head.key};
      continue;
    }
    const Buffer::Slice& slice = slices[segment.slice];
    segments[i] = {reinterpret_cast<uint64_t>(slice.block->data + slice.offset + segment.offset),
                   segment.length, KeyOf(*slice.block, device_)};
  }
}

BlockRef SendBatch::Add(std::span<const Buffer::Slice> slices, const MessagePlan& plan,
                        const MessageHeader& header, uint64_t wr_id, bool signaled) {
  Head head = PutHead(plan, header);
  PutSegments(slices, plan, head);
  Finish(plan, wr_id, signaled);
  return std::move(head.kept);
}

BlockRef SendBatch::AddCopied(absl::string_view bytes, std::span<const Buffer::Slice> slices,
                              const MessagePlan& plan, const MessageHeader& header, uint64_t wr_id,
                              bool signaled) {
  Head head = PutHead(plan, header);
  char* out = head.bytes + plan.header;
  std::memcpy(out, bytes.data(), bytes.size());
  out += bytes.size();
  for (const Buffer::Slice& slice : slices) {
    std::memcpy(out, slice.view().data(), slice.length);
    out += slice.length;
  }
  NextSegments()[0] = {reinterpret_cast<uint64_t>(head.bytes), plan.own_bytes(), head.key};
  Finish(plan, wr_id, signaled);
  return std::move(head.kept);
}

BlockRef SendBatch::AddImmediate(std::span<const Buffer::Slice> slices, const MessagePlan& plan,
                                 uint32_t immediate, uint64_t wr_id, bool signaled,
                                 bool solicited) {
  Head head = TakeHead(plan);
  PutSegments(slices, plan, head);
  ibv_send_wr& request = Finish(plan, wr_id, signaled);
  request.opcode = IBV_WR_SEND_WITH_IMM;
  request.imm_data = htonl(immediate);
  if (solicited) request.send_flags |= IBV_SEND_SOLICITED;
  if (plan.header + plan.segments[0].length == 0) {
    ++request.sg_list;
    --request.num_sge;
  }
  return std::move(head.kept);
}

BlockRef SendBatch::AddReference(const Buffer::Slice& slice, const MessagePlan& plan,
                                 const MessageHeader& header, ibv_mw& window, uint64_t bind_wr_id,
                                 uint64_t wr_id, bool signaled) {
  const auto address = reinterpret_cast<uint64_t>(slice.block->data + slice.offset);
  ibv_send_wr& bind = Append(IBV_WR_BIND_MW, bind_wr_id);
  bind.bind_mw.mw = &window;
  bind.bind_mw.rkey = ibv_inc_rkey(window.rkey);
  bind.bind_mw.bind_info.mr = slice.block->keys->region(device_);
  bind.bind_mw.bind_info.addr = address;
  bind.bind_mw.bind_info.length = plan.bytes;
  bind.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_READ;

  Head head = PutHead(plan, header);
  EncodeRemoteBytes({.address = address, .key = bind.bind_mw.rkey, .length = plan.bytes},
                    head.bytes + kMessageHeaderBytes);
  NextSegments()[0] = {reinterpret_cast<uint64_t>(head.bytes), plan.own_bytes(), head.key};
  Finish(plan, wr_id, signaled);
  return std::move(head.kept);
}

void SendBatch::AddInvalidate(const ibv_mw& window, uint64_t wr_id) {
  ibv_send_wr& request = Append(IBV_WR_LOCAL_INV, wr_id);
  request.invalidate_rkey = window.rkey;
  request.send_flags = IBV_SEND_SIGNALED;
}

void SendBatch::AddRead(const IncomingStream::Read& read, uint64_t wr_id) {
  ibv_sge* const segments = NextSegments();
  for (uint32_t i = 0; i < read.segment_count; ++i) {
    const Buffer::Slice& slice = read.segments[i];
    segments[i] = {reinterpret_cast<uint64_t>(slice.block->data + slice.offset), slice.length,
                   KeyOf(*slice.block, device_)};
  }
  ibv_send_wr& request = Append(IBV_WR_RDMA_READ, wr_id);
  request.sg_list = segments;
  request.num_sge = static_cast<int>(read.segment_count);
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.rdma.remote_addr = read.address;
  request.wr.rdma.rkey = read.key;
}

void SendBatch::SignalLast() {
  if (messages_ > 0) requests_[last_].send_flags |= IBV_SEND_SIGNALED;
}

void SendBatch::SolicitLast() {
  if (messages_ > 0) requests_[last_].send_flags |= IBV_SEND_SOLICITED;
}

int SendBatch::Post(ibv_qp& pair) {
  if (size_ == 0) return 0;
  const size_t posted = std::exchange(size_, 0);
  messages_ = 0;
  ibv_send_wr* bad = nullptr;
  const int error = ibv_post_send(&pair, requests_.data(), &bad);
  // ibv_bind_mw(3) would, and drivers take the old key from there: rxe does.
  for (size_t i = 0; i < posted; ++i) {
    const ibv_send_wr& request = requests_[i];
    if (request.opcode == IBV_WR_BIND_MW) request.bind_mw.mw->rkey = request.bind_mw.rkey;
  }
  return error;
}

}  // namespace farcall
