// SPDX-License-Identifier: Apache-2.0

#include "rpc/dispatch/handler_pool.h"

#include <utility>

#include "transport/base/thread.h"

namespace farcall {

absl::StatusOr<std::unique_ptr<HandlerPool>> HandlerPool::Start(int threads) {
  std::unique_ptr<HandlerPool> pool(new HandlerPool);
  for (int i = 0; i < threads; ++i) {
    auto thread = StartThread("farcall-handler", [raw = pool.get()] { raw->Run(); });
    if (!thread.ok()) return thread.status();
    pool->threads_.push_back(*std::move(thread));
  }
  return pool;
}

HandlerPool::~HandlerPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void HandlerPool::Submit(UserTask& task) {
  bool wake = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    queue_.Push(task);
    wake = idle_ > 0;
  }
  if (wake) wake_.notify_one();
}

void HandlerPool::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    while (UserTask* const task = queue_.Pop()) {
      lock.unlock();
      task->Run();
      lock.lock();
    }
    if (stop_) return;
    ++idle_;
    wake_.wait(lock);
    --idle_;
  }
}

}  // namespace farcall
