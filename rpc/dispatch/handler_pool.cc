// SPDX-License-Identifier: Apache-2.0

#include "rpc/dispatch/handler_pool.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/threads/thread.h"
#include "transport/loop/drive/blocking.h"

namespace farcall {

class HandlerPool::Hook final : public BlockingHook {
 public:
  explicit Hook(HandlerPool& pool) : pool_(pool) {}
  absl::Status BeforeBlocking() override { return pool_.BeforeBlocking(*this); }

  bool blocked = false;  // in the handler that runs; guarded by the pool's mutex

 private:
  HandlerPool& pool_;
};

HandlerPool::~HandlerPool() { Stop(); }

void HandlerPool::Stop() {
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

// Of what waits and may begin somebody takes the first: who is on its way, or who is called here.
// Where the system gives no more threads, those that are there have to do.
void HandlerPool::CallOne() {
  if (queue_.empty() || !MayBegin() || starting_ + woken_ > 0) return;
  if (idle_ > 0) {
    ++woken_;
    wake_.notify_one();
  } else if (threads_.size() < static_cast<size_t>(most_ + blocked_)) {
    static_cast<void>(AddThread());
  }
}

std::optional<size_t> HandlerPool::Submit(UserTask& task, Calling calling) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (threads_.empty() && !AddThread().ok()) return std::nullopt;
  queue_.Push(task);
  waiting_.store(queue_.size(), std::memory_order_relaxed);
  if (calling == Calling::kNow) CallOne();
  return queue_.size();
}

void HandlerPool::CallThread() {
  std::lock_guard<std::mutex> lock(mutex_);
  CallOne();
}

UserTask* HandlerPool::Pop() {
  UserTask* const task = MayBegin() ? queue_.Pop() : nullptr;
  waiting_.store(queue_.size(), std::memory_order_relaxed);
  return task;
}

void HandlerPool::BeginElsewhere() {
  std::lock_guard<std::mutex> lock(mutex_);
  ++elsewhere_;
}

void HandlerPool::EndElsewhere() {
  std::lock_guard<std::mutex> lock(mutex_);
  --elsewhere_;
  CallOne();
}

int HandlerPool::idle() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return idle_;
}

absl::Status HandlerPool::BeforeBlocking(Hook& hook) {
  if (spares_ == 0) return absl::OkStatus();
  std::lock_guard<std::mutex> lock(mutex_);
  if (hook.blocked) return absl::OkStatus();
  if (blocked_ >= spares_) {
    return absl::ResourceExhaustedError(
        absl::StrCat(blocked_,
                     " handlers wait in synchronous calls on handler threads, which is the most: "
                     "asynchronous calls and coroutines hold no thread"));
  }
  // What it waits for may need a thread of these.
  if (threads_.size() <= static_cast<size_t>(blocked_) + 1) {
    if (absl::Status added = AddThread(); !added.ok()) return added;
  }
  hook.blocked = true;
  ++blocked_;
  CallOne();
  return absl::OkStatus();
}

void HandlerPool::Run() {
  Hook hook(*this);
  SetBlockingHook(&hook);
  std::unique_lock<std::mutex> lock(mutex_);
  --starting_;
  for (;;) {
    while (UserTask* const task = Pop()) {
      ++busy_;
      CallOne();
      lock.unlock();
      task->Run();
      lock.lock();
      --busy_;
      if (std::exchange(hook.blocked, false)) --blocked_;
    }
    if (stop_ && queue_.empty()) break;
    ++idle_;
    wake_.wait(lock, [this] { return woken_ > 0 || (stop_ && queue_.empty()); });
    --idle_;
    if (woken_ > 0) --woken_;
  }
  // Others may have waited for their turn when they were stopped.
  wake_.notify_all();
}

}  // namespace farcall
