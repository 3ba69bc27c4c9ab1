// SPDX-License-Identifier: Apache-2.0

#include "rpc/runtime/coroutine.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

#include "absl/strings/str_cat.h"
#include "rpc/exception_text.h"
#include "transport/loop/drive/blocking.h"
#include "transport/loop/loop_group.h"

namespace farcall {
namespace {

// Owns the task, and itself until the task's end.
class RunningHandler final : public TaskWaiter {
 public:
  static void Begin(google::protobuf::RpcController& controller, google::protobuf::Closure& done,
                    Task<> task) {
    auto* const running = new RunningHandler(controller, done, std::move(task));
    running->task_.Begin(*running);
  }

  std::coroutine_handle<> OnTaskEnd() noexcept override {
    const std::optional<std::string> thrown = ExceptionTextOf([this] { task_.Take(); });
    if (thrown) controller_.SetFailed("exception: " + *thrown);
    google::protobuf::Closure& done = done_;
    // The task's frame goes before what its parameters refer to.
    delete this;
    done.Run();
    return std::noop_coroutine();
  }

 private:
  RunningHandler(google::protobuf::RpcController& controller, google::protobuf::Closure& done,
                 Task<> task)
      : controller_(controller), done_(done), task_(std::move(task)) {}

  google::protobuf::RpcController& controller_;
  google::protobuf::Closure& done_;
  Task<> task_;
};

}  // namespace

TaskEvent::TaskEvent() {
  const absl::Status status = BeforeBlocking();
  if (status.ok()) return;
  throw std::runtime_error(
      absl::StrCat("no thread could run what is waited for: ", status.message()));
}

std::coroutine_handle<> TaskEvent::OnTaskEnd() noexcept {
  // The lock is kept over notify, since the event may die once Wait has returned.
  const std::lock_guard<std::mutex> lock(mutex_);
  ended_ = true;
  changed_.notify_one();
  return std::noop_coroutine();
}

void TaskEvent::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return ended_; });
}

void RunHandler(google::protobuf::RpcController* controller, google::protobuf::Closure* done,
                Task<> task) {
  RunningHandler::Begin(*controller, *done, std::move(task));
}

void SleepAwaiter::await_suspend(std::coroutine_handle<> waiting) {
  waiting_ = waiting;
  // The coroutine may go on, and end this, before RunOrPost returns.
  EventLoop& loop = loop_;
  loop.RunOrPost([this, &loop] {
    const Duration longest = TimePoint::max() - loop.now();
    loop.SetTimer(timer_, loop.now() + std::min(time_, longest));
  });
}

SleepAwaiter SleepFor(Runtime& runtime, Duration time) {
  return SleepAwaiter(runtime.parts().loops->Next(), time);
}

}  // namespace farcall
