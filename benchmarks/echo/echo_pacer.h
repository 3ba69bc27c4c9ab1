// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_BENCHMARKS_ECHO_ECHO_PACER_H_
#define FARCALL_BENCHMARKS_ECHO_ECHO_PACER_H_

#include <functional>
#include <future>

#include "benchmarks/common/open_loop_schedule.h"
#include "transport/loop/event_loop.h"

namespace farcall::bench {

// Begins the calls of an open loop at their times, as user code of the loop that carries them: what
// is due at once leaves at once, and no other thread takes the core from it.
class EchoPacer final : public UserTask {
 public:
  using Time = OpenLoopSchedule::Time;
  // Begins a call that was due at this time. False: it cannot now, and is asked again soon.
  using BeginCall = std::function<bool(Time due)>;

  // `loop` has a thread that drives it. Until Wait.
  EchoPacer(EventLoop& loop, OpenLoopSchedule schedule, Time end, BeginCall begin);
  // Until `end`; not on the loop's thread.
  void Wait();
  void Run() override;

 private:
  EventLoop& loop_;
  OpenLoopSchedule schedule_;
  const Time end_;
  const BeginCall begin_;
  Timer timer_;
  std::promise<void> over_;
};

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_ECHO_ECHO_PACER_H_
