// SPDX-License-Identifier: Apache-2.0
//
// For tests of loads: calls that end when the test wants them to.

#ifndef FARCALL_BENCHMARKS_COMMON_CALL_LOAD_TESTING_H_
#define FARCALL_BENCHMARKS_COMMON_CALL_LOAD_TESTING_H_

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "benchmarks/common/call_load.h"

namespace farcall::bench {

// Ends calls on a thread of its own, in the order of their beginning.
class Ender {
 public:
  ~Ender() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  // A call has begun, and is to end with `code`.
  void Add(CallLoad& load, CallLoad::Slot& slot, CallTally& tally, int code) {
    const std::lock_guard<std::mutex> lock(mutex_);
    begun_.push_back({&load, &slot, &tally, code});
    most_ = std::max(most_, begun_.size());
    changed_.notify_all();
  }
  // Calls that wait for their end, at most, at any time.
  size_t most() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return most_;
  }
  void HoldBack(bool held) {
    const std::lock_guard<std::mutex> lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }
  std::function<void(int)> on_end = [](int) {};  // before the first call

 private:
  struct Begun {
    CallLoad* load;
    CallLoad::Slot* slot;
    CallTally* tally;
    int code;
  };

  void Run() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (int ended = 1;; ++ended) {
      changed_.wait(lock, [this] { return over_ || (!held_ && !begun_.empty()); });
      if (over_) return;
      const Begun call = begun_.front();
      begun_.pop_front();
      lock.unlock();
      on_end(ended);
      call.load->OnEnd(*call.slot, *call.tally, call.code, "as it was to end");
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  bool held_ = false;
  size_t most_ = 0;
  std::deque<Begun> begun_;
  std::thread thread_{[this] { Run(); }};
};

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_COMMON_CALL_LOAD_TESTING_H_
