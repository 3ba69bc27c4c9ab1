// SPDX-License-Identifier: Apache-2.0

#include "rpc/dispatch/handler_pool.h"

#include <utility>

#include "transport/base/thread.h"
#include "transport/loop/blocking.h"

namespace farcall {

class HandlerPool::Hook final : public BlockingHook {
 public:
  explicit Hook(HandlerPool& pool) : pool_(pool) {}
  bool BeforeBlocking() override { return pool_.BeforeBlocking(*this); }

  bool blocked = false;  // in the handler that runs; guarded by the pool's mutex

 private:
  HandlerPool& pool_;
};

HandlerPool::~HandlerPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (;;) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (threads_.empty()) return;
    std::thread thread = std::move(threads_.back());
    threads_.pop_back();
    lock.unlock();
    thread.join();
  }
}

absl::Status HandlerPool::StartAll() {
  std::lock_guard<std::mutex> lock(mutex_);
  while (threads_.size() < static_cast<size_t>(most_)) {
    if (absl::Status added = AddThread(); !added.ok()) return added;
  }
  return absl::OkStatus();
}

absl::Status HandlerPool::AddThread() {
  auto thread = StartThread(
      "farcall-handler", [this] { Run(); }, cpus_);
  if (!thread.ok()) return thread.status();
  threads_.push_back(*std::move(thread));
  ++starting_;
  return absl::OkStatus();
}

// One more where that helps; where the system gives none, those that are there have to do.
void HandlerPool::Grow() {
  const size_t most = static_cast<size_t>(most_ + blocked_);
  const bool wanted = queue_.size() > static_cast<size_t>(idle_ + starting_) && MayBegin();
  if (wanted && threads_.size() < most) static_cast<void>(AddThread());
}

std::optional<size_t> HandlerPool::Submit(UserTask& task) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (threads_.empty() && !AddThread().ok()) return std::nullopt;
  queue_.Push(task);
  Grow();
  if (idle_ > 0) wake_.notify_one();
  return queue_.size();
}

void HandlerPool::BeginElsewhere() {
  std::lock_guard<std::mutex> lock(mutex_);
  ++elsewhere_;
}

void HandlerPool::EndElsewhere() {
  std::lock_guard<std::mutex> lock(mutex_);
  --elsewhere_;
  Grow();
  if (!queue_.empty()) wake_.notify_one();
}

size_t HandlerPool::waiting() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return queue_.size();
}

int HandlerPool::idle() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return idle_;
}

bool HandlerPool::BeforeBlocking(Hook& hook) {
  if (spares_ == 0) return true;
  std::lock_guard<std::mutex> lock(mutex_);
  if (hook.blocked) return true;
  if (blocked_ >= spares_) return false;
  hook.blocked = true;
  ++blocked_;
  Grow();
  if (!queue_.empty()) wake_.notify_one();
  return true;
}

void HandlerPool::Run() {
  Hook hook(*this);
  SetBlockingHook(&hook);
  std::unique_lock<std::mutex> lock(mutex_);
  --starting_;
  for (;;) {
    while (UserTask* const task = MayBegin() ? queue_.Pop() : nullptr) {
      ++busy_;
      lock.unlock();
      task->Run();
      lock.lock();
      --busy_;
      if (std::exchange(hook.blocked, false)) --blocked_;
    }
    if (stop_ && queue_.empty()) break;
    ++idle_;
    wake_.wait(lock);
    --idle_;
  }
  // Others may have waited for their turn when they were stopped.
  wake_.notify_all();
}

}  // namespace farcall
