// SPDX-License-Identifier: Apache-2.0
//
// Code of the program around the calls of a server: authentication and interceptors.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "rpc/interceptor.h"
#include "rpc/session/server/server_session_testing.h"

namespace farcall {
namespace {

class Password final : public Authenticator {
 public:
  absl::StatusOr<std::string> GenerateCredential() const override { return "sesame"; }
  absl::StatusOr<AuthContext> VerifyCredential(absl::string_view credential,
                                               const Address& client) const override {
    ++asked;
    if (credential == "strange") throw std::runtime_error("the table of users is broken");
    if (credential.empty()) return absl::UnauthenticatedError("a credential is needed");
    if (credential != "sesame") return absl::UnauthenticatedError("wrong password");
    AuthContext context;
    context.user = absl::StrCat("ali of ", client.ToString());
    return context;
  }
  mutable int asked = 0;
};

class ServerAuthTest : public ServerSessionTest {
 protected:
  ServerAuthTest() { core_->options.auth = password_; }
  static std::string With(int64_t id, const std::string& credential) {
    wire::RpcMeta meta = RequestMeta(id);
    meta.set_authentication_data(credential);
    return Encoded(meta, "hello");
  }
  std::shared_ptr<Password> password_ = std::make_shared<Password>();
};

TEST_F(ServerAuthTest, OneGoodCredentialAdmitsAConnection) {
  std::vector<std::string> users;
  service_.say = [&](Controller& controller, auto* done) {
    users.push_back(controller.auth_context()->user);
    done->Run();
  };
  Accept();
  wire_->Deliver(With(1, "sesame") + Request(2) + With(3, "whatever"));
  world_.Run();
  for (const Frame& answer : wire_->TakeFrames()) {
    EXPECT_EQ(answer.meta.response().error_code(), 0);
  }
  EXPECT_EQ(users, std::vector<std::string>(3, "ali of 192.0.2.1:80"));
  EXPECT_EQ(password_->asked, 1);
  EXPECT_EQ(wire_->trusted, 1);
  const auto session = core_->Sessions().front();
  world_.loop->RunOrPost([&] { EXPECT_EQ(session->View()->user, "ali of 192.0.2.1:80"); });
}

TEST_F(ServerAuthTest, ABadOneIsAnsweredAndTheConnectionCloses) {
  Accept();
  wire_->Deliver(With(7, "guess") + With(8, "sesame"));
  const Frame answer = Answer();
  EXPECT_EQ(answer.meta.correlation_id(), 7);
  EXPECT_EQ(answer.meta.response().error_code(), kAuthFailed);
  EXPECT_EQ(answer.meta.response().error_text(), "wrong password");
  EXPECT_EQ(wire_->trusted, 0);
  EXPECT_TRUE(wire_->destroyed);
  EXPECT_TRUE(service_.heard.empty()) << "one guess for each connection";
  EXPECT_TRUE(Logged("the credential of its first request is refused: wrong password"));
  EXPECT_EQ(core_->counters.auth_failed, 1u);
}

TEST_F(ServerAuthTest, WhatItThrowsRefusesTheCredentialAndIsNotSent) {
  Accept();
  wire_->Deliver(With(7, "strange"));
  const Frame answer = Answer();
  EXPECT_EQ(answer.meta.response().error_code(), kAuthFailed);
  EXPECT_EQ(answer.meta.response().error_text(), "the server could not verify the credential");
  EXPECT_TRUE(wire_->destroyed);
  EXPECT_TRUE(service_.heard.empty());
  EXPECT_TRUE(Logged("threw on a credential of 192.0.2.1:80: the table of users is broken"));
  EXPECT_EQ(core_->counters.auth_failed, 1u);
}

TEST_F(ServerAuthTest, NoneIsABadOneAlsoForWhatIsNotThere) {
  Accept();
  wire::RpcMeta meta = RequestMeta(9);
  meta.mutable_request()->set_service_name("no.such.Service");
  wire_->Deliver(Encoded(meta, ""));
  const Frame answer = Answer();
  EXPECT_EQ(answer.meta.response().error_code(), kAuthFailed) << "it learns nothing";
  EXPECT_EQ(answer.meta.response().error_text(), "a credential is needed");
  EXPECT_TRUE(wire_->destroyed);
}

TEST_F(ServerSessionTest, WithoutAuthThereIsNoContext) {
  service_.say = [&](Controller& controller, auto* done) {
    EXPECT_EQ(controller.auth_context(), nullptr);
    done->Run();
  };
  Accept();
  wire_->Deliver(Request(1));
  EXPECT_EQ(Answer().meta.response().error_code(), 0);
}

// Records its calls.
class Witness final : public ServerInterceptor {
 public:
  Witness(std::string name, std::vector<std::string>& heard)
      : name_(std::move(name)), heard_(heard) {}
  bool OnRequest(const google::protobuf::MethodDescriptor& method, Controller& controller,
                 const google::protobuf::Message& request) override {
    heard_.push_back(absl::StrCat(name_, " request ", method.name(), " ",
                                  static_cast<const one::Ping&>(request).text()));
    return on_request(controller);
  }
  void OnAnswer(const google::protobuf::MethodDescriptor&, Controller& controller,
                const google::protobuf::Message* response) override {
    heard_.push_back(
        absl::StrCat(name_, " answer ", controller.ErrorCode(), " ",
                     response == nullptr ? "-" : static_cast<const one::Ping*>(response)->text()));
    on_answer(controller);
  }
  std::function<bool(Controller&)> on_request = [](Controller&) { return true; };
  std::function<void(Controller&)> on_answer = [](Controller&) {};

