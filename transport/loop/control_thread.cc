// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/control_thread.h"

#include <utility>

#include "transport/base/thread.h"

namespace farcall {

absl::StatusOr<std::unique_ptr<ControlThread>> ControlThread::Start() {
  std::unique_ptr<ControlThread> control(new ControlThread);
  auto thread = StartThread("farcall-control", [raw = control.get()] { raw->Run(); });
  if (!thread.ok()) return thread.status();
  control->thread_ = *std::move(thread);
  return control;
}

ControlThread::~ControlThread() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool ControlThread::Post(Task task) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (tasks_.size() >= kMaxTasks) return false;
    tasks_.push_back(std::move(task));
  }
  wake_.notify_one();
  return true;
}

void ControlThread::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stop_ || !tasks_.empty(); });
    if (stop_) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // what it holds is released before the next wait
    lock.lock();
  }
}

}  // namespace farcall
