// SPDX-License-Identifier: Apache-2.0
//
// Interceptors around a client's call.

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "rpc/call/client_call_testing.h"

namespace farcall {
namespace {

// Records its calls, and refuses where the test says so.
class Witness final : public ClientInterceptor {
 public:
  Witness(std::string name, bool refuse, std::vector<std::string>& seen)
      : name_(std::move(name)), refuse_(refuse), seen_(seen) {}
  bool OnCall(const google::protobuf::MethodDescriptor& method, Controller& controller,
              const google::protobuf::Message&) override {
    seen_.push_back(name_ + " call " + method.name());
    if (refuse_) controller.SetFailed(kRejected, "not today");
    return !refuse_;
  }
  void OnEnd(const google::protobuf::MethodDescriptor&, Controller& controller,
             const google::protobuf::Message* response) override {
    seen_.push_back(name_ + " end " + controller.ErrorText() + (response ? " response" : ""));
  }

 private:
  const std::string name_;
  const bool refuse_;
  std::vector<std::string>& seen_;
};

TEST_F(ClientCallTest, InterceptorsAreAskedInOrderAndToldInTheOpposite) {
  std::vector<std::string> seen;
  CallEnvironment environment = *environment_;
  environment.interceptors = {std::make_shared<Witness>("a", false, seen),
                              std::make_shared<Witness>("b", false, seen)};
  ClientCall call(std::make_shared<const CallEnvironment>(environment), Method(), controller_,
                  &response_, nullptr);
  EXPECT_TRUE(call.AskInterceptors(response_));
  Frame frame = Message("x");
  call.Answer(frame);
  loop_->RunOrPost([&] { call.Complete(*loop_); });
  call.Wait(*loop_);
  EXPECT_EQ(seen, (std::vector<std::string>{"a call Say", "b call Say", "b end  response",
                                            "a end  response"}));
}

TEST_F(ClientCallTest, AnInterceptorThatRefusesEndsTheCallForThoseThatWereAsked) {
  std::vector<std::string> seen;
  CallEnvironment environment = *environment_;
  environment.interceptors = {std::make_shared<Witness>("a", false, seen),
                              std::make_shared<Witness>("b", true, seen),
                              std::make_shared<Witness>("c", false, seen)};
  ClientCall call(std::make_shared<const CallEnvironment>(environment), Method(), controller_,
                  &response_, nullptr);
  EXPECT_FALSE(call.AskInterceptors(response_));
  call.Fail(controller_.ErrorCode(), controller_.ErrorText());
  loop_->RunOrPost([&] { call.Complete(*loop_); });
  call.Wait(*loop_);
  EXPECT_EQ(controller_.ErrorCode(), kRejected);
  EXPECT_EQ(seen, (std::vector<std::string>{"a call Say", "b call Say", "b end not today",
                                            "a end not today"}));
}

// Records its calls, then throws where the test says so.
class Thrower final : public ClientInterceptor {
 public:
  Thrower(bool on_call, bool on_end, std::vector<std::string>& seen)
      : on_call_(on_call), on_end_(on_end), seen_(seen) {}
  bool OnCall(const google::protobuf::MethodDescriptor&, Controller&,
              const google::protobuf::Message&) override {
    seen_.push_back("thrower call");
    if (on_call_) throw std::runtime_error("no tracer");
    return true;
  }
  void OnEnd(const google::protobuf::MethodDescriptor&, Controller&,
             const google::protobuf::Message*) override {
    seen_.push_back("thrower end");
    if (on_end_) throw 7;
  }

 private:
  const bool on_call_;
  const bool on_end_;
  std::vector<std::string>& seen_;
};

class ThrowingInterceptorTest : public ClientCallTest {
 protected:
  // Between two that throw nothing.
  void Intercept(bool on_call, bool on_end) {
    CallEnvironment environment = *environment_;
    environment.interceptors = {std::make_shared<Witness>("a", false, seen_),
                                std::make_shared<Thrower>(on_call, on_end, seen_),
                                std::make_shared<Witness>("c", false, seen_)};
    environment.log = [this](LogSeverity, absl::string_view line) {
      log_.push_back(std::string(line));
    };
    environment_ = std::make_shared<const CallEnvironment>(environment);
  }

  static constexpr char kWho[] = "a client interceptor of farcall.one.Echo.Say threw: ";
  std::vector<std::string> seen_;
  std::vector<std::string> log_;
};

TEST_F(ThrowingInterceptorTest, BeforeTheCallItEndsTheCall) {
  Intercept(true, false);
  ClientCall call(environment_, Method(), controller_, &response_, nullptr);
  EXPECT_FALSE(call.AskInterceptors(response_));
  const std::string text = std::string(kWho) + "no tracer";
  EXPECT_EQ(controller_.ErrorCode(), kInternal);
  EXPECT_EQ(controller_.ErrorText(), text);
  call.Fail(controller_.ErrorCode(), controller_.ErrorText());
  loop_->RunOrPost([&] { call.Complete(*loop_); });
  call.Wait(*loop_);
  EXPECT_EQ(seen_, (std::vector<std::string>{"a call Say", "thrower call", "thrower end",
                                             "a end " + text}));
  EXPECT_EQ(log_, (std::vector<std::string>{text}));
}

TEST_F(ThrowingInterceptorTest, AtTheEndItFailsTheCallAndTheOthersAreTold) {
  Intercept(false, true);
  Answer(Message("x"));
  const std::string text = std::string(kWho) + "something that is no std::exception";
  EXPECT_EQ(controller_.ErrorCode(), kInternal);
  EXPECT_EQ(controller_.ErrorText(), text);
  EXPECT_EQ(seen_, (std::vector<std::string>{"a call Say", "thrower call", "c call Say",
                                             "c end  response", "thrower end", "a end " + text}));
}

TEST_F(ThrowingInterceptorTest, WhyACallFailedStays) {
  Intercept(false, true);
  Frame frame = Message("x");
  frame.meta.mutable_response()->set_error_code(42);
  frame.meta.mutable_response()->set_error_text("the service says no");
  Answer(std::move(frame));
  EXPECT_EQ(controller_.ErrorCode(), 42);
  EXPECT_EQ(controller_.ErrorText(), "the service says no");
  EXPECT_EQ(log_.size(), 1u);
}

}  // namespace
}  // namespace farcall
