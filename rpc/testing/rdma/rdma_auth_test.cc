// SPDX-License-Identifier: Apache-2.0
//
// A server that asks for a credential: RDMA comes after it, and not before.

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "rpc/authenticator.h"
#include "rpc/testing/rdma/rdma_pair.h"
#include "rpc/testing/rdma/rdma_peers.h"
#include "rpc/testing/test_call.h"

namespace farcall {
namespace {

class Secret final : public Authenticator {
 public:
  explicit Secret(std::string secret) : secret_(std::move(secret)) {}
  absl::StatusOr<std::string> GenerateCredential() const override {
    if (secret_ == "lost") throw std::runtime_error("the vault is closed");
    return secret_;
  }
  absl::StatusOr<AuthContext> VerifyCredential(absl::string_view credential,
                                               const Address&) const override {
    if (credential == "strange") throw std::runtime_error("the table of users is broken");
    if (credential != secret_) return absl::UnauthenticatedError("wrong secret");
    return AuthContext();
  }

 private:
  const std::string secret_;
};

template <typename Options>
Options With(Options options, bool require, const std::string& secret) {
  options.use_rdma = true;
  options.require_rdma = require;
  if (!secret.empty()) options.auth = std::make_shared<Secret>(secret);
  return options;
}

TEST(RdmaAuthTest, WhoIsKnownComesToRdma) {
  RdmaPair pair;
  const RdmaPeers peers(pair, With(ServerOptions(), false, "good"), With(Patient(), false, "good"));
  EXPECT_TRUE(peers.ComeToRdma()) << pair.Logs();
}

// No byte of the calls travels before RDMA is there: the credential comes with the ask.
TEST(RdmaAuthTest, WhereItIsRequiredTheFirstCallTravelsByIt) {
  RdmaPair pair;
  const RdmaPeers peers(pair, With(ServerOptions(), true, "good"), With(Patient(), true, "good"));
  TestCall call(kWhere);
  call.Call(peers.channel());
  ASSERT_FALSE(call.controller.Failed()) << call.Error() << "\n" << pair.Logs();
  EXPECT_EQ(call.response.message(), "rdma fakeB in_use");
}

TEST(RdmaAuthTest, WhoIsNotHasNoQueuePair) {
  RdmaPair pair;
  for (const char* const secret : {"bad", "", "strange", "lost"}) {
    const RdmaPeers peers(pair, With(ServerOptions(), false, "good"),
                          With(Patient(), false, secret));
    TestCall call;
    call.Call(peers.channel());
    EXPECT_EQ(call.controller.ErrorCode(), kAuthFailed) << call.Error();
  }
  EXPECT_EQ(pair.server().counts().upgrades, 0u);
  EXPECT_EQ(pair.client().counts().upgrades, 0u);
}

}  // namespace
}  // namespace farcall
