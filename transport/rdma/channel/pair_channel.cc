// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/channel/pair_channel.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "transport/base/errno_status.h"
#include "transport/base/trace.h"

namespace farcall {

PairChannel::PairChannel(const VerbsApi& api, BlockPool& pool, size_t device, ibv_qp& pair,
                         const Limits& limits, uint32_t own_slots, CopyTally* copied)
    : api_(api),
      pair_(pair),
      number_(pair.qp_num),
      limits_(limits),
      pool_(pool),
      copied_(copied),
      sent_(std::bit_ceil(limits.send_slots)),
      small_(pool),
      memory_(pool) {
  if (own_slots == 0) return;
  own_queue_.emplace(pool, device, ReceiveQueue::Target{.own = &pair}, own_slots,
                     limits.receive_slots);
}

absl::Status PairChannel::Join(ReceiveQueue& queue, SendBatch& batch, CompletionQueueBudget& room,
                               DevicePollerCounters& poller, const Clock& clock, PeerTrust trust) {
  auto member = queue.ledger().Join(trust);
  if (!member.ok()) return member.status();
  queue_ = &queue;
  batch_ = &batch;
  room_ = &room;
  poller_ = &poller;
  clock_ = &clock;
  member_ = *member;
  queue.ledger().Pause(*member);
  return absl::OkStatus();
}

void PairChannel::Fail(absl::Status error) {
  may_send_ = false;
  if (error_.ok()) error_ = std::move(error);
}

void PairChannel::OnError(const ibv_wc& completion) {
  if (!error_.ok()) return;
  poller_->breaks[CompletionStatusIndex(completion.status)].Add(1);
  Fail(absl::UnavailableError(absl::StrCat(api_.ibv.wc_status_str(completion.status),
                                           " (vendor error 0x", absl::Hex(completion.vendor_err),
                                           ")")));
}

uint64_t PairChannel::Release(uint32_t seq, uint32_t freed) {
  uint64_t measured = 0;
  for (uint32_t i = 0; i < freed; ++i) {
    Sent& sent = SentAt(seq - i);
    sent.data.Clear();
    sent.copy = BlockRef();
    measured += std::exchange(sent.measured, 0);
  }
  return measured;
}

bool PairChannel::TakeRoom(uint32_t own, uint32_t unfinished) {
  if (unfinished < own + extra_) return true;
  if (!room_->Take(1)) return false;
  ++extra_;
  return true;
}

void PairChannel::GiveRoom(uint32_t unfinished) {
  const uint32_t needed = unfinished - std::min(unfinished, kOwnSends - 1);
  if (extra_ <= needed) return;
  room_->Give(extra_ - needed);
  extra_ = needed;
}

void PairChannel::KeepSent(uint32_t seq, BlockRef copy, const MessagePlan& plan, Buffer& out) {
  Sent& sent = SentAt(seq);
  sent.copy = std::move(copy);
  sent.measured = plan.measured ? plan.bytes : 0;
  if (plan.reference) {
    // Its bytes are kept with the window.
  } else if (plan.copied == plan.bytes) {
    out.RemoveFront(plan.bytes);
  } else {
    sent.data = out.CutFront(plan.bytes);
  }
  CountSent(plan);
}

void PairChannel::CountSent(const MessagePlan& plan) {
  CountCopied(CopyCause::kSentUnregistered, plan.unknown);
  CountCopied(CopyCause::kSentSmall, plan.copied - plan.unknown);
  counters_.bytes_written += plan.bytes;
  poller_->bytes_out.Add(plan.bytes);
}

void PairChannel::PostBatch() {
  if (batch_->empty()) return;
  const size_t messages = batch_->size();
  ++counters_.doorbells;
  counters_.messages += messages;
  poller_->doorbells.Add(1);
  poller_->messages_out.Add(messages);
  const int error = batch_->Post(pair_);
  trace::Post(number_, messages, error);
  if (error != 0) Fail(Annotate(ErrnoStatus(error), "ibv_post_send"));
}

void PairChannel::CountCopied(CopyCause cause, uint64_t bytes) {
  if (bytes == 0) return;
  counters_.copied[cause] += bytes;
  if (copied_ != nullptr) copied_->Add(cause, bytes);
}

void PairChannel::CountWait(Wait wait) {
  const bool waits = wait != Wait::kNothing && error_.ok();
  if (waits == std::exchange(waits_, waits) || !waits) return;
  if (wait == Wait::kMemory) {
    ++counters_.memory_waits;
    poller_->memory_waits.Add(1);
  } else if (wait == Wait::kCredits) {
    ++counters_.credit_waits;
    poller_->credit_waits.Add(1);
  } else {
    ++counters_.slot_waits;
    poller_->slot_waits.Add(1);
  }
}

void PairChannel::TakeBytes(uint32_t slot, uint32_t skip, uint32_t bytes) {
  const uint32_t payload = bytes - skip;
  counters_.bytes_read += payload;
  poller_->bytes_in.Add(payload);
  if (detached_) return queue_->Reuse(slot, /*bare=*/false);
  Buffer& to = incoming_.Tail();
  const absl::string_view copied(queue_->block(slot)->bytes() + skip, payload);
  const bool small = bytes < limits_.copy_out_below;
  // Who keeps a message keeps its block: all of it, of which it needs less than half.
  const bool wasteful = !small && bytes < kReceiveBlock / 2 && memory_.IsShort();
  const bool fits = (small || wasteful) && small_.Append(copied, to);
  if (!fits && !small) return to.Append({queue_->Take(slot), skip, payload});
  // The heap, where the pool is at its limit: a few small messages, within the credits.
  if (!fits) to.Append(copied);
  CountCopied(CopyCause::kReceivedSmall, payload);
  queue_->Reuse(slot, /*bare=*/false);
}

}  // namespace farcall
