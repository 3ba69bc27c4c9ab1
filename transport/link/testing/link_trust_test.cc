// SPDX-License-Identifier: Apache-2.0
//
// A server that asks for a credential: nothing of RDMA is set up for who has shown none.

#include <chrono>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "transport/link/testing/link_token_testing.h"
#include "transport/link/upgrade/client_upgrade_machine.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

ListenOptions AskingForACredential() {
  ListenOptions options;
  options.verify = [](absl::string_view credential, const Address& client) {
    return credential == "good" && client.family() != AddressFamily::kNone;
  };
  return options;
}

class LinkTrustTest : public LinkTokenTest {
 protected:
  LinkTrustTest() : LinkTokenTest(AskingForACredential()) {}
};

TEST_F(LinkTrustTest, WhoShowedNoCredentialIsOfferedNothing) {
  Ask(*client_, 1);
  const TimePoint asked = harness_.loops().at(0).now();
  const DeclineMessage decline = NextDecline(*client_);
  EXPECT_EQ(ReasonOf(decline.why), WhyNotRdma::kPending);
  EXPECT_TRUE(absl::StrContains(decline.why.message(), "no credential")) << decline.why;
  EXPECT_LT(harness_.loops().at(0).now() - asked, UpgradeTimes().answer)
      << "before the client says that it was not answered";
  EXPECT_FALSE(server_->peers[0]->closed);
}

TEST_F(LinkTrustTest, AnAskWaitsForTheCredentialOfARequest) {
  Ask(*client_, 1);
  harness_.Settle();
  EXPECT_EQ(client_->received, "");
  server_->peers[0]->TrustPeer();
  const OfferMessage offer = NextOffer(*client_);
  EXPECT_TRUE(ConnectToOffer(offer.pass, offer.addresses).ok());
}

TEST_F(LinkTrustTest, ACredentialMayComeWithTheAsk) {
  client_->Send(AskFor(1, "good"));
  const OfferMessage offer = NextOffer(*client_);
  EXPECT_TRUE(ConnectToOffer(offer.pass, offer.addresses).ok());
  Send(*client_, {.type = LinkFrameType::kResume, .number = 1});
  Ask(*client_, 2);
  EXPECT_EQ(NextOffer(*client_).pass.generation, 2u) << "who was let in once may ask again";
}

TEST_F(LinkTrustTest, ABadOneIsRefusedAtOnce) {
  client_->Send(AskFor(1, "bad"));
  const DeclineMessage decline = NextDecline(*client_);
  EXPECT_EQ(ReasonOf(decline.why), WhyNotRdma::kRejected);
  EXPECT_TRUE(absl::StrContains(decline.why.message(), "credential")) << decline.why;
  // There is one guess for each connection.
  Send(*client_, {.type = LinkFrameType::kResume, .number = 1});
  client_->Send(AskFor(2, "good"));
  EXPECT_EQ(ReasonOf(NextDecline(*client_).why), WhyNotRdma::kPending);
}

TEST_F(LinkTrustTest, OneThatIsTooLongIsShownByARequestOnly) {
  const auto ask = ParseAsk(
      EncodeAsk(1, NotRdma(WhyNotRdma::kPending, ""), std::string(kMaxCredential + 1, 'x')));
  ASSERT_TRUE(ask.ok());
  EXPECT_EQ(ask->credential, "");
  EXPECT_LE(EncodeAsk(1, NotRdma(WhyNotRdma::kPending, std::string(1000, 'y')),
                      std::string(kMaxCredential, 'x'))
                .size(),
            kMaxLinkControl);
}

TEST_F(LinkTrustTest, TheAskThatWaitedIsForgottenWithItsGeneration) {
  Ask(*client_, 1);
  Send(*client_, {.type = LinkFrameType::kResume, .number = 1});
  Ask(*client_, 2);
  harness_.Settle();
  server_->peers[0]->TrustPeer();
  EXPECT_EQ(NextOffer(*client_).pass.generation, 2u);
}

}  // namespace
}  // namespace farcall
