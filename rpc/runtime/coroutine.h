// SPDX-License-Identifier: Apache-2.0
//
// C++20 coroutines over calls: what would be a chain of closures reads from top to bottom.
//
//   farcall::Task<std::string> Greet(example::EchoService_Stub& stub) {
//     farcall::Controller controller;
//     example::EchoRequest request;
//     example::EchoResponse response;
//     request.set_message("hello");
//     if (!co_await farcall::CallAsync(stub, &example::EchoService_Stub::Echo, &controller,
//                                      &request, &response)) {
//       co_return controller.ErrorText();
//     }
//     co_return response.message();
//   }
//
//   std::string greeting = farcall::SyncWait(Greet(stub));
//
// docs/coroutines.md has the rest.

#ifndef FARCALL_RPC_RUNTIME_COROUTINE_H_
#define FARCALL_RPC_RUNTIME_COROUTINE_H_

#include <atomic>
#include <condition_variable>
#include <coroutine>
#include <cstddef>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "google/protobuf/service.h"
#include "google/protobuf/stubs/callback.h"
#include "rpc/runtime/coroutine_task.h"
#include "rpc/runtime/runtime.h"
#include "transport/base/time.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/queues/timer_queue.h"
#include "transport/loop/queues/user_queue.h"

namespace farcall {

// A call that is awaited. Lives in the coroutine's frame, and is the call's closure too, so that
// awaiting allocates nothing.
template <typename Start>
class CallAwaiter final : public google::protobuf::Closure {
 public:
  CallAwaiter(google::protobuf::RpcController& controller, Start start)
      : controller_(controller), start_(start) {}

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    waiting_ = waiting;
    // A copy: the closure may run on another thread before this returns, and end this object.
    const Start start = start_;
    start(this);
  }
  bool await_resume() const { return !controller_.Failed(); }
  void Run() override { waiting_.resume(); }

 private:
  google::protobuf::RpcController& controller_;
  const Start start_;
  std::coroutine_handle<> waiting_;
};

// Awaits a call: the arguments are those of the stub's method without its closure.
//
//   const bool well = co_await CallAsync(stub, &EchoService_Stub::Echo, &controller, &request,
//   &response);
//
// False: it failed, and the controller tells why. All of them live until then, as variables of
// the coroutine do. It goes on where closures run, with no loop held; it may make further calls
// there, and should not block for long. StartCancel of the controller ends the wait.
template <typename Stub, typename StubClass, typename Request, typename Response>
[[nodiscard]] auto CallAsync(Stub& stub,
                             void (StubClass::*method)(google::protobuf::RpcController*,
                                                       const Request*, Response*,
                                                       google::protobuf::Closure*),
                             google::protobuf::RpcController* controller, const Request* request,
                             Response* response) {
  return CallAwaiter(*controller, [=, &stub](google::protobuf::Closure* done) {
    (stub.*method)(controller, request, response, done);
  });
}

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

// A thread that waits for a task.
class TaskEvent final : public TaskWaiter {
 public:
  // If this thread drives a loop, another one takes it over (transport/loop/drive/blocking.h).
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

// A service method whose work is a coroutine. Begins `task` on this thread and returns at its
// first wait; `done` is run when it has ended. A task that throws fails the call with EINTERNAL
// and the exception's text.
//
//   void Echo(google::protobuf::RpcController* controller, const EchoRequest* request,
//             EchoResponse* response, google::protobuf::Closure* done) override {
//     farcall::RunHandler(controller, done, EchoTask(*request, *response));
//   }
//   farcall::Task<> EchoTask(const EchoRequest& request, EchoResponse& response);
//
// Request, response and controller live until then. The service must too: a server that is
// destroyed does not wait for tasks that wait.
void RunHandler(google::protobuf::RpcController* controller, google::protobuf::Closure* done,
                Task<> task);

// Lives in the coroutine's frame: a sleep allocates nothing.
class SleepAwaiter final : public UserTask {
 public:
  SleepAwaiter(EventLoop& loop, Duration time) : loop_(loop), time_(time) {}

  bool await_ready() const noexcept { return time_ <= Duration::zero(); }
  void await_suspend(std::coroutine_handle<> waiting);
  void await_resume() const noexcept {}
  void Run() override { waiting_.resume(); }

 private:
  EventLoop& loop_;
  const Duration time_;
  std::coroutine_handle<> waiting_;
  // Fires with the loop held, where no coroutine may run.
  Timer timer_{[this] { loop_.RunUser(*this); }};
};

// co_await SleepFor(runtime, std::chrono::milliseconds(5)): goes on not earlier, on a thread of
// the runtime that runs closures. The runtime outlives the sleep.
SleepAwaiter SleepFor(Runtime& runtime, Duration time);

}  // namespace farcall

#endif  // FARCALL_RPC_RUNTIME_COROUTINE_H_
