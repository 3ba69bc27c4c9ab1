// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_COROUTINE_SLEEP_H_
#define FARCALL_RPC_COROUTINE_SLEEP_H_

#include <coroutine>

#include "rpc/runtime.h"
#include "transport/base/time.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/timer_queue.h"
#include "transport/loop/user_queue.h"

namespace farcall {

// Lives in the coroutine's frame: a sleep allocates nothing.
class SleepAwaiter final : public UserTask {
 public:
  SleepAwaiter(EventLoop& loop, Duration time) : loop_(loop), time_(time) {}

  bool await_ready() const noexcept { return time_ <= Duration::zero(); }
  void await_suspend(std::coroutine_handle<> waiting);
  void await_resume() const noexcept {}
  void Run() override { waiting_.resume(); }

 private:
  EventLoop& loop_;
  const Duration time_;
  std::coroutine_handle<> waiting_;
  // Fires with the loop held, where no coroutine may run.
  Timer timer_{[this] { loop_.RunUser(*this); }};
};

// co_await SleepFor(runtime, std::chrono::milliseconds(5)): goes on not earlier, on a thread of
// the runtime that runs closures. The runtime outlives the sleep.
SleepAwaiter SleepFor(Runtime& runtime, Duration time);

}  // namespace farcall

#endif  // FARCALL_RPC_COROUTINE_SLEEP_H_
