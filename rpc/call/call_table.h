// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CALL_CALL_TABLE_H_
#define FARCALL_RPC_CALL_CALL_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "transport/base/time.h"
#include "transport/loop/queues/timer_queue.h"

namespace farcall {

class CallTable;

// A call that waits for its answer: what a table knows of it.
class PendingCall {
 public:
  PendingCall() = default;

  uint64_t id() const { return deadline_.id; }
  bool pending() const { return table_ != nullptr; }

  // The table's.
  void Enter(CallTable* table, uint64_t id) {
    table_ = table;
    deadline_.id = id;
  }
  struct Deadline final : Timer {
    uint64_t id = 0;  // of the call
  };
  Deadline& deadline() { return deadline_; }

 private:
  CallTable* table_ = nullptr;
  Deadline deadline_;
};

// The calls of one connection that wait for answers, by id and by deadline. Every
// call that is added is taken exactly once: by its answer, by its deadline, or by
// whoever fails it. Pure; one thread at a time.
//
// Ids are this side's own, given in a row, so that no peer can make many of them share a slot:
// each takes the next free slot from its hash on, in a table of which half is free.
class CallTable {
 public:
  CallTable() = default;
  CallTable(const CallTable&) = delete;
  CallTable& operator=(const CallTable&) = delete;
  ~CallTable();  // Checks that it is empty

  // `id` is not in the table; `call` stays where it is until it is taken.
  // TimePoint::max(): no deadline.
  void Add(uint64_t id, TimePoint deadline, PendingCall& call);
  // Null: answered already, late, or never known.
  PendingCall* Take(uint64_t id);
  // Null: not here.
  PendingCall* Find(uint64_t id) const { return size_ == 0 ? nullptr : places_[Search(id)].call; }
  // Takes those whose deadline is at `now` or before, one after the other, earliest first, and
  // gives each to `expired`, which may end its life and add and take any calls.
  void Expire(TimePoint now, absl::FunctionRef<void(PendingCall&)> expired);
  // The same for all that are there now. In no order.
  void TakeAll(absl::FunctionRef<void(PendingCall&)> taken);

  std::optional<TimePoint> next_deadline() const { return deadlines_.next(); }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  struct Place {
    uint64_t id = 0;
    PendingCall* call = nullptr;  // null: free
  };

  size_t Home(uint64_t id) const { return (id * 0x9e3779b97f4a7c15) >> shift_; }
  size_t After(size_t at) const { return (at + 1) & (places_.size() - 1); }
  // Where it is, or else the free place at which one that looks for it ends. There are places.
  size_t Search(uint64_t id) const {
    size_t at = Home(id);
    while (places_[at].call != nullptr && places_[at].id != id) at = After(at);
    return at;
  }
  void Grow();
  void Free(size_t at);
  void Give(const std::vector<uint64_t>& ids, absl::FunctionRef<void(PendingCall&)> taken);

  std::vector<Place> places_;  // none, or a power of two; at most half are in use
  int shift_ = 64;             // 64 less that power
  size_t size_ = 0;
  TimerQueue deadlines_;
  std::vector<uint64_t> due_;  // of the Expire that runs; keeps its memory
};

}  // namespace farcall

#endif  // FARCALL_RPC_CALL_CALL_TABLE_H_
