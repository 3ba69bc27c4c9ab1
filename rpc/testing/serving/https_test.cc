// SPDX-License-Identifier: Apache-2.0
//
// HTTP over TLS, by curl, which offers HTTP/2 first.

#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/testing/http_peer.h"
#include "rpc/testing/test_peers.h"
#include "transport/tls/testing/test_certificates.h"

namespace farcall {
namespace {

TEST(HttpsTest, CurlCallsAMethod) {
  const TestCa ca;
  TestCa issuer;
  ServerOptions options;
  options.tls = std::make_shared<const ServerTlsOptions>(issuer.Server());
  TestServer server(EchoBack, options);
  const std::string at = absl::StrCat("https://", server.address(), "/TestService/Echo");
  EXPECT_EQ(Curl(absl::StrCat("--cacert ", issuer.file(), " -d '{\"message\":\"hi\"}' ", at)),
            "{\"message\":\"hi\"}");
  EXPECT_EQ(Curl(absl::StrCat("--cacert ", ca.file(), " -d '{\"message\":\"hi\"}' ", at)),
            std::nullopt)
      << "a CA that curl does not trust";
}

TEST(HttpsTest, WhoForgetsTlsIsToldSo) {
  TestCa ca;
  ServerOptions options;
  options.tls = std::make_shared<const ServerTlsOptions>(ca.Server());
  TestServer server(EchoBack, options);
  const std::string arguments =
      absl::StrCat("-d '{\"message\":\"hi\"}' ", server.address(), "/TestService/Echo");
  EXPECT_TRUE(absl::StrContains(Curl(arguments).value_or(""), "use https"));
  EXPECT_EQ(server.service().runs(), 0);
}

}  // namespace
}  // namespace farcall
