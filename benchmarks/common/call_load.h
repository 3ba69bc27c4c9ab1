// SPDX-License-Identifier: Apache-2.0
//
// Keeps calls of any kind under way: a fixed number (closed loop), or begun at fixed times
// (open loop).

#ifndef FARCALL_BENCHMARKS_COMMON_CALL_LOAD_H_
#define FARCALL_BENCHMARKS_COMMON_CALL_LOAD_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/strings/string_view.h"
#include "benchmarks/common/figures/call_tally.h"
#include "benchmarks/common/open_loop_schedule.h"

namespace farcall::bench {

class CallLoad {
 public:
  using Time = OpenLoopSchedule::Time;

  // A call that is made again and again, one at a time.
  class Slot {
   public:
    virtual ~Slot() = default;
    // Starts the call. Its end, which must come, is load.OnEnd(*this, ...): once, on any thread,
    // never from inside this.
    virtual void Begin(CallLoad& load) = 0;

    Time begun{};  // the load's own
  };

  // As many calls under way at most as there are slots. No call begins after `end`.
  CallLoad(std::vector<std::unique_ptr<Slot>> slots, Time end);
  CallLoad(const CallLoad&) = delete;
  CallLoad& operator=(const CallLoad&) = delete;
  // After WaitForLast, if anything was begun.
  ~CallLoad();

  // Closed loop: each slot begins a call, and another one when that has ended.
  void Start();
  // Open loop: begins what is due, on this thread, until `end`. Where all slots are under way the
  // call waits for one, and its wait counts as latency.
  void Pace(OpenLoopSchedule schedule);
  // How many calls due before `end` were not begun, as slots were missing or it was stopped; once
  // Pace has returned. No latency counts them.
  uint64_t not_begun() const { return not_begun_; }
  // No call begins any more.
  void Stop() { stopped_ = true; }
  // Until the last call has ended.
  void WaitForLast();

  // For slots: the call has ended, `code` 0: well. Begins the next one in a closed loop.
  void OnEnd(Slot& slot, CallTally& tally, int code, absl::string_view text);

 private:
  bool Over(Time now) const { return stopped_ || now >= end_; }

  const std::vector<std::unique_ptr<Slot>> slots_;
  const Time end_;
  std::atomic<bool> stopped_{false};
  std::atomic<bool> closed_loop_{false};
  uint64_t not_begun_ = 0;  // of the thread that paces

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Slot*> free_;  // guarded by mutex_
};

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_COMMON_CALL_LOAD_H_
