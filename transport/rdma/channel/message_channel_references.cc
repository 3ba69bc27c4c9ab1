// SPDX-License-Identifier: Apache-2.0
//
// Bytes that are not sent, but fetched: at the end that refers to them, and at the one that reads.

#include <algorithm>
#include <utility>

#include "transport/base/check.h"
#include "transport/rdma/channel/message_channel.h"

namespace farcall {

MessagePlan MessageChannel::Plan(const Buffer& out, uint32_t max_copy) const {
  const auto knows = [this](const Block& block) { return batch_->Knows(block); };
  MessageLimits limits = message_limits_;
  limits.max_copy = max_copy;
  if (!MayRefer()) return PlanMessage(out.slices(), 0, limits, knows);
  limits.reference_from = limits_.read_at_least;
  const MessagePlan plan = PlanMessage(out.slices(), 0, limits, knows);
  const bool opens = plan.reference && batch_->Opens(*out.slices().front().block);
  if (!plan.reference || (opens && choice_.reads())) return plan;
  limits.reference_from = 0;
  MessagePlan sent = PlanMessage(out.slices(), 0, limits, knows);
  sent.measured = opens && choice_.measures();
  return sent;
}

// Where all windows are open, one will be free when the peer has read: what is sent instead would
// be copied there. Without any, or without room for its completions, bytes leave as others do.
bool MessageChannel::MayRefer() const {
  if (opened_.empty() || !(choice_.reads() || choice_.measures())) return false;
  return !windows_.available() || room_->free() >= kOfWindow;
}

void MessageChannel::MeasurePosted(const MessagePlan& plan) {
  if (plan.reference) choice_.OnPosted(ReadChoice::kRead, plan.bytes);
  if (plan.measured) choice_.OnPosted(ReadChoice::kSend, plan.bytes);
  choice_.OnBytes(plan.bytes);
}

// Nothing before the bind could be sent again. It waits for what is under way, and nothing else
// is begun meanwhile (FillBatch, Read): a message takes what the peer has receives for, a READ
// what it has opened, so neither waits for anybody's program.
bool MessageChannel::MayBind() const {
  return !limits_.binds_alone || (flow_->unfinished() == 0 && incoming_.reading() == 0);
}

BlockRef MessageChannel::AddReference(Buffer& out, const MessagePlan& plan,
                                      const MessageHeader& header, const SendPlan& send) {
  const uint32_t window = windows_.Bind();
  ++counters_.references;
  Check(room_->Take(kOfWindow), "a reference is planned where its window's completions have room");
  window_room_ += kOfWindow;
  // Until the window is closed again.
  opened_[window] = out.CutFront(plan.bytes);
  return batch_->AddReference(
      opened_[window].slices().front(), plan, header, *window_handles_[window],
      PackWrId({.kind = WrId::Kind::kBind, .slot = window}),
      PackWrId({.kind = WrId::Kind::kSend, .slot = send.seq}), send.signaled);
}

// The peer's word, so many in all: their windows are the next ones of the ring.
absl::Status MessageChannel::OnReferencesRead(uint16_t count) {
  if (count == static_cast<uint16_t>(references_read_)) return absl::OkStatus();
  const uint32_t open = windows_.open();
  absl::Status good = windows_.OnRead(count);
  if (!good.ok() || windows_.open() == open) return good;
  uint64_t bytes = 0;
  for (uint32_t newly = open - windows_.open(); newly > 0; --newly) {
    bytes += opened_[references_read_++ % opened_.size()].size();
  }
  choice_.OnDelivered(ReadChoice::kRead, bytes, clock_->Now());
  return good;
}

void MessageChannel::CloseWindows() {
  while (const auto window = windows_.NextToClose()) {
    ++closing_;
    batch_->AddInvalidate(*window_handles_[*window],
                          PackWrId({.kind = WrId::Kind::kInvalidate, .slot = *window}));
  }
}

// Of a work request that sends nothing. What failed, or was flushed, keeps its memory until
// Leave: only the end of the queue pair ends its use.
void MessageChannel::OnLocal(const WrId& id, bool good) {
  if (id.kind == WrId::Kind::kInvalidate) {
    --closing_;
    if (!good) return;
    windows_.OnClosed(id.slot);
    opened_[id.slot].Clear();
    room_->Give(kOfWindow);
    window_room_ -= kOfWindow;
  } else if (id.kind == WrId::Kind::kRead) {
    OnRead(good);
  }
}

void MessageChannel::OnRead(bool good) {
  const uint32_t bytes = incoming_.OnRead(good);
  counters_.bytes_read += bytes;
  counters_.fetched += bytes;
  poller_->bytes_in.Add(bytes);
  if (good) ++counters_.reads;
  const uint32_t needed = incoming_.reading() - std::min(incoming_.reading(), kOwnReads);
  if (read_room_ > needed) room_->Give(std::exchange(read_room_, needed) - needed);
  if (detached_) incoming_.Take().Clear();
  // The rest of what has its memory follows, even if the user has paused: a call may wait for
  // that memory.
  if (error_.ok() && user_ != nullptr) {
    while (MayRead() && PostNextRead()) {
    }
    PostBatch();
  }
  if (incoming_.reading() == 0) EndReads();
  UpdateReading();
}

// Where not, one that is under way brings it here again.
bool MessageChannel::MayRead() {
  return incoming_.reading() < most_reads_ && incoming_.reading_bytes() < kMaxFetched &&
         TakeReadRoom();
}

// Into the batch. False: nothing is to be read.
bool MessageChannel::PostNextRead() {
  IncomingStream::Read read;
  if (!incoming_.NextRead(limits_.read_segments, read)) return false;
  batch_->AddRead(read, PackWrId({.kind = WrId::Kind::kRead}));
  return true;
}

bool MessageChannel::ReadSome() {
  if (!error_.ok() || user_ == nullptr) return true;
  bool memory = true;
  while (MayRead()) {
    if (PostNextRead()) continue;
    // What has its memory is read to its end, even so.
    if (bind_waits_) break;
    const auto place = incoming_.NextToPlace();
    if (!place) break;
    std::shared_ptr<void> hold;
    const bool reading = reading_;
    Buffer found = MemoryFor(*place, hold);
    // The user has paused instead of saying where.
    if (reading && !reading_) break;
    memory = !found.empty();
    if (!memory) break;
    incoming_.SetPlace(std::move(found), std::move(hold));
  }
  PostBatch();
  return memory;
}

// Empty: there is no memory.
Buffer MessageChannel::MemoryFor(const IncomingStream::Place& place, std::shared_ptr<void>& hold) {
  const bool reading = reading_;
  Buffer target = user_->PlaceFor(place.ahead, place.bytes);
  if (reading && !reading_) return {};
  Check(target.size() <= place.bytes, "a place is at most as long as what was asked for");
  const auto slices = target.slices();
  const bool known = std::all_of(slices.begin(), slices.end(), [this](const Buffer::Slice& slice) {
    return batch_->Knows(*slice.block);
  });
  if (target.empty() || !known) return Blocks(place.bytes);
  counters_.landed += target.size();
  // From here until no READ can write there any more: OnRead and Leave.
  hold = user_->HoldPlace();
  return target;
}

// Memory of the pool: as much as there is, up to `bytes`, in blocks that the device knows.
Buffer MessageChannel::Blocks(uint32_t bytes) {
  Buffer found;
  while (found.size() < bytes) {
    const uint32_t left = bytes - static_cast<uint32_t>(found.size());
    BlockRef block =
        pool_.Allocate(left >= BlockPool::kLarge / 2 ? left : std::min(left, BlockPool::kMedium));
    if (block && !batch_->Knows(*block)) block = pool_.Allocate(BlockPool::kMedium);
    if (!block || !batch_->Knows(*block)) break;
    const uint32_t length = std::min(left, block->capacity);
    found.Append({std::move(block), 0, length});
  }
  return found;
}

void MessageChannel::DropUnread() {
  incoming_.DropUnread();
  UpdateReading();
}

void MessageChannel::WhenReadsEnd(absl::AnyInvocable<void()> done) {
  reads_end_ = std::move(done);
  if (incoming_.reading() == 0 || !member_) EndReads();
}

// No READ is under way, and where there is no user any more none will be: what it was to be written
// to is let go of, before the user hears of it.
void MessageChannel::EndReads() {
  if (detached_ || !error_.ok() || !member_) incoming_.LetGo();
  if (reads_end_) std::exchange(reads_end_, nullptr)();
}

}  // namespace farcall
