// SPDX-License-Identifier: Apache-2.0
//
// The credential that a connection begins with.

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "rpc/authenticator.h"
#include "rpc/errors.h"
#include "rpc/session/client/client_session_testing.h"

namespace farcall {
namespace {

using Call = TestSessionCall;
using Client = TestSessionClient;

class Badge final : public Authenticator {
 public:
  explicit Badge(absl::StatusOr<std::string> credential) : credential_(std::move(credential)) {}
  absl::StatusOr<std::string> GenerateCredential() const override {
    if (credential_.ok() && credential_->empty()) throw std::runtime_error("no vault");
    return credential_;
  }
  absl::StatusOr<AuthContext> VerifyCredential(absl::string_view, const Address&) const override {
    return AuthContext();
  }

 private:
  const absl::StatusOr<std::string> credential_;
};

TEST(ClientSessionTest, TheFirstRequestOfEachConnectionBearsTheCredential) {
  ChannelOptions options;
  options.auth = std::make_shared<Badge>("secret");
  Client client(options);
  for (int connections = 0; connections < 2; ++connections) {
    const Call& first = client.Start();
    client.Start();
    const auto wire = client.world.transport.Succeed();
    client.Start();
    const std::vector<Frame> frames = wire->TakeFrames();
    ASSERT_EQ(frames.size(), 3u);
    EXPECT_EQ(frames[0].meta.correlation_id(), static_cast<int64_t>(first.id()));
    EXPECT_EQ(frames[0].meta.authentication_data(), "secret");
    EXPECT_FALSE(frames[1].meta.has_authentication_data());
    EXPECT_FALSE(frames[2].meta.has_authentication_data());
    wire->End(absl::UnavailableError("closed by peer"));
    client.world.Run();
  }
}

TEST(ClientSessionTest, WithoutACredentialNothingIsSent) {
  ChannelOptions options;
  options.auth = std::make_shared<Badge>(absl::UnavailableError("the vault is closed"));
  Client client(options);
  const Call& call = client.Start();
  const auto wire = client.world.transport.Succeed();
  client.world.Run();
  EXPECT_EQ(call.code, kAuthFailed);
  EXPECT_EQ(call.text, "no credential: the vault is closed");
  EXPECT_FALSE(call.may_have_run);
  EXPECT_TRUE(wire->TakeFrames().empty());
}

TEST(ClientSessionTest, WhatIsThrownInsteadOfACredentialFailsTheCall) {
  ChannelOptions options;
  options.auth = std::make_shared<Badge>("");
  Client client(options);
  const Call& call = client.Start();
  const auto wire = client.world.transport.Succeed();
  client.world.Run();
  EXPECT_EQ(call.code, kAuthFailed);
  EXPECT_EQ(call.text, "no credential: ChannelOptions::auth threw: no vault");
  EXPECT_TRUE(wire->TakeFrames().empty());
}

}  // namespace
}  // namespace farcall
