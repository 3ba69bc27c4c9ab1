// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/channel/brpc_channel.h"

#include <arpa/inet.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/base/trace.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

uint64_t IdOf(const BrpcSend& send) {
  return PackWrId({.kind = WrId::Kind::kSend, .slot = send.seq});
}

}  // namespace

absl::Status BrpcChannel::Join(ReceiveQueue& queue, SendBatch& batch, CompletionQueueBudget& room,
                               DevicePollerCounters& poller, const Clock& clock, PeerTrust trust) {
  Check(own_queue(), "a channel to brpc has a receive queue of its own");
  const uint32_t posted = queue.ledger().posted();
  if (posted < queue.slots()) {
    return NotRdma(WhyNotRdma::kCapacity, absl::StrCat("only ", posted, " of ", queue.slots(),
                                                       " receives of ", kReceiveBlock,
                                                       " bytes for a brpc peer found memory "
                                                       "(BlockPoolOptions::max_bytes)"));
  }
  return PairChannel::Join(queue, batch, room, poller, clock, trust);
}

void BrpcChannel::Open(const BrpcEnd& own, const BrpcEnd& peer) {
  credits_.emplace(own, peer);
  message_limits_.header = 0;
  message_limits_.max_message = std::min(peer.block_bytes, kReceiveBlock);
  message_limits_.max_segments = limits_.max_segments;
  message_limits_.max_inline = limits_.max_inline;
  message_limits_.max_copy = kReceiveBlock;
}

void BrpcChannel::Leave() {
  if (!member_) return;
  queue_->ledger().Leave(*member_);
  member_.reset();
  room_->Give(std::exchange(extra_, 0));
}

void BrpcChannel::Detach() {
  user_ = nullptr;
  detached_ = true;
  reading_ = false;
}

void BrpcChannel::SetReading(bool reading) {
  reading_ = reading;
  Grant();
}

bool BrpcChannel::Send(Buffer& out, bool fin) {
  if (!may_send_) return true;
  bool memory = true;
  for (bool more = true; more && memory && error_.ok();) {
    memory = FillBatch(out);
    more = batch_->full();
    PostBatch();
  }
  fin_sent_ = fin && out.empty();
  Wait wait = Wait::kNothing;
  if (!out.empty()) wait = credits_->credits() == 0 ? Wait::kCredits : Wait::kSlots;
  CountWait(memory ? wait : Wait::kMemory);
  return memory;
}

// What leaves with one doorbell. False: no memory.
bool BrpcChannel::FillBatch(Buffer& out) {
  while (!out.empty() && credits_->Budget() > 0 && !batch_->full()) {
    const bool room = TakeRoom(kOwnSends - 1, unfinished());
    if (room && AddBytes(out)) continue;
    // Nothing may follow for long.
    batch_->SignalLast();
    batch_->SolicitLast();
    return !room;
  }
  if (batch_->size() == 0) AddBare();
  return true;
}

// False: no memory.
bool BrpcChannel::AddBytes(Buffer& out) {
  const auto knows = [this](const Block& block) { return batch_->Knows(block); };
  MessagePlan plan = PlanMessage(out.slices(), 0, message_limits_, knows);
  if (!batch_->Reserve(plan)) {
    // There may be smaller blocks.
    MessageLimits less = message_limits_;
    less.max_copy = BlockPool::kSmall;
    plan = PlanMessage(out.slices(), 0, less, knows);
    if (!batch_->Reserve(plan)) return false;
  }
  const bool last = plan.bytes == out.size() || batch_->size() + 1 == SendBatch::kMax;
  const BrpcSend send = credits_->Send(plan.bytes, last);
  BlockRef copy = batch_->AddImmediate(out.slices(), plan, send.report, IdOf(send), send.signaled,
                                       send.solicited);
  KeepSent(send.seq, std::move(copy), plan, out);
  return true;
}

// It takes no memory.
void BrpcChannel::AddBare() {
  if (!HasUpdate() || !TakeRoom(kOwnSends, unfinished())) return;
  MessagePlan plan;
  plan.header = 0;
  const BrpcSend send = credits_->SendBare();
  batch_->AddImmediate({}, plan, send.report, IdOf(send), send.signaled, send.solicited);
}

void BrpcChannel::OnCompletion(const ibv_wc& completion) {
  const WrId id = UnpackWrId(completion.wr_id);
  const bool good = completion.status == IBV_WC_SUCCESS;
  if (!good) OnError(completion);
  if (id.kind == WrId::Kind::kSend) {
    Release(id.slot, credits_->OnCompleted(id.slot));
    return GiveRoom(unfinished());
  }
  Check(id.is_receive() && id.slot < queue_->slots(),
        "a completion is of a work request that was posted");
  if (good) return OnReceived(id.slot, completion);
  queue_->ledger().OnConsumed(*member_);
}

void BrpcChannel::OnReceived(uint32_t slot, const ibv_wc& completion) {
  ++counters_.receives;
  poller_->messages_in.Add(1);
  absl::Status good = breached_ ? error_ : OnMessage(completion);
  if (!good.ok()) {
    breached_ = true;
    queue_->ledger().OnConsumed(*member_);
    return Fail(std::move(good));
  }
  if (completion.byte_len == 0) return queue_->Reuse(slot, /*bare=*/true);
  ++came_;
  queue_->ledger().OnConsumed(*member_);
  TakeBytes(slot, /*skip=*/0, completion.byte_len);
}

// What it says. An error: the peer does not keep to the protocol.
absl::Status BrpcChannel::OnMessage(const ibv_wc& completion) {
  if (!credits_) return absl::InvalidArgumentError("the brpc peer sent before it was answered");
  if (completion.opcode != IBV_WC_RECV || (completion.wc_flags & IBV_WC_WITH_IMM) == 0) {
    return absl::InvalidArgumentError("the brpc peer sent a message without a report");
  }
  return credits_->OnMessage(completion.byte_len, ntohl(completion.imm_data));
}

// The receives of messages that came are posted again, but for those that the queue misses.
void BrpcChannel::Grant() {
  if (!credits_ || !member_ || !error_.ok() || !reading_) return;
  const uint32_t missing = queue_->slots() - queue_->ledger().posted();
  const uint32_t more = came_ - missing - posted_;
  if (more == 0) return;
  posted_ += more;
  credits_->OnPosted(more);
  trace::Credit(number_, more, credits_->credits());
}

void BrpcChannel::Starve() {
  if (user_ != nullptr && credits_ && credits_->PeerStandsStill()) user_->OnStarved();
}

}  // namespace farcall
