// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_TEST_CALL_H_
#define FARCALL_RPC_TESTING_TEST_CALL_H_

#include <string>

#include "absl/strings/string_view.h"
#include "rpc/controller.h"
#include "rpc/runtime/channel.h"
#include "rpc/testing/test_service.pb.h"
#include "transport/base/check.h"
#include "transport/loop/loop_testing.h"

namespace farcall {

// One Echo call with all that belongs to it. One thread, but for the end of the call.
class TestCall final : private google::protobuf::Closure {
 public:
  explicit TestCall(absl::string_view message = "hello") {
    request.set_message(message.data(), message.size());
  }
  TestCall(const TestCall&) = delete;
  TestCall& operator=(const TestCall&) = delete;
  ~TestCall() override { Check(!started_ || Wait(), "a call with a closure ends"); }

  // Synchronous.
  TestCall& Call(Channel& channel) {
    test::TestService_Stub(&channel).Echo(&controller, &request, &response, nullptr);
    return *this;
  }
  // With a closure; then Wait.
  void Start(Channel& channel) {
    started_ = true;
    test::TestService_Stub(&channel).Echo(&controller, &request, &response, this);
  }
  // Until the closure has run. False: not within kTestTimeout.
  [[nodiscard]] bool Wait() { return ended_.Wait(); }
  // How often the closure has run.
  int ends() { return ended_.count(); }

  // Whether the call succeeded with its own message.
  bool Echoed() const { return !controller.Failed() && response.message() == request.message(); }
  // For messages of failed tests.
  std::string Error() const {
    return std::to_string(controller.ErrorCode()) + " " + controller.ErrorText();
  }

  Controller controller;
  test::EchoRequest request;
  test::EchoResponse response;

 private:
  void Run() override { ended_.Signal(); }

  bool started_ = false;
  TestEvent ended_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_TEST_CALL_H_
