// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_CONTROL_THREAD_H_
#define FARCALL_TRANSPORT_LOOP_CONTROL_THREAD_H_

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"

namespace farcall {

// One thread for what may block for milliseconds and so has no place on a loop: name
// resolution, memory registration, device discovery. One task after the other.
class ControlThread {
 public:
  using Task = absl::AnyInvocable<void()>;

  static absl::StatusOr<std::unique_ptr<ControlThread>> Start();
  ControlThread(const ControlThread&) = delete;
  ControlThread& operator=(const ControlThread&) = delete;
  // Waits for the task that runs; the others are destroyed, not run. Not from a task.
  ~ControlThread();

  // Any thread. False, and the task is destroyed: kMaxTasks wait already.
  bool Post(Task task);

 private:
  static constexpr size_t kMaxTasks = 10'000;

  ControlThread() = default;
  void Run();

  std::mutex mutex_;
  std::condition_variable wake_;
  // Guarded by mutex_.
  std::deque<Task> tasks_;
  bool stop_ = false;

  std::thread thread_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_CONTROL_THREAD_H_
