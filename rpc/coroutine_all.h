// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_COROUTINE_ALL_H_
#define FARCALL_RPC_COROUTINE_ALL_H_

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rpc/coroutine_task.h"

namespace farcall {

// Begins tasks, and lets the coroutine that awaits it go on when the last of them has ended.
template <typename BeginEach>
class AllEnded final : public TaskWaiter {
 public:
  // `begin_each` begins `tasks` tasks, with the waiter that it is given.
  AllEnded(size_t tasks, BeginEach begin_each) : open_(tasks + 1), begin_each_(begin_each) {}

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiting) {
    waiting_ = waiting;
    begin_each_(static_cast<TaskWaiter&>(*this));
    // The one more that was counted: no task resumes the coroutine before it is suspended.
    return open_.fetch_sub(1, std::memory_order_acq_rel) > 1;
  }
  void await_resume() const noexcept {}
  std::coroutine_handle<> OnTaskEnd() noexcept override {
    if (open_.fetch_sub(1, std::memory_order_acq_rel) > 1) return std::noop_coroutine();
    return waiting_;
  }

 private:
  std::atomic<size_t> open_;
  const BeginEach begin_each_;
  std::coroutine_handle<> waiting_;
};

// Begins all tasks, one after the other, and ends when each has ended: with their values in
// their order, or with the exception of the first of them that threw.
template <typename T>
Task<std::vector<T>> WhenAll(std::vector<Task<T>> tasks) {
  AllEnded ended(tasks.size(), [&tasks](TaskWaiter& waiter) {
    for (Task<T>& task : tasks) task.Begin(waiter);
  });
  co_await ended;
  std::vector<T> values;
  values.reserve(tasks.size());
  for (Task<T>& task : tasks) values.push_back(task.Take());
  co_return values;
}

inline Task<void> WhenAll(std::vector<Task<void>> tasks) {
  AllEnded ended(tasks.size(), [&tasks](TaskWaiter& waiter) {
    for (Task<void>& task : tasks) task.Begin(waiter);
  });
  co_await ended;
  for (Task<void>& task : tasks) task.Take();
}

// The same for tasks of different types, none of them Task<void>: auto [a, b] = co_await
// WhenAll(A(), B()).
template <typename First, typename... Others>
requires(!std::is_void_v<First> && (!std::is_void_v<Others> && ...))
    Task<std::tuple<First, Others...>> WhenAll(Task<First> first, Task<Others>... others) {
  auto tasks = std::tie(first, others...);
  AllEnded ended(1 + sizeof...(Others), [&tasks](TaskWaiter& waiter) {
    std::apply([&](auto&... task) { (task.Begin(waiter), ...); }, tasks);
  });
  co_await ended;
  // In braces: the order in which they are taken is that of the arguments.
  co_return std::apply([](auto&... task) { return std::tuple<First, Others...>{task.Take()...}; },
                       tasks);
}

}  // namespace farcall

#endif  // FARCALL_RPC_COROUTINE_ALL_H_
