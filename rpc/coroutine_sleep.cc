// SPDX-License-Identifier: Apache-2.0

#include "rpc/coroutine_sleep.h"

#include <algorithm>

#include "transport/loop/loop_group.h"

namespace farcall {

void SleepAwaiter::await_suspend(std::coroutine_handle<> waiting) {
  waiting_ = waiting;
  // The coroutine may go on, and end this, before RunOrPost returns.
  EventLoop& loop = loop_;
  loop.RunOrPost([this, &loop] {
    const Duration longest = TimePoint::max() - loop.now();
    loop.SetTimer(timer_, loop.now() + std::min(time_, longest));
  });
}

SleepAwaiter SleepFor(Runtime& runtime, Duration time) {
  return SleepAwaiter(runtime.parts().loops->Next(), time);
}

}  // namespace farcall
