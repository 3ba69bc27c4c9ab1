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
  Check(due_.empty(), "Expire is not called from an expiry");
  deadlines_.RunDue(now);
  Give(due_, expired);
  due_.clear();
}

void CallTable::TakeAll(absl::FunctionRef<void(PendingCall&)> taken) {
  std::vector<uint64_t> ids;
  ids.reserve(calls_.size());
  for (const auto& [id, call] : calls_) ids.push_back(id);
  Give(ids, taken);
}

// Each is taken only when its turn comes: until then, what is done about those before it
// may take it too.
void CallTable::Give(const std::vector<uint64_t>& ids,
                     absl::FunctionRef<void(PendingCall&)> taken) {
  for (const uint64_t id : ids) {
    if (PendingCall* const call = Take(id); call != nullptr) taken(*call);
  }
}

}  // namespace farcall