 private:
  const std::string name_;
  std::vector<std::string>& heard_;
};

class ServerInterceptorTest : public ServerSessionTest {
 protected:
  ServerInterceptorTest() { core_->options.interceptors = {a_, b_}; }
  using Heard = std::vector<std::string>;
  Heard heard_;
  std::shared_ptr<Witness> a_ = std::make_shared<Witness>("a", heard_);
  std::shared_ptr<Witness> b_ = std::make_shared<Witness>("b", heard_);
};

TEST_F(ServerInterceptorTest, AnswersAreToldInTheOppositeOrder) {
  Keep();
  Accept();
  wire_->Deliver(Request(1, "hello"));
  world_.Run();
  EXPECT_EQ(heard_, (Heard{"a request Say hello", "b request Say hello"}));
  heard_.clear();
  AnswerOldest();
  EXPECT_EQ(heard_, (Heard{"b answer 0 hello", "a answer 0 hello"}));
  EXPECT_EQ(Answer().meta.response().error_code(), 0);
}

TEST_F(ServerInterceptorTest, MayRefuseAndThoseBehindAreNotAsked) {
  a_->on_request = [](Controller& controller) {
    controller.SetFailed(1234, "not today");
    return false;
  };
  Accept();
  wire_->Deliver(Request(1, "hello"));
  const Frame answer = Answer();
  EXPECT_EQ(answer.meta.response().error_code(), 1234);
  EXPECT_EQ(answer.meta.response().error_text(), "not today");
  EXPECT_TRUE(service_.heard.empty());
  EXPECT_EQ(heard_, (Heard{"a request Say hello", "a answer 1234 -"}));
}

TEST_F(ServerInterceptorTest, ARefusalWithoutAReasonIsAnErrorToo) {
  b_->on_request = [](Controller&) { return false; };
  Accept();
  wire_->Deliver(Request(1));
  EXPECT_EQ(Answer().meta.response().error_code(), kInternal);
  EXPECT_TRUE(service_.heard.empty());
}

TEST_F(ServerInterceptorTest, ExceptionsFailTheCall) {
  a_->on_request = [](Controller&) -> bool { throw std::runtime_error("boom"); };
  Accept();
  wire_->Deliver(Request(1));
  Frame answer = Answer();
  EXPECT_EQ(answer.meta.response().error_code(), kInternal);
  EXPECT_EQ(answer.meta.response().error_text(), "exception: boom");
  EXPECT_TRUE(Logged("an interceptor of farcall.one.Lone.Say threw: boom"));

  a_->on_request = [](Controller&) { return true; };
  b_->on_answer = [](Controller&) { throw 42; };
  heard_.clear();
  wire_->Deliver(Request(2, "hello"));
  answer = Answer();
  EXPECT_EQ(answer.meta.response().error_code(), kInternal);
  EXPECT_EQ(heard_.back(), "a answer 2001 -") << "those before it are notified all the same";
}

TEST_F(ServerInterceptorTest, MayChangeTheAnswer) {
  a_->on_answer = [](Controller& controller) {
    controller.response_user_fields().Set("trace", "17");
  };
  Accept();
  wire_->Deliver(Request(1, "hello"));
  const Frame answer = Answer();
  ASSERT_EQ(answer.meta.user_fields_size(), 1);
  EXPECT_EQ(answer.meta.user_fields(0).key(), "trace");
  EXPECT_EQ(answer.meta.user_fields(0).value(), "17");
}

TEST_F(ServerInterceptorTest, AreNotAskedAboutWhatDoesNotParse) {
  Accept();
  wire::RpcMeta meta = RequestMeta(1);
  meta.set_compress_type(COMPRESS_TYPE_GZIP);
  wire_->Deliver(Encoded(meta, "hello"));
  EXPECT_EQ(Answer().meta.response().error_code(), kBadRequest);
  EXPECT_TRUE(heard_.empty());
}

// --- Credentials, before the body is there.

// The front of a request whose body of 64 MiB less a bit never comes.
std::string FrontOf(const std::string& request) {
  std::string front = request;
  const uint32_t size = (64u << 20) - 1;
  for (int i = 0; i < 4; ++i) front[4 + i] = static_cast<char>(size >> (24 - 8 * i));
  return front;
}

TEST_F(ServerAuthTest, ABadOneIsAnsweredBeforeItsBodyIsKept) {
  Accept();
  const std::string front = FrontOf(With(7, "guess"));
  size_t sent = 0;
  for (; sent < front.size() && !wire_->destroyed; ++sent) {
    wire_->Deliver(front.substr(sent, 1));
    world_.Run();
  }
  EXPECT_LT(sent, front.size()) << "the end of the meta tells";
  const Frame answer = Answer();
  EXPECT_EQ(answer.meta.correlation_id(), 7);
  EXPECT_EQ(answer.meta.response().error_code(), kAuthFailed);
  EXPECT_TRUE(Logged("the credential of its first request is refused: wrong password"));
  EXPECT_EQ(password_->asked, 1);
}

TEST_F(ServerAuthTest, AGoodOneIsAskedForOnceThoughItsRequestComesInPieces) {
  Accept();
  for (const char byte : With(1, "sesame") + Request(2, "more")) {
    wire_->Deliver(absl::string_view(&byte, 1));
    world_.Run();
  }
  EXPECT_EQ(wire_->TakeFrames().size(), 2u);
  EXPECT_EQ(service_.heard, (std::vector<std::string>{"hello", "more"}));
  EXPECT_EQ(password_->asked, 1);
}

TEST_F(ServerAuthTest, AStrangersMetaIsBounded) {
  wire::RpcMeta large = RequestMeta(1);
  large.set_authentication_data(std::string(size_t{128} << 10, 'x'));
  Accept();
  // Of the meta nothing but what stands beside its size has come.
  wire_->Deliver(Encoded(large, "hello").substr(0, 100));
  world_.Run();
  EXPECT_TRUE(wire_->destroyed);
  EXPECT_TRUE(Logged("is over the limit, 131072"));
  EXPECT_EQ(password_->asked, 0);
}

TEST_F(ServerAuthTest, AFriendsMetaMayBeLarger) {
  Accept();
  wire::RpcMeta large = RequestMeta(2);
  large.mutable_request()->add_request_id(std::string(size_t{200} << 10, 'x'));
  wire_->Deliver(With(1, "sesame") + Encoded(large, "hello"));
  world_.Run();
  EXPECT_EQ(wire_->TakeFrames().size(), 2u);
  EXPECT_EQ(service_.heard.size(), 2u);
}

}  // namespace
}  // namespace farcall
