// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_DRIVERS_BLOCKING_THREADS_H_
#define FARCALL_TRANSPORT_LOOP_DRIVERS_BLOCKING_THREADS_H_

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "transport/base/host/cores.h"

namespace farcall {

// Threads for what may block and so has no place on a loop: looking up names, reading files. Tasks
// begin in their order; there is one thread, and another one only for a task that would wait for
// those that there are. They run on the processors of the thread that starts the first: the loops
// that start others may run on fewer.
class BlockingThreads {
 public:
  using Task = absl::AnyInvocable<void()>;

  // `most` threads at once, at least 1.
  static absl::StatusOr<std::unique_ptr<BlockingThreads>> Start(size_t most);
  BlockingThreads(const BlockingThreads&) = delete;
  BlockingThreads& operator=(const BlockingThreads&) = delete;
  // Waits for the tasks that run; the others are destroyed, not run. Not from a task.
  ~BlockingThreads();

  // Any thread. False, and the task is destroyed: kMaxTasks wait already.
  bool Post(Task task);

 private:
  static constexpr size_t kMaxTasks = 10'000;

  explicit BlockingThreads(size_t most) : most_(most) {}
  absl::Status StartOne();  // with mutex_ held
  void Run();

  const size_t most_;
  const std::vector<int> cpus_ = AllowedCpus();
  std::mutex mutex_;
  std::condition_variable wake_;
  // Guarded by mutex_.
  std::deque<Task> tasks_;
  size_t idle_ = 0;  // threads that wait for a task, or were woken for one
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_DRIVERS_BLOCKING_THREADS_H_
