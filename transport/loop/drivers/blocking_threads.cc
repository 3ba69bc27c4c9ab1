// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/drivers/blocking_threads.h"

#include <utility>

#include "transport/base/threads/thread.h"

namespace farcall {

absl::StatusOr<std::unique_ptr<BlockingThreads>> BlockingThreads::Start(size_t most) {
  std::unique_ptr<BlockingThreads> threads(new BlockingThreads(most));
  std::lock_guard<std::mutex> lock(threads->mutex_);
  absl::Status started = threads->StartOne();
  if (!started.ok()) return started;
  return threads;
}

BlockingThreads::~BlockingThreads() {
  std::vector<std::thread> threads;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    threads.swap(threads_);
  }
  wake_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

// Counted as idle from the start, so that one task has one thread made.
absl::Status BlockingThreads::StartOne() {
  auto thread = StartThread(
      "farcall-block", [this] { Run(); }, cpus_);
  if (!thread.ok()) return thread.status();
  ++idle_;
  threads_.push_back(*std::move(thread));
  return absl::OkStatus();
}

bool BlockingThreads::Post(Task task) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (tasks_.size() >= kMaxTasks) return false;
    tasks_.push_back(std::move(task));
    // Without another thread it waits for those that there are.
    if (tasks_.size() > idle_ && threads_.size() < most_ && !stop_) StartOne().IgnoreError();
  }
  wake_.notify_one();
  return true;
}

void BlockingThreads::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stop_ || !tasks_.empty(); });
    if (stop_) return;
    --idle_;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // what it holds is released before the next wait
    lock.lock();
    ++idle_;
  }
}

}  // namespace farcall
