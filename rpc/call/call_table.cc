// SPDX-License-Identifier: Apache-2.0

#include "rpc/call/call_table.h"

#include <utility>

#include "transport/base/check.h"

namespace farcall {
namespace {

constexpr int kFirstBits = 4;

}  // namespace

CallTable::~CallTable() { Check(empty(), "every call is taken before its table dies"); }

void CallTable::Add(uint64_t id, TimePoint deadline, PendingCall& call) {
  Check(!call.pending(), "a call waits in one table");
  if (2 * (size_ + 1) > places_.size()) Grow();
  Place& place = places_[Search(id)];
  Check(place.call == nullptr, "a call id is used once");
  place = {id, &call};
  ++size_;
  call.Enter(this, id);
  if (deadline != TimePoint::max()) deadlines_.Set(call.deadline(), deadline);
}

PendingCall* CallTable::Take(uint64_t id) {
  if (size_ == 0) return nullptr;
  const size_t at = Search(id);
  PendingCall* const call = places_[at].call;
  if (call == nullptr) return nullptr;
  Free(at);
  if (call->deadline().pending()) deadlines_.Cancel(call->deadline());
  call->Enter(nullptr, id);
  return call;
}

void CallTable::Grow() {
  const std::vector<Place> before = std::exchange(places_, {});
  shift_ = before.empty() ? 64 - kFirstBits : shift_ - 1;
  places_.resize(size_t{1} << (64 - shift_));
  for (const Place& place : before) {
    if (place.call != nullptr) places_[Search(place.id)] = place;
  }
}

// Those behind it that came further than to there move up: no search ends before it should.
void CallTable::Free(size_t at) {
  const size_t mask = places_.size() - 1;
  size_t hole = at;
  for (size_t next = After(hole); places_[next].call != nullptr; next = After(next)) {
    const size_t from_home = (next - Home(places_[next].id)) & mask;
    if (from_home < ((next - hole) & mask)) continue;
    places_[hole] = places_[next];
    hole = next;
  }
  places_[hole].call = nullptr;
  --size_;
}

void CallTable::Expire(TimePoint now, absl::FunctionRef<void(PendingCall&)> expired) {
  Check(due_.empty(), "Expire is not called from an expiry");
  while (const Timer* const due = deadlines_.TakeDue(now)) {
    due_.push_back(static_cast<const PendingCall::Deadline*>(due)->id);
  }
  Give(due_, expired);
  due_.clear();
}

void CallTable::TakeAll(absl::FunctionRef<void(PendingCall&)> taken) {
  std::vector<uint64_t> ids;
  ids.reserve(size_);
  for (const Place& place : places_) {
    if (place.call != nullptr) ids.push_back(place.id);
  }
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
