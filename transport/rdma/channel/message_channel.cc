// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/channel/message_channel.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/base/errno_status.h"
#include "transport/base/trace.h"

namespace farcall {
namespace {

uint64_t SendId(const SendPlan& send) {
  return PackWrId({.kind = WrId::Kind::kSend, .slot = send.seq});
}

}  // namespace

MessageChannel::MessageChannel(const VerbsApi& api, BlockPool& pool, size_t device, ibv_qp& pair,
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

absl::Status MessageChannel::Join(ReceiveQueue& queue, SendBatch& batch, CompletionRoom& room,
                                  LaneCounters& lane, PeerTrust trust) {
  auto member = queue.ledger().Join(trust);
  if (!member.ok()) return member.status();
  queue_ = &queue;
  batch_ = &batch;
  room_ = &room;
  lane_ = &lane;
  member_ = *member;
  queue.ledger().Pause(*member);
  return absl::OkStatus();
}

void MessageChannel::Open(const ReceiveTerms& own, const ReceiveTerms& peer, bool initiator,
                          std::vector<ibv_mw*> windows) {
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
  message_limits_.max_reference = kReference;
  // With the header this fills a block of the largest class that is copied to.
  message_limits_.max_copy = kReceiveBlock - static_cast<uint32_t>(kMessageHeaderBytes);
  may_send_ = initiator;
  hello_due_ = initiator;

  if (own.AgreeOnReferences(peer)) references_ = References::kYes;
  window_handles_ = std::move(windows);
  opened_.resize(window_handles_.size());
  windows_ = WindowRing(static_cast<uint32_t>(window_handles_.size()));
  if (!peer.RefersTo(own)) return;
  incoming_ = IncomingStream(peer.windows);
  most_reads_ = std::min<uint32_t>(own.reads, peer.windows);
}

void MessageChannel::Leave() {
  if (!member_) return EndReads();
  queue_->ledger().Leave(*member_);
  member_.reset();
  EndReads();
  // The queue pair is destroyed, and its windows before it: nobody reads there any more.
  for (Buffer& opened : opened_) opened.Clear();
  room_->Give(std::exchange(extra_, 0) + std::exchange(window_room_, 0) +
              std::exchange(read_room_, 0));
}

void MessageChannel::Detach() {
  user_ = nullptr;
  detached_ = true;
  incoming_.Take().Clear();
  SetReading(false);
}

void MessageChannel::SetReading(bool reading) {
  reading_ = reading;
  UpdateReading();
}

// What comes behind a reference waits for it, so no more than what the peer has credits for.
void MessageChannel::UpdateReading() {
  if (!member_) return;
  if (reading_ && incoming_.clear()) {
    queue_->ledger().Resume(*member_);
    Grant();
  } else {
    queue_->ledger().Pause(*member_);
  }
}

bool MessageChannel::HasNews() const {
  if (!may_send_ || !error_.ok()) return false;
  return windows_.close_due() || TellsNow() || flow_->HasNews(ReadsUntold());
}

// Whether there is something to tell that does not wait for bytes, and may take a credit.
bool MessageChannel::TellsNow() const {
  const bool due = hello_due_ || ReadsUntold();
  return due && flow_->Budget() > 0;
}

bool MessageChannel::Send(Buffer& out, bool fin) {
  if (!may_send_) return true;
  CloseWindows();
  bool memory = true;
  for (bool more = true; more && memory && error_.ok();) {
    memory = FillBatch(out, fin);
    more = batch_->full();
    PostBatch();
  }
  CountWait(!out.empty(), memory);
  return memory;
}

// What waits is tried each turn, and counts once.
void MessageChannel::CountWait(bool bytes_left, bool memory) {
  const bool waits = bytes_left && error_.ok();
  if (waits == std::exchange(waits_, waits) || !waits) return;
  if (!memory) {
    ++counters_.memory_waits;
    lane_->memory_waits.Add(1);
  } else if (flow_->credits() <= 1) {  // the last one is kept back (credit_flow.h)
    ++counters_.credit_waits;
    lane_->credit_waits.Add(1);
  } else {
    ++counters_.slot_waits;
    lane_->slot_waits.Add(1);
  }
}

// Whether the completion queue has room for one more send, of which `own` need none taken.
bool MessageChannel::TakeRoom(uint32_t own) {
  if (flow_->unfinished() < own + extra_) return true;
  if (!room_->Take(1)) return false;
  ++extra_;
  return true;
}

void MessageChannel::GiveRoom() {
  const uint32_t unfinished = flow_->unfinished();
  const uint32_t needed = unfinished - std::min(unfinished, kOwnSends - 1);
  if (extra_ <= needed) return;
  room_->Give(extra_ - needed);
  extra_ = needed;
}

// The same for one more RDMA READ.
bool MessageChannel::TakeReadRoom() {
  if (incoming_.reading() < kOwnReads + read_room_) return true;
  if (!room_->Take(1)) return false;
  ++read_room_;
  return true;
}

// What leaves with one doorbell. False: no memory.
bool MessageChannel::FillBatch(Buffer& out, bool fin) {
  bind_waits_ = false;
  while (!out.empty() && flow_->Budget() > 0 && !batch_->full()) {
    if (!TakeRoom(kOwnSends - 1)) {
      batch_->SignalLast();
      return true;
    }
    MessagePlan plan = Plan(out, message_limits_.max_copy);
    if (plan.reference && !windows_.available()) {
      batch_->SignalLast();
      break;
    }
    if (plan.reference && !MayBind()) {
      bind_waits_ = true;
      batch_->SignalLast();
      return true;
    }
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
    if (TakeRoom(kOwnSends - 1)) return AddBare(/*fin=*/true);
    batch_->SignalLast();
    return true;
  }
  return batch_->size() > 0 || AddBare(/*fin=*/false);
}

MessagePlan MessageChannel::Plan(const Buffer& out, uint32_t max_copy) const {
  const auto knows = [this](const Block& block) { return batch_->Knows(block); };
  MessageLimits limits = message_limits_;
  limits.max_copy = max_copy;
  // Where all windows are open, one will be free when the peer has read: what is sent instead would
  // be copied there. Without any, or without room for its completions, bytes leave as others do.
  if (!opened_.empty() && (!windows_.available() || room_->free() >= kOfWindow)) {
    limits.reference_from = limits_.read_at_least;
  }
  const MessagePlan plan = PlanMessage(out.slices(), 0, limits, knows);
  if (!plan.reference || batch_->Opens(*out.slices().front().block)) return plan;
  limits.reference_from = 0;
  return PlanMessage(out.slices(), 0, limits, knows);
}

// A message without bytes, if one is due. False: no memory.
bool MessageChannel::AddBare(bool fin) {
  if (!fin && (!HasNews() || !TakeRoom(kOwnSends))) return true;
  const MessagePlan plan = PlanMessage({}, 0, message_limits_, [](const Block&) { return false; });
  if (!batch_->Reserve(plan)) {
    batch_->SignalLast();
    return false;
  }
  Buffer nothing;
  if (fin || TellsNow()) {
    AddMessage(nothing, plan, flow_->Send(/*last=*/true), fin);
  } else if (const auto count = flow_->BareCount(ReadsUntold())) {
    AddMessage(nothing, plan, *count, /*fin=*/false);
  }
  return true;
}

// `plan` is Reserved.
void MessageChannel::AddMessage(Buffer& out, const MessagePlan& plan, const SendPlan& send,
                                bool fin) {
  Sent& sent = sent_[send.seq & (sent_.size() - 1)];
  MessageHeader header{.count = send.count, .fin = fin, .reference = plan.reference};
  if (references_ == References::kYes) {
    header.references_read = static_cast<uint16_t>(incoming_.read());
    told_read_ = incoming_.read();
  }
  if (plan.reference) {
    sent.copy = AddReference(out, plan, header, send);
  } else {
    sent.copy = batch_->Add(out.slices(), plan, header, SendId(send), send.signaled);
  }
  if (plan.reference) {
    // Its bytes are kept with the window.
  } else if (plan.copied == plan.bytes) {
    out.RemoveFront(plan.bytes);
  } else {
    sent.data = out.CutFront(plan.bytes);
  }
  CountCopied(CopyCause::kSentUnregistered, plan.unknown);
  CountCopied(CopyCause::kSentSmall, plan.copied - plan.unknown);
  counters_.bytes_written += plan.bytes;
  lane_->bytes_out.Add(plan.bytes);
  hello_due_ = false;
  if (fin) fin_sent_ = true;
}

void MessageChannel::CountCopied(CopyCause cause, uint64_t bytes) {
  if (bytes == 0) return;
  counters_.copied[cause] += bytes;
  if (copied_ != nullptr) copied_->Add(cause, bytes);
}

void MessageChannel::PostBatch() {
  if (batch_->empty()) return;
  const size_t messages = batch_->size();
  ++counters_.doorbells;
  counters_.messages += messages;
  lane_->doorbells.Add(1);
  lane_->messages_out.Add(messages);
  const int error = batch_->Post(pair_);
  trace::Post(number_, messages, error);
  if (error != 0) Fail(Annotate(ErrnoStatus(error), "ibv_post_send"));
}

void MessageChannel::Fail(absl::Status error) {
  may_send_ = false;
  if (error_.ok()) error_ = std::move(error);
}

}  // namespace farcall
