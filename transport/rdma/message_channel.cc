// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/message_channel.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/base/errno_status.h"
#include "transport/rdma/message_header.h"
#include "transport/rdma/wr_id.h"

namespace farcall {

MessageChannel::MessageChannel(const VerbsApi& api, BlockPool& pool, size_t device, ibv_qp& pair,
                               const Limits& limits, uint32_t own_slots)
    : api_(api),
      pair_(pair),
      number_(pair.qp_num),
      limits_(limits),
      sent_(std::bit_ceil(limits.send_slots)),
      small_(pool) {
  if (own_slots == 0) return;
  own_queue_.emplace(pool, device, ReceiveQueue::Target{.own = &pair}, own_slots,
                     limits.receive_slots);
}

absl::Status MessageChannel::Join(ReceiveQueue& queue, SendBatch& batch) {
  auto member = queue.ledger().Join();
  if (!member.ok()) return member.status();
  queue_ = &queue;
  batch_ = &batch;
  member_ = *member;
  queue.ledger().Pause(*member);
  return absl::OkStatus();
}

void MessageChannel::Open(const ReceiveTerms& peer, bool initiator) {
  CreditLimits limits;
  limits.send_slots = limits_.send_slots;
  limits.receive_slots = limits_.receive_slots;
  limits.peer_slots = peer.receive_slots;
  limits.initial_receives = ReceiveLedger::kMinimum;
  limits.initial_credits = peer.initial_receives;
  flow_.emplace(limits);
  message_limits_.max_message = std::min(peer.block_bytes, kReceiveBlock);
  message_limits_.max_segments = limits_.max_segments;
  message_limits_.max_inline = limits_.max_inline;
  // With the header this fills a block of the largest class that is copied to.
  message_limits_.max_copy = kReceiveBlock - static_cast<uint32_t>(kMessageHeaderBytes);
  may_send_ = initiator;
  hello_due_ = initiator;
}

void MessageChannel::Leave() {
  if (!member_) return;
  queue_->ledger().Leave(*member_);
  member_.reset();
}

void MessageChannel::Detach() {
  user_ = nullptr;
  detached_ = true;
  input_.Clear();
  SetReading(false);
}

void MessageChannel::SetReading(bool reading) {
  if (!member_) return;
  if (reading) {
    queue_->ledger().Resume(*member_);
    Grant();
  } else {
    queue_->ledger().Pause(*member_);
  }
}

bool MessageChannel::HasNews() const {
  if (!may_send_ || !error_.ok()) return false;
  return hello_due_ || flow_->HasNews();
}

bool MessageChannel::Send(Buffer& out, bool fin) {
  if (!may_send_) return true;
  bool memory = true;
  for (bool more = true; more && memory && error_.ok();) {
    memory = FillBatch(out, fin);
    more = batch_->full();
    PostBatch();
  }
  return memory;
}

// What leaves with one doorbell. False: no memory.
bool MessageChannel::FillBatch(Buffer& out, bool fin) {
  while (!out.empty() && flow_->Budget() > 0 && !batch_->full()) {
    MessagePlan plan = Plan(out, message_limits_.max_copy);
    if (!batch_->Reserve(plan)) {
      // There may be smaller blocks.
      plan = Plan(out, BlockPool::kSmall - static_cast<uint32_t>(kMessageHeaderBytes));
      if (!batch_->Reserve(plan)) {
        batch_->SignalLast();
        return false;
      }
    }
    const bool all = plan.bytes == out.size();
    const bool last = all || batch_->size() + 1 == SendBatch::kMost;
    AddMessage(out, plan, flow_->Send(last), fin && all);
  }
  if (out.empty() && fin && !fin_sent_ && flow_->Budget() > 0 && !batch_->full()) {
    return AddBare(/*fin=*/true);
  }
  return batch_->size() > 0 || AddBare(/*fin=*/false);
}

MessagePlan MessageChannel::Plan(const Buffer& out, uint32_t max_copy) const {
  MessageLimits limits = message_limits_;
  limits.max_copy = max_copy;
  return PlanMessage(out.slices(), 0, limits,
                     [this](const Block& block) { return batch_->Knows(block); });
}

// A message without bytes, if one is due. False: no memory.
bool MessageChannel::AddBare(bool fin) {
  if (!fin && !HasNews()) return true;
  const MessagePlan plan = PlanMessage({}, 0, message_limits_, [](const Block&) { return false; });
  if (!batch_->Reserve(plan)) {
    batch_->SignalLast();
    return false;
  }
  Buffer nothing;
  if (fin || (hello_due_ && flow_->Budget() > 0)) {
    AddMessage(nothing, plan, flow_->Send(/*last=*/true), fin);
  } else if (const auto count = flow_->BareCount()) {
    AddMessage(nothing, plan, *count, /*fin=*/false);
  }
  return true;
}

// `plan` is Reserved.
void MessageChannel::AddMessage(Buffer& out, const MessagePlan& plan, const SendPlan& send,
                                bool fin) {
  Sent& sent = sent_[send.seq & (sent_.size() - 1)];
  sent.copy = batch_->Add(out.slices(), plan, {.count = send.count, .fin = fin},
                          PackWrId({.kind = WrId::Kind::kSend, .slot = send.seq}), send.signaled);
  if (plan.copied == plan.bytes) {
    out.RemoveFront(plan.bytes);
  } else {
    sent.data = out.CutFront(plan.bytes);
  }
  counters_.bytes_written += plan.bytes;
  hello_due_ = false;
  if (fin) fin_sent_ = true;
}

void MessageChannel::PostBatch() {
  if (batch_->size() == 0) return;
  ++counters_.doorbells;
  const int error = batch_->Post(pair_);
  if (error != 0) Fail(Annotate(ErrnoStatus(error), "ibv_post_send"));
}

void MessageChannel::Fail(absl::Status error) {
  may_send_ = false;
  if (error_.ok()) error_ = std::move(error);
}

void MessageChannel::OnCompletion(const ibv_wc& completion) {
  const WrId id = UnpackWrId(completion.wr_id);
  if (completion.status != IBV_WC_SUCCESS) OnError(completion);
  if (id.kind == WrId::Kind::kSend) return OnSent(id.slot);
  Check(id.kind == WrId::Kind::kReceive && id.slot < queue_->slots(),
        "a completion is of a work request that was posted");
  if (completion.status == IBV_WC_SUCCESS) return OnReceived(id.slot, completion.byte_len);
  queue_->ledger().OnConsumed(*member_);
  // Its own queue takes no receives any more, a shared one does.
  if (!own_queue_) queue_->Reuse(id.slot, /*bare=*/false);
}

void MessageChannel::OnError(const ibv_wc& completion) {
  if (!error_.ok()) return;
  Fail(absl::UnavailableError(absl::StrCat(api_.ibv.wc_status_str(completion.status),
                                           " (vendor error 0x", absl::Hex(completion.vendor_err),
                                           ")")));
}

void MessageChannel::OnSent(uint32_t seq) {
  if (!flow_) return;
  const uint32_t freed = flow_->OnCompleted(seq);
  for (uint32_t i = 0; i < freed; ++i) {
    Sent& sent = sent_[(seq - i) & (sent_.size() - 1)];
    sent.data.Clear();
    sent.copy = BlockRef();
  }
}

void MessageChannel::OnReceived(uint32_t slot, uint32_t bytes) {
  ++counters_.receives;
  absl::string_view message(queue_->block(slot)->bytes(), bytes);
  const auto header = DecodeMessageHeader(message);
  absl::Status good = header.status();
  if (good.ok() && !flow_) {
    good = absl::InvalidArgumentError("the RDMA peer sent before it was to");
  }
  if (good.ok()) good = flow_->OnMessage(header->count);
  const bool bare = bytes <= kMessageHeaderBytes;
  if (good.ok() && ended_ && !bare) {
    good = absl::InvalidArgumentError("the RDMA peer sent bytes after its end");
  }
  if (!good.ok()) {
    queue_->ledger().OnConsumed(*member_);
    queue_->Reuse(slot, /*bare=*/false);
    return Fail(std::move(good));
  }
  if (error_.ok()) may_send_ = true;
  if (bare) {
    ++bare_;
    queue_->Reuse(slot, /*bare=*/true);
  } else {
    queue_->ledger().OnConsumed(*member_);
    TakeBytes(slot, bytes);
  }
  if (header->fin) ended_ = true;
}

void MessageChannel::TakeBytes(uint32_t slot, uint32_t bytes) {
  const auto payload = bytes - static_cast<uint32_t>(kMessageHeaderBytes);
  counters_.bytes_read += payload;
  if (detached_) return queue_->Reuse(slot, /*bare=*/false);
  if (bytes >= limits_.copy_out_below) {
    return input_.Append({queue_->Take(slot), uint32_t{kMessageHeaderBytes}, payload});
  }
  const absl::string_view copied(queue_->block(slot)->bytes() + kMessageHeaderBytes, payload);
  // The heap, where the pool is at its limit: a few small messages, within the credits.
  if (!small_.Append(copied, input_)) input_.Append(copied);
  queue_->Reuse(slot, /*bare=*/false);
}

void MessageChannel::EndBatch() {
  Grant();
  if (user_ != nullptr) user_->OnChannel();
}

void MessageChannel::Starve() {
  if (user_ == nullptr || queue_->ledger().outstanding(*member_) > 0) return;
  user_->OnStarved();
}

void MessageChannel::Grant() {
  if (!flow_ || !member_ || !error_.ok()) return;
  const uint32_t given = queue_->ledger().Grant(*member_) + std::exchange(bare_, 0);
  if (given > 0) flow_->OnGranted(given);
}

}  // namespace farcall
