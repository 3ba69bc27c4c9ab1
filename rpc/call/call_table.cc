// SPDX-License-Identifier: Apache-2.0

#include "rpc/call/call_table.h"

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
  Check(expired_ == nullptr, "Expire is not called from an expiry");
  expired_ = &expired;
  deadlines_.RunDue(now);
  expired_ = nullptr;
}

PendingCall* CallTable::TakeAny() { return calls_.empty() ? nullptr : Take(calls_.begin()->first); }

void CallTable::OnDeadline(PendingCall& call) {
  Check(Take(call.id()) == &call, "a deadline belongs to a call that waits");
  (*expired_)(call);
}

}  // namespace farcall
