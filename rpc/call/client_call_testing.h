// SPDX-License-Identifier: Apache-2.0
//
// For the tests of a client's call: one that the test answers.

#ifndef FARCALL_RPC_CALL_CLIENT_CALL_TESTING_H_
#define FARCALL_RPC_CALL_CLIENT_CALL_TESTING_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "rpc/call/client_call.h"
#include "rpc/closure.h"
#include "rpc/dispatch/test_services.pb.h"
#include "rpc/wire/test_message.pb.h"
#include "transport/base/clock.h"
#include "transport/loop/loop_testing.h"

namespace farcall {

using EchoMessage = ::farcall::testing::EchoMessage;

class ClientCallTest : public ::testing::Test {
 protected:
  // The answer to a call: a message, or the bytes that stand for one.
  static Frame Response(absl::string_view payload, absl::string_view attachment = {}) {
    Frame frame;
    frame.meta.mutable_response()->set_error_code(0);
    frame.payload = Buffer(payload);
    frame.attachment = Buffer(attachment);
    return frame;
  }
  static Frame Message(absl::string_view text, absl::string_view attachment = {}) {
    EchoMessage message;
    message.set_message(std::string(text));
    return Response(message.SerializeAsString(), attachment);
  }

  // Answers a call with a closure and runs what that queues.
  void Answer(Frame frame) {
    bool ended = false;
    auto* const call = new ClientCall(environment_, Method(), controller_, &response_,
                                      NewClosure([&] { ended = true; }));
    ASSERT_TRUE(call->AskInterceptors(response_));
    loop_->RunOrPost([&] {
      call->Answer(frame);
      call->Complete(*loop_);
    });
    EXPECT_FALSE(ended) << "closures run from the loop's top level only";
    EXPECT_TRUE(loop_->RunOnce());
    EXPECT_TRUE(ended);
  }

  static const google::protobuf::MethodDescriptor& Method() {
    return *one::Echo::descriptor()->method(0);
  }

  ManualClock clock_;
  CopyTally copied_;
  std::unique_ptr<BlockPool> pool_ = *BlockPool::Create({});
  std::shared_ptr<const CallEnvironment> environment_ = std::make_shared<const CallEnvironment>(
      CallEnvironment{&clock_, pool_.get(), size_t{1} << 20, {}, &copied_});
  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create(clock_);
  Controller controller_;
  EchoMessage response_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_CALL_CLIENT_CALL_TESTING_H_
