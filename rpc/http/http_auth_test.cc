// SPDX-License-Identifier: Apache-2.0
//
// Who may call by HTTP: credentials and interceptors.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/http/http_protocol_testing.h"
#include "rpc/interceptor.h"

namespace farcall {
namespace {

using http_test::Loose;
using Closure = google::protobuf::Closure;
using HttpAuthTest = HttpProtocolTestBase;

// Accepts the credential "good" alone.
class GoodOnly final : public Authenticator {
 public:
  absl::StatusOr<std::string> GenerateCredential() const override { return "good"; }
  absl::StatusOr<AuthContext> VerifyCredential(absl::string_view credential,
                                               const Address&) const override {
    ++asked;
    if (credential != "good") return absl::PermissionDeniedError("only \"good\" may");
    AuthContext context;
    context.user = "somebody";
    return context;
  }
  mutable int asked = 0;
};

TEST_F(HttpAuthTest, EachRequestShowsItsCredential) {
  core_->options.auth = std::make_shared<GoodOnly>();
  std::string user;
  service_.relax = [&](Controller& controller, Loose&, Closure* done) {
    if (controller.auth_context() != nullptr) user = controller.auth_context()->user;
    done->Run();
  };
  ExpectAnswer(Get("/health"), 200, "OK");
  ExpectAnswer(Relax("x", "Authorization: good\r\n"), 200, "x");
  EXPECT_EQ(user, "somebody");
  // A proxy may send requests of many clients on one connection.
  ExpectAnswer(Relax("y"), 401, "only \\\"good\\\" may");
  EXPECT_TRUE(closed());
  EXPECT_EQ(service_.heard, std::vector<std::string>{"x"});
  End();
  ExpectAnswer(Get("/"), 401, "WWW-Authenticate: Bearer\r\n");
  EXPECT_EQ(core_->counters.auth_failed.load(), 2u);
}

// Counts, and refuses who says so.
class Gate final : public ServerInterceptor {
 public:
  bool OnRequest(const google::protobuf::MethodDescriptor&, Controller& controller,
                 const google::protobuf::Message& request) override {
    ++asked;
    if (static_cast<const Loose&>(request).text() != "refuse") return true;
    controller.SetFailed(EPERM, "the gate is closed");
    return false;
  }
  int asked = 0;
};

TEST_F(HttpAuthTest, InterceptorsAreAsked) {
  const auto gate = std::make_shared<Gate>();
  core_->options.interceptors.push_back(gate);
  ExpectAnswer(Relax("x"), 200, "x");
  ExpectAnswer(Relax("refuse"), 403, "the gate is closed");
  EXPECT_EQ(gate->asked, 2);
  EXPECT_EQ(service_.heard, std::vector<std::string>{"x"});
}

constexpr char kPostHead[] =
    "POST /TreeService/Relax HTTP/1.1\r\nHost: a\r\nContent-Length: 15\r\n";

TEST_F(HttpAuthTest, ABadCredentialIsAnsweredBeforeTheBodyIsKept) {
  core_->options.auth = std::make_shared<GoodOnly>();
  for (const char* rest :
       {"Content-Length: 1000\r\n\r\n", "Content-Length: 1000\r\n\r\nhalf",
        "Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n5\r\nhel"}) {
    SCOPED_TRACE(rest);
    ExpectAnswer(absl::StrCat("POST /TreeService/Relax HTTP/1.1\r\nHost: a\r\n", rest), 401,
                 "only \\\"good\\\" may");
    EXPECT_TRUE(closed());
    End();
  }
  EXPECT_EQ(core_->counters.auth_failed.load(), 5u);
}

TEST_F(HttpAuthTest, AGoodCredentialIsAskedForOncePerRequest) {
  const auto auth = std::make_shared<GoodOnly>();
  core_->options.auth = auth;
  Accept();
  const std::string request = Relax("x", "Authorization: good\r\n");
  for (const char byte : request + request) Ask(absl::string_view(&byte, 1));
  EXPECT_EQ(service_.heard.size(), 2u);
  EXPECT_EQ(auth->asked, 2);
  EXPECT_EQ(Ask(absl::StrCat(kPostHead, "Authorization: good\r\nExpect: 100-continue\r\n\r\n")),
            "HTTP/1.1 100 Continue\r\n\r\n");
  ExpectAnswer(R"({"text":"late"})", 200, "late");
}

TEST_F(HttpAuthTest, HealthNeedsNoCredentialAndKeepsNoBody) {
  core_->options.auth = std::make_shared<GoodOnly>();
  ExpectAnswer("GET /health HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n", 200, "OK");
  EXPECT_TRUE(closed()) << "the body is not awaited";
  End();
  ExpectAnswer("POST /health HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 405,
               "GET, HEAD");
  EXPECT_TRUE(closed());
}

}  // namespace
}  // namespace farcall
