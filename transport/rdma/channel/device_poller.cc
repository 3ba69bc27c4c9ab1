// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/channel/device_poller.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/base/trace.h"
#include "transport/rdma/flow/wr_id.h"
#include "transport/why_not_rdma.h"

namespace farcall {

DevicePoller::DevicePoller(RdmaDevice& device, EventLoop& loop, BlockPool& pool,
                           const RdmaRegistrar& registrar, const RdmaOptions& options, AskMore ask)
    : api_(device.api()),
      loop_(loop),
      pool_(pool),
      options_(options),
      device_(device.index()),
      pd_(device.pd()),
      context_(device.context()),
      caps_(device.info().caps),
      batch_(pool, &registrar, device.index(), options.max_inline),
      ask_(std::move(ask)),
      retry_timer_([this] { Retry(); }) {}

DevicePoller::~DevicePoller() {
  Check(channels_.empty() && !polling_, "a poller is closed before it dies");
  if (unacknowledged_ > 0) api_.ibv.ack_cq_events(cq_.get(), unacknowledged_);
}

absl::Status DevicePoller::Enroll(const std::shared_ptr<PairChannel>& channel, PeerTrust trust) {
  Check(loop_.held() && !channels_.contains(channel->number()), "a channel is enrolled once");
  // Where that failed before, there may be room by now.
  Begin();
  if (!polling_) return NotRdma(WhyNotRdma::kDeviceRefused, "its completion queue is not polled");
  const uint32_t need = NeedOf(*channel);
  if (!room_.Take(need)) {
    return NotRdma(WhyNotRdma::kCapacity,
                   absl::StrCat("the completion queue has ", room_.entries(), " entries for ",
                                channels_.size(), " connections (completion_queue_depth)"));
  }
  ReceiveQueue* const own = channel->own_queue();
  Replenish(own != nullptr ? *own : *receives_);
  if (own == nullptr) receives_->BelieveIfNoneIsFree();
  absl::Status joined = channel->Join(own != nullptr ? *own : *receives_, batch_, room_, counters_,
                                      loop_.clock(), trust);
  BalanceReceives();
  if (!joined.ok()) {
    // Receives that were posted are flushed into these entries: until Forget they are not free.
    refused_[channel->number()] = need;
    return joined;
  }
  counters_.enrolled.Add(1);
  channels_[channel->number()] = channel;
  if (own == nullptr) {
    if (members_.size() <= channel->member()) members_.resize(channel->member() + 1);
    members_[channel->member()] = channel.get();
  }
  return absl::OkStatus();
}

// Entries of the completion queue that are its own: on an error everything completes. For
// further sends it takes more while they are under way.
uint32_t DevicePoller::NeedOf(PairChannel& channel) const {
  const ReceiveQueue* const own = channel.own_queue();
  const uint32_t receives = own == nullptr ? 0 : own->slots();
  return channel.limits().own_completions() + receives;
}

bool DevicePoller::Enrolled(const PairChannel& channel) const {
  const auto found = channels_.find(channel.number());
  return found != channels_.end() && found->second.get() == &channel;
}

void DevicePoller::Break(PairChannel& channel, const absl::Status& why) {
  for (int count = Look(); count > 0; count = Look()) HandleBatch(count);
  channel.Fail(why);
  channel.EndBatch();
}

void DevicePoller::WhenDrained(PairChannel& channel, absl::AnyInvocable<void()> done) {
  if (!Enrolled(channel)) return done();
  drains_.push_back({&channel, std::move(done)});
}

void DevicePoller::Forget(PairChannel& channel, bool silent) {
  const auto refused = refused_.find(channel.number());
  if (!Enrolled(channel) && refused == refused_.end()) return;
  for (int count = Look(); count > 0; count = Look()) HandleBatch(count);
  if (refused != refused_.end()) {
    room_.Give(refused->second);
    refused_.erase(refused);
    return;
  }
  FinishDrains([&](const Drain& drain) { return drain.channel == &channel; });
  if (silent && channel.own_queue() == nullptr) {
    counters_.silent_ends.Add(1);
    receives_->Doubt(channel.member());
  }
  channel.Leave();
  room_.Give(NeedOf(channel));
  last_ = nullptr;
  channels_.erase(channel.number());
  counters_.forgotten.Add(1);
  GrantStarved();
  BalanceReceives();
}

void DevicePoller::Close() {
  Check(loop_.held() && channels_.empty(), "a poller is closed when nothing is enrolled");
  loop_.CancelTimer(retry_timer_);
  if (std::exchange(polling_, false)) loop_.RemoveSource(*this);
}

bool DevicePoller::Poll() {
  const int count = Look();
  if (count < 0) {
    FailAll(absl::UnavailableError("ibv_poll_cq failed"));
    return false;
  }
  if (count > 0) HandleBatch(count);
  if (count < kBatch && !drains_.empty()) {
    FinishDrains([](const Drain& drain) { return drain.channel->idle(); });
  }
  return count > 0;
}

bool DevicePoller::Arm() {
  TakeEvents();
  if (ibv_req_notify_cq(cq_.get(), /*solicited_only=*/0) != 0) {
    // Nothing would wake this loop for them any more.
    FailAll(absl::UnavailableError("ibv_req_notify_cq failed"));
    return true;
  }
  // What came before that gives no event.
  slipped_in_ = std::max(0, Look());
  return slipped_in_ == 0;
}

// How many of found_ are to be handled.
int DevicePoller::Look() {
  if (slipped_in_ > 0) return std::exchange(slipped_in_, 0);
  return ibv_poll_cq(cq_.get(), kBatch, found_.data());
}

void DevicePoller::HandleBatch(int count) {
  for (int i = 0; i < count; ++i) Handle(found_[i]);
  if (receives_ && receives_->PostDue()) Replenish(*receives_);
  // What is touched from here on belongs to the next batch.
  std::vector<PairChannel*> touched = std::move(spare_);
  touched.swap(touched_);
  for (PairChannel* const channel : touched) {
    channel->touched = false;
    if (channel->own_queue() != nullptr && channel->error().ok()) Replenish(*channel->own_queue());
    channel->EndBatch();
  }
  touched.clear();
  spare_ = std::move(touched);
  GrantStarved();
  BalanceReceives();
  CountBatch(count);
}

void DevicePoller::CountBatch(int completions) {
  counters_.completions.Add(static_cast<uint64_t>(completions));
  if (!receives_) return;
  const ReceiveLedger& ledger = receives_->ledger();
  counters_.receive_slots.Set(receives_->used());
  counters_.receives_posted.Set(ledger.posted());
  counters_.receives_promised.Set(ledger.outstanding());
  counters_.receives_lost.Set(receives_->lost());
}

void DevicePoller::Handle(const ibv_wc& completion) {
  trace::Completion(completion.qp_num, completion.status, completion.vendor_err, completion.wr_id);
  if (last_ == nullptr || last_->number() != completion.qp_num) {
    const auto found = channels_.find(completion.qp_num);
    last_ = found == channels_.end() ? nullptr : found->second.get();
  }
  if (last_ != nullptr) {
    if (!std::exchange(last_->touched, true)) touched_.push_back(last_);
    return last_->OnCompletion(completion);
  }
  // Of no queue pair that is known here. Its receive is posted again, if it was a shared one.
  const WrId id = UnpackWrId(completion.wr_id);
  if (id.kind == WrId::Kind::kReceive && receives_ && id.slot < receives_->slots()) {
    receives_->Reuse(id.slot, /*bare=*/true);
  }
}

void DevicePoller::Replenish(ReceiveQueue& queue) {
  queue.Fill();
  if (queue.Post()) {
    // That one queue is full says nothing of another, which may have waited for long.
    if (std::exchange(queue.starving_since, std::nullopt)) retry_.Reset();
    return;
  }
  if (!queue.starving_since) queue.starving_since = loop_.now();
  if (!retry_timer_.pending()) {
    loop_.SetTimer(retry_timer_, loop_.now() + retry_.NextUncut());
  }
}

void DevicePoller::Retry() {
  if (receives_) Replenish(*receives_);
  for (auto& [number, channel] : channels_) {
    if (channel->own_queue() == nullptr || !channel->error().ok()) continue;
    Replenish(*channel->own_queue());
    if (!std::exchange(channel->touched, true)) touched_.push_back(channel.get());
  }
  HandleBatch(0);
  for (auto& [number, channel] : channels_) {
    const ReceiveQueue* const own = channel->own_queue();
    const auto since = (own != nullptr ? *own : *receives_).starving_since;
    if (since && loop_.now() - *since >= kStarved) channel->Starve();
  }
}

// Receives were posted or given back: those who have too few are given some.
void DevicePoller::GrantStarved() {
  if (!receives_) return;
  while (const auto member = receives_->ledger().NextStarved()) members_[*member]->EndBatch();
}

void DevicePoller::FinishDrains(absl::FunctionRef<bool(const Drain&)> over) {
  // `done` may post tasks, but does not come back here.
  const auto rest = std::stable_partition(drains_.begin(), drains_.end(),
                                          [&](const Drain& drain) { return !over(drain); });
  for (auto drain = rest; drain != drains_.end(); ++drain) drain->done();
  drains_.erase(rest, drains_.end());
}

void DevicePoller::FailAll(const absl::Status& why) {
  // Their users may end other connections, but channels stay until they are forgotten.
  for (auto& [number, channel] : channels_) {
    if (!channel->error().ok()) continue;
    channel->Fail(why);
    channel->EndBatch();
  }
}

// System calls, so only around a sleep. One that comes after its completion was found by
// polling waits for the next Arm: ibv_req_notify_cq gives one at most.
void DevicePoller::TakeEvents() {
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  while (api_.ibv.get_cq_event(event_channel_.get(), &cq, &context) == 0) ++unacknowledged_;
  if (unacknowledged_ >= kAcknowledge) {
    api_.ibv.ack_cq_events(cq_.get(), std::exchange(unacknowledged_, 0));
  }
}

}  // namespace farcall
