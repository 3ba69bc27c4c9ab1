// SPDX-License-Identifier: Apache-2.0

#include "rpc/coroutine_handler.h"

#include <optional>
#include <string>
#include <utility>

#include "rpc/exception_text.h"

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

void RunHandler(google::protobuf::RpcController* controller, google::protobuf::Closure* done,
                Task<> task) {
  RunningHandler::Begin(*controller, *done, std::move(task));
}

}  // namespace farcall
