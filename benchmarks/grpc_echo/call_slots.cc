// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/grpc_echo/call_slots.h"

#include <utility>

namespace farcall::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kDrainLimit(10);

}  // namespace

CallSlots::CallSlots(const std::shared_ptr<grpc::Channel>& channel, const GrpcEchoMessage& request,
                     int in_flight, const LoadWindow& window,
                     std::optional<OpenLoopSchedule> schedule)
    : stub_(GrpcEcho::NewStub(channel)),
      request_(request),
      window_(window),
      slots_(static_cast<size_t>(in_flight)),
      schedule_(std::move(schedule)),
      recorder_(window) {
  for (Slot& slot : slots_) {
    idle_.push_back(&slot);
  }
}

std::optional<CallSlots::Time> CallSlots::Due(Time now) {
  if (window_.Over(now)) {
    return std::nullopt;
  }
  if (!schedule_) {
    return now;
  }
  return schedule_->Due(now) ? std::optional<Time>(schedule_->Take()) : std::nullopt;
}

void CallSlots::Begin(Time now) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!idle_.empty()) {
    const std::optional<Time> due = Due(now);
    if (!due) {
      return;
    }
    Slot& slot = *idle_.back();
    idle_.pop_back();
    lock.unlock();
    Start(slot, *due);
    lock.lock();
  }
}

CallSlots::Time CallSlots::next() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return schedule_ ? schedule_->next() : window_.end;
}

void CallSlots::Start(Slot& slot, Time due) {
  slot.start = due;
  slot.context.emplace();
  stub_->async()->Echo(&*slot.context, &request_, &slot.response,
                       [this, &slot](const grpc::Status& status) { OnDone(slot, status); });
}

void CallSlots::OnDone(Slot& slot, const grpc::Status& status) {
  const Time now = Clock::now();
  std::optional<Time> due;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (status.ok()) {
      recorder_.Succeeded(slot.start, now);
      due = Due(now);
    } else {
      // The slot is not used again: a server that is gone would be called without end.
      recorder_.Failed(status.error_message());
    }
    if (!due) {
      idle_.push_back(&slot);
      if (idle_.size() == slots_.size()) all_idle_.notify_all();
    }
  }
  if (due) Start(slot, *due);
}

void CallSlots::Drain() {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto idle = [this] { return idle_.size() == slots_.size(); };
  if (all_idle_.wait_for(lock, kDrainLimit, idle)) return;
  recorder_.Failed("calls were still under way 10 s after the end");
  for (Slot& slot : slots_) {
    if (slot.context) slot.context->TryCancel();
  }
  all_idle_.wait(lock, idle);
}

}  // namespace farcall::bench
