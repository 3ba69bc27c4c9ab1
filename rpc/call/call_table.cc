// SPDX-License-Identifier: Apache-2.0

#include "rpc/call/call_table.h"

#include <utility>

#include "transport/base/check.h"

namespace farcall {

PendingCall::PendingCall() : deadline_([this] { table_->OnDeadline(*this); }) {}

CallTable::~CallTable() { Check(empty(), "every call is taken before its table dies"); }

void CallTable::Add(uint64_t id, TimePoint deadline, PendingCall& call) {
  Check(!call.pending(), "a call waits in one table");
  Check(calls_.emplace(id, &call).second, "a call id is used once");
  call.Enter(this, id);
  if (deadline != TimePoint::max()) deadlines_.Set(call.deadline(), deadline);
}

PendingCall* CallTable::Take(uint64_t id) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return nullptr;
  PendingCall* const call = found->second;
  calls_.erase(found);
  deadlines_.Cancel(call->deadline());
  call->Enter(nullptr, id);
  return call;
}

void CallTable::Expire(TimePoint now, absl::FunctionRef<void(PendingCall&)> expired) {
  Check(expired_.empty(), "Expire is not called from an expiry");
  deadlines_.RunDue(now);
  // Not from inside the timer, which dies with its call.
  for (PendingCall* const call : expired_) expired(*call);
  expired_.clear();
}

void CallTable::TakeAll(absl::FunctionRef<void(PendingCall&)> taken) {
  // One pass: looking for the first of those left would take longer with each that is gone.
  const auto calls = std::exchange(calls_, {});
  for (const auto& [id, call] : calls) {
    deadlines_.Cancel(call->deadline());
    call->Enter(nullptr, id);
  }
  for (const auto& [id, call] : calls) taken(*call);
}

void CallTable::OnDeadline(PendingCall& call) {
  Check(Take(call.id()) == &call, "a deadline belongs to a call that waits");
  expired_.push_back(&call);
}

}  // namespace farcall
