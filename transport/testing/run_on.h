// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TESTING_RUN_ON_H_
#define FARCALL_TRANSPORT_TESTING_RUN_ON_H_

#include <condition_variable>
#include <mutex>

#include "absl/functional/function_ref.h"
#include "transport/loop/event_loop.h"

namespace farcall {

// Runs `work` with `loop` held, here if the loop is free, else on its thread, and returns when
// it has run. No loop is held, and if this one is, another thread drives it.
inline void RunOn(EventLoop& loop, absl::FunctionRef<void()> work) {
  if (loop.TryRun(work)) return;
  std::mutex mutex;
  std::condition_variable ran;
  bool done = false;
  loop.Post([&] {
    work();
    const std::lock_guard<std::mutex> lock(mutex);
    done = true;
    // With the lock: the condition variable dies as soon as its waiter sees `done`.
    ran.notify_one();
  });
  std::unique_lock<std::mutex> lock(mutex);
  ran.wait(lock, [&] { return done; });
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_RUN_ON_H_
