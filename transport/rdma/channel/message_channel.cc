// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/channel/message_channel.h"

#include <algorithm>
#include <utility>

namespace farcall {
namespace {

uint64_t SendId(const SendPlan& send) {
  return PackWrId({.kind = WrId::Kind::kSend, .slot = send.seq});
}

}  // namespace

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
  windows_ = MemoryWindowRing(static_cast<uint32_t>(window_handles_.size()));
  if (limits_.windows > 0 && window_handles_.empty()) {
    choice_ = ReadChoice(own.RefersTo(peer) ? ReadsWhy::kNoRoom : ReadsWhy::kPeerDoesNot);
  }
  if (!peer.RefersTo(own)) return;
  incoming_ = IncomingStream(peer.windows);
  most_reads_ = std::min<uint32_t>(own.reads, peer.windows);
}

void MessageChannel::Leave() {
  if (!member_) return EndReads();
  queue_->ledger().Leave(*member_);
  member_.reset();
  EndReads();
  // The queue pair is destroyed, and its windows before it: the peer cannot read there any more.
  for (Buffer& opened : opened_) opened.Clear();
  room_->Give(std::exchange(extra_, 0) + std::exchange(window_room_, 0) +
              std::exchange(read_room_, 0));
}

void MessageChannel::Detach() {
  user_ = nullptr;
  detached_ = true;
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

bool MessageChannel::HasUpdate() const {
  if (!may_send_ || !error_.ok()) return false;
  return windows_.close_due() || CountsDue() || flow_->HasUpdate(ReadsUnreported());
}

// Whether there is something to tell that does not wait for bytes, and may take a credit.
bool MessageChannel::CountsDue() const {
  const bool due = hello_due_ || ReadsUnreported();
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
  CountWait(WaitFor(out, memory));
  choice_.OnFlushed(!out.empty());
  return memory;
}

bool MessageChannel::SendNow(absl::string_view head, const Buffer& body) {
  MessagePlan plan;
  const size_t bytes = head.size() + body.size();
  if (bytes > kMostNow || bytes + plan.header > message_limits_.max_message || !may_send_ ||
      flow_->Budget() == 0 || windows_.close_due()) {
    return false;
  }
  plan.bytes = plan.copied = plan.segments[0].length = static_cast<uint32_t>(bytes);
  plan.send_inline = plan.own_bytes() <= message_limits_.max_inline;
  if (!batch_->Reserve(plan) || !TakeRoom(kOwnSends - 1, posted_messages())) return false;
  const SendPlan send = flow_->Send(/*last=*/true);
  SentAt(send.seq).copy =
      batch_->AddCopied(head, body.slices(), plan, HeaderOf(send), SendId(send), send.signaled);
  CountSent(plan);
  MeasurePosted(plan);
  hello_due_ = false;
  PostBatch();
  return true;
}

// Of bytes that are left.
MessageChannel::Wait MessageChannel::WaitFor(const Buffer& out, bool memory) const {
  if (out.empty()) return Wait::kNothing;
  if (!memory) return Wait::kMemory;
  // The last one is kept back (credit_flow.h).
  return flow_->credits() <= 1 ? Wait::kCredits : Wait::kSlots;
}

// As TakeRoom, for one more RDMA READ.
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
    if (!TakeRoom(kOwnSends - 1, posted_messages())) {
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
    const bool last = all || batch_->size() + 1 == SendBatch::kMax;
    AddMessage(out, plan, flow_->Send(last), fin && all);
  }
  if (out.empty() && fin && !fin_sent_ && flow_->Budget() > 0 && !batch_->full()) {
    if (TakeRoom(kOwnSends - 1, posted_messages())) return AddBare(/*fin=*/true);
    batch_->SignalLast();
    return true;
  }
  return batch_->size() > 0 || AddBare(/*fin=*/false);
}

// A message without bytes, if one is due. False: no memory.
bool MessageChannel::AddBare(bool fin) {
  if (!fin && (!HasUpdate() || !TakeRoom(kOwnSends, posted_messages()))) return true;
  const MessagePlan plan = PlanMessage({}, 0, message_limits_, [](const Block&) { return false; });
  if (!batch_->Reserve(plan)) {
    batch_->SignalLast();
    return false;
  }
  Buffer nothing;
  if (fin || CountsDue()) {
    AddMessage(nothing, plan, flow_->Send(/*last=*/true), fin);
  } else if (const auto count = flow_->BareCount(ReadsUnreported())) {
    AddMessage(nothing, plan, *count, /*fin=*/false);
  }
  return true;
}

MessageHeader MessageChannel::HeaderOf(const SendPlan& send) {
  MessageHeader header{.count = send.count};
  if (references_ == References::kYes) {
    header.references_read = static_cast<uint16_t>(incoming_.read());
    told_read_ = incoming_.read();
  }
  return header;
}

// `plan` is Reserved.
void MessageChannel::AddMessage(Buffer& out, const MessagePlan& plan, const SendPlan& send,
                                bool fin) {
  MessageHeader header = HeaderOf(send);
  header.fin = fin;
  header.reference = plan.reference;
  BlockRef copy = plan.reference
                      ? AddReference(out, plan, header, send)
                      : batch_->Add(out.slices(), plan, header, SendId(send), send.signaled);
  KeepSent(send.seq, std::move(copy), plan, out);
  MeasurePosted(plan);
  hello_due_ = false;
  if (fin) fin_sent_ = true;
}

}  // namespace farcall
