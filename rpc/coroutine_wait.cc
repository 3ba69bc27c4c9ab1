// SPDX-License-Identifier: Apache-2.0

#include "rpc/coroutine_wait.h"

#include <stdexcept>

#include "transport/loop/blocking.h"

namespace farcall {

TaskEvent::TaskEvent() {
  if (BeforeBlocking()) return;
  throw std::runtime_error(
      "too many threads wait inside closures and inline handlers "
      "(RuntimeOptions::max_blocked_threads)");
}

std::coroutine_handle<> TaskEvent::OnTaskEnd() noexcept {
  // The lock is kept over notify, since the event may die once Wait has returned.
  const std::lock_guard<std::mutex> lock(mutex_);
  ended_ = true;
  changed_.notify_one();
  return std::noop_coroutine();
}

void TaskEvent::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return ended_; });
}

}  // namespace farcall
