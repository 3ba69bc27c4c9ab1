// SPDX-License-Identifier: Apache-2.0
//
// For tests of those who wait on a loop.

#ifndef FARCALL_TRANSPORT_LOOP_LOOP_VISITOR_TESTING_H_
#define FARCALL_TRANSPORT_LOOP_LOOP_VISITOR_TESTING_H_

#include <optional>
#include <thread>
#include <utility>

#include "transport/loop/loop_testing.h"
#include "transport/loop/loop_visitor.h"

namespace farcall {

// A thread's calls, one after the other: each ends at a time, or when somebody says so.
class Caller {
 public:
  explicit Caller(EventLoop& loop) : loop_(loop) {}

  // Returns the thread that ended it. None: only End ends it.
  std::thread::id Call(std::optional<Duration> after) {
    LoopVisitor visitor;
    loop_.RunOrPost([this, &visitor, after] {
      waiting_ = &visitor;
      if (after) loop_.SetTimer(timer_, loop_.now() + *after);
      begun.Signal();
    });
    visitor.Wait(loop_);
    return ended_by_;
  }
  // With the loop held.
  void End() {
    if (waiting_ == nullptr) return;
    loop_.CancelTimer(timer_);
    ended_by_ = std::this_thread::get_id();
    std::exchange(waiting_, nullptr)->Done(loop_);
  }

  TestEvent begun;

 private:
  EventLoop& loop_;
  LoopVisitor* waiting_ = nullptr;
  std::thread::id ended_by_;
  Timer timer_{[this] { End(); }};
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_LOOP_VISITOR_TESTING_H_
