// SPDX-License-Identifier: Apache-2.0
//
// Authentication and interceptors of a server from end to end, as docs/server.md shows them.

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "rpc/authenticator.h"
#include "rpc/interceptor.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

namespace farcall {
namespace {

class SharedSecret final : public Authenticator {
 public:
  explicit SharedSecret(std::string secret) : secret_(std::move(secret)) {}
  absl::StatusOr<std::string> GenerateCredential() const override { return secret_; }
  absl::StatusOr<AuthContext> VerifyCredential(absl::string_view credential,
                                               const Address&) const override {
    if (credential != secret_) return absl::UnauthenticatedError("wrong secret");
    AuthContext who;
    who.user = "storage";
    return who;
  }

 private:
  const std::string secret_;
};

class TenantQuota final : public ServerInterceptor {
 public:
  bool OnRequest(const google::protobuf::MethodDescriptor&, Controller& controller,
                 const google::protobuf::Message&) override {
    const std::string* const tenant = controller.request_user_fields().Find("tenant");
    if (tenant != nullptr && *tenant == "good") return true;
    controller.SetFailed(kLimit, "this tenant has no quota");
    return false;
  }
  void OnAnswer(const google::protobuf::MethodDescriptor& method, Controller& controller,
                const google::protobuf::Message*) override {
    std::lock_guard<std::mutex> lock(mutex_);
    answers_.push_back(method.name() + " " + std::to_string(controller.ErrorCode()));
  }
  std::vector<std::string> answers() {
    std::lock_guard<std::mutex> lock(mutex_);
    return answers_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> answers_;  // guarded by mutex_
};

ChannelOptions Secret(const std::string& secret) {
  ChannelOptions options = Patient();
  options.auth = std::make_shared<SharedSecret>(secret);
  return options;
}

TEST(ServerHooksTest, WhoKnowsTheSecretMayCallAndHasAName) {
  ServerOptions options;
  options.auth = std::make_shared<SharedSecret>("sesame");
  std::mutex mutex;
  std::string user;
  TestServer server(
      [&](Controller& controller, const auto& request, auto& response, auto* done) {
        {
          std::lock_guard<std::mutex> lock(mutex);
          user = controller.auth_context()->user;
        }
        EchoBack(controller, request, response, done);
      },
      options);
  TestClient client(server.address(), Secret("sesame"));
  for (int i = 0; i < 3; ++i) {
    TestCall call;
    ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  }
  std::lock_guard<std::mutex> lock(mutex);
  EXPECT_EQ(user, "storage");
}

TEST(ServerHooksTest, WhoDoesNotIsToldSo) {
  ServerOptions options;
  options.auth = std::make_shared<SharedSecret>("sesame");
  TestServer server(EchoBack, options);
  for (const ChannelOptions& wrong : {Secret("guess"), Patient()}) {
    TestClient client(server.address(), wrong);
    TestCall call;
    call.Call(client.channel());
    EXPECT_EQ(call.controller.ErrorCode(), kAuthFailed) << call.Error();
    EXPECT_TRUE(absl::StrContains(call.controller.ErrorText(), "wrong secret")) << call.Error();
  }
  EXPECT_EQ(server.service().runs(), 0);
  EXPECT_TRUE(server.log().Wait("the credential of its first request is refused"));
}

TEST(ServerHooksTest, AnInterceptorSeesEachCallAndMayRefuse) {
  const auto quota = std::make_shared<TenantQuota>();
  ServerOptions options;
  options.interceptors.push_back(quota);
  TestServer server(EchoBack, options);
  TestClient client(server.address());
  TestCall good;
  good.controller.request_user_fields().Set("tenant", "good");
  EXPECT_TRUE(good.Call(client.channel()).Echoed()) << good.Error();
  TestCall bad;
  bad.Call(client.channel());
  EXPECT_EQ(bad.controller.ErrorCode(), kLimit);
  EXPECT_EQ(server.service().runs(), 1);
  EXPECT_EQ(quota->answers(), (std::vector<std::string>{"Echo 0", "Echo 2004"}));
}

}  // namespace
}  // namespace farcall
