// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_WAIT_FOR_WORK_H_
#define FARCALL_TRANSPORT_LOOP_WAIT_FOR_WORK_H_

#include <sched.h>

#include "transport/loop/drive/polling.h"
#include "transport/loop/event_loop.h"

namespace farcall {

// Of who drives `loop`, after a turn without work: polls again, gives way or sleeps. `over` is
// asked before a sleep, once who holds the loop would end that: true, and there is none.
template <typename Over>
void WaitForWork(EventLoop& loop, AdaptiveSpin& spin, Over&& over) {
  const TimePoint now = loop.clock().Now();
  switch (spin.OnIdle(now)) {
    case AdaptiveSpin::Decision::kPoll:
      return;
    case AdaptiveSpin::Decision::kYield:
      sched_yield();
      spin.OnYielded(loop.clock().Now() - now);
      return;
    case AdaptiveSpin::Decision::kSleep:
      if (!loop.PrepareSleep()) return;
      if (!over()) loop.Sleep();
      loop.Awake();
      return;
  }
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_WAIT_FOR_WORK_H_
