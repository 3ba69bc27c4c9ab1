// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_RUNTIME_COROUTINE_TASK_H_
#define FARCALL_RPC_RUNTIME_COROUTINE_TASK_H_

#include <atomic>
#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace farcall {

// Who waits for the end of a task.
class TaskWaiter {
 public:
  // Once, on the thread that ran the task's last part. Returns what that thread goes on with; the
  // task may be destroyed here.
  virtual std::coroutine_handle<> OnTaskEnd() noexcept = 0;

 protected:
  ~TaskWaiter() = default;
};

// What the coroutine of a task keeps beside its variables.
class TaskPromiseBase {
 public:
  struct AtEnd {
    bool await_ready() noexcept { return false; }
    template <typename Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) noexcept {
      return ended.promise().waiter_->OnTaskEnd();
    }
    void await_resume() noexcept {}
  };

  std::suspend_always initial_suspend() noexcept { return {}; }
  AtEnd final_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept { error_ = std::current_exception(); }
  // Before the coroutine is resumed for the first time.
  void set_waiter(TaskWaiter& waiter) { waiter_ = &waiter; }

 protected:
  void RethrowError() {
    if (error_ != nullptr) std::rethrow_exception(std::move(error_));
  }

 private:
  TaskWaiter* waiter_ = nullptr;
  std::exception_ptr error_;
};

template <typename T>
class TaskPromise : public TaskPromiseBase {
 public:
  template <typename U>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  T Take() {
    RethrowError();
    return *std::move(value_);
  }

 private:
  std::optional<T> value_;
};

template <>
class TaskPromise<void> : public TaskPromiseBase {
 public:
  void return_void() noexcept {}
  void Take() { RethrowError(); }
};

// A coroutine that begins when it is awaited and ends with a T, or an exception for who awaits it:
//
//   Task<int> Twice(int x) { co_return 2 * x; }
//   Task<int> Sum() { co_return co_await Twice(1) + co_await Twice(2); }
//
// Awaited once at most; by one coroutine, SyncWait, WhenAll or RunHandler. It runs on the
// thread that awaits it up to its first wait, and goes on where that ends: after a call, on a
// thread that runs closures. A task that was begun is not destroyed before it has ended.
//
// Mind the parameters: a coroutine keeps references as they are. What they refer to lives until
// the task has ended; that holds for `co_await F(x)`, and is yours to see to where the task is
// kept. A lambda that is a coroutine must outlive its task likewise, with what it captures.
template <typename T = void>
class [[nodiscard]] Task {
 public:
  static_assert(!std::is_reference_v<T>, "a task ends with a value; return a pointer");

  class promise_type final : public TaskPromise<T> {
   public:
    Task get_return_object() noexcept {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
  };

  Task(Task&& other) noexcept : coroutine_(std::exchange(other.coroutine_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    Task(std::move(other)).Swap(*this);
    return *this;
  }
  ~Task() {
    if (coroutine_) coroutine_.destroy();
  }

  class Awaiter final : public TaskWaiter {
   public:
    explicit Awaiter(std::coroutine_handle<promise_type> task) : task_(task) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> parent) noexcept {
      parent_ = parent;
      task_.promise().set_waiter(*this);
      task_.resume();
      // A task that has ended already does not resume its parent: loops over such tasks would
      // nest one level deeper each time round wherever the compiler makes no tail calls.
      return !one_is_through_.exchange(true, std::memory_order_acq_rel);
    }
    T await_resume() { return task_.promise().Take(); }
    std::coroutine_handle<> OnTaskEnd() noexcept override {
      if (one_is_through_.exchange(true, std::memory_order_acq_rel)) return parent_;
      return std::noop_coroutine();
    }

   private:
    const std::coroutine_handle<promise_type> task_;
    std::coroutine_handle<> parent_;
    // The task that ends and the parent that suspends: who comes second lets the parent go on.
    std::atomic<bool> one_is_through_{false};
  };

  Awaiter operator co_await() && noexcept { return Awaiter(coroutine_); }

  // --- For what waits for tasks in other ways.

  // Runs it up to its first wait. `waiter` lives until it was notified of the end.
  void Begin(TaskWaiter& waiter) {
    coroutine_.promise().set_waiter(waiter);
    coroutine_.resume();
  }
  // After its end, once: its value, or its exception thrown.
  T Take() { return coroutine_.promise().Take(); }

 private:
  explicit Task(std::coroutine_handle<promise_type> coroutine) : coroutine_(coroutine) {}
  void Swap(Task& other) noexcept { std::swap(coroutine_, other.coroutine_); }

  std::coroutine_handle<promise_type> coroutine_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_RUNTIME_COROUTINE_TASK_H_
