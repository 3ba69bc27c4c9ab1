// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_COROUTINE_WAIT_H_
#define FARCALL_RPC_COROUTINE_WAIT_H_

#include <condition_variable>
#include <coroutine>
#include <mutex>

#include "rpc/coroutine_task.h"

namespace farcall {

// A thread that waits for a task.
class TaskEvent final : public TaskWaiter {
 public:
  // If this thread drives a loop, another one takes it over (transport/loop/blocking.h).
  // Throws std::runtime_error where none can: too many wait already, and the task is not begun.
  TaskEvent();
  std::coroutine_handle<> OnTaskEnd() noexcept override;
  void Wait();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;  // guarded by mutex_
};

// Runs a task and waits for its end, on a thread that may block; not with a loop held. Returns
// its value, or throws its exception. As long as the task takes: its calls end by their deadlines.
template <typename T>
T SyncWait(Task<T> task) {
  TaskEvent ended;
  task.Begin(ended);
  ended.Wait();
  return task.Take();
}

}  // namespace farcall

#endif  // FARCALL_RPC_COROUTINE_WAIT_H_
