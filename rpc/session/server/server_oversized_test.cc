// SPDX-License-Identifier: Apache-2.0
//
// A request over max_body_size is refused, and those beside it on its connection are served.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "rpc/session/server/server_session_testing.h"

namespace farcall {
namespace {

class ServerOversizedTest : public ServerSessionTest {
 protected:
  ServerOversizedTest() {
    core_->options.max_body_size = 1000;
    core_->options.read_timeout_ms = 10'000;
  }
  static std::string Large(int64_t id, size_t bytes = 5000) {
    return Request(id, std::string(bytes, 'x'));
  }
  std::vector<Frame> Answers() {
    world_.Run();
    return wire_->TakeFrames();
  }
};

TEST_F(ServerOversizedTest, ItIsRefusedAndTheOthersAreServed) {
  const std::string bytes = Request(1, "one") + Large(2) + Request(3, "three") + Large(4);
  Accept();
  for (const size_t step : {size_t{1}, size_t{700}, bytes.size()}) {
    SCOPED_TRACE(step);
    for (size_t at = 0; at < bytes.size(); at += step) {
      wire_->Deliver(bytes.substr(at, step));
      EXPECT_LE(wire_->input.size(), 1100u) << "none of it is kept";
    }
    const std::vector<Frame> answers = Answers();
    ASSERT_EQ(answers.size(), 4u);
    for (const Frame& answer : answers) {
      const bool large = answer.meta.correlation_id() % 2 == 0;
      EXPECT_EQ(answer.meta.response().error_code(), large ? kBadRequest : 0);
      EXPECT_EQ(answer.meta.response().max_body_size(), large ? 1000u : 0u);
    }
  }
  EXPECT_EQ(service_.heard,
            (std::vector<std::string>{"one", "three", "one", "three", "one", "three"}));
  EXPECT_EQ(core_->counters.bad_peers, 0u);
}

// Which method is meant is remembered for metas that begin in the same way.
TEST_F(ServerOversizedTest, TheNextRequestIsNotTakenForOneOfTheMethodBefore) {
  Accept();
  wire::RpcMeta other = RequestMeta(2);
  other.mutable_request()->set_method_name("Other");
  wire::RpcMeta next = other;
  next.set_correlation_id(3);
  wire_->Deliver(Request(1, "one") + Encoded(other, std::string(5000, 'x')) + Encoded(next, "two") +
                 Encoded(next, "three") + Request(4, "four"));
  std::vector<int> codes;
  for (const Frame& answer : Answers()) codes.push_back(answer.meta.response().error_code());
  std::sort(codes.begin(), codes.end());
  EXPECT_EQ(codes, (std::vector<int>{0, 0, kNoMethod, kNoMethod, kBadRequest}));
  EXPECT_EQ(service_.heard, (std::vector<std::string>{"one", "four"}));
}

TEST_F(ServerOversizedTest, TheAnswerNamesBothSizesAsSoonAsItIsKnownWhoAsks) {
  Accept();
  const std::string large = Large(7);
  const std::string meta = RequestMeta(7).SerializeAsString();
  wire_->Deliver(large.substr(0, kFrameHeaderSize + meta.size()));
  const Frame answer = Answer();
  EXPECT_EQ(answer.meta.correlation_id(), 7);
  EXPECT_EQ(answer.meta.response().error_text(),
            absl::StrCat("a request of ", large.size() - kFrameHeaderSize,
                         " bytes is over max_body_size, 1000: send less at once, or raise the "
                         "limit of the server"));
  EXPECT_TRUE(Logged("connection from 192.0.2.1:80 goes on: a request of "));
  EXPECT_EQ(core_->services.Find("Lone.Say").state->stats.snapshot().refused_count(), 1u);
}

TEST_F(ServerOversizedTest, OneThatNeverEndsIsNotWaitedForForEver) {
  Accept();
  wire_->Deliver(Large(1).substr(0, 3000));
  EXPECT_EQ(Answers().size(), 1u);
  world_.clock.Advance(std::chrono::seconds(10));
  world_.Run();
  EXPECT_TRUE(wire_->destroyed);
  EXPECT_TRUE(Logged("closed: a request was not complete within read_timeout_ms, 10000"));
}

TEST_F(ServerOversizedTest, OneThatIsNotWorthReadingIsAnsweredAndTheConnectionCloses) {
  Accept();
  std::string large = Large(1);
  large[4] = 0x40;  // a body of 1 GiB
  wire_->Deliver(large);
  EXPECT_EQ(Answer().meta.response().error_code(), kBadRequest);
  EXPECT_TRUE(wire_->destroyed);
  EXPECT_TRUE(Logged("connection from 192.0.2.1:80 closed: a request of 10737"));
  EXPECT_EQ(core_->counters.bad_peers, 1u);
}

TEST_F(ServerOversizedTest, OneForNobodyIsRefusedToo) {
  Accept();
  wire::RpcMeta meta;
  meta.set_correlation_id(9);
  wire_->Deliver(Encoded(meta, std::string(2000, 'x')) + Request(10));
  const std::vector<Frame> answers = Answers();
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].meta.response().error_code(), kBadRequest);
  EXPECT_EQ(answers[1].meta.response().error_code(), 0);
}

class Secret final : public Authenticator {
 public:
  absl::StatusOr<std::string> GenerateCredential() const override { return "sesame"; }
  absl::StatusOr<AuthContext> VerifyCredential(absl::string_view credential,
                                               const Address&) const override {
    if (credential != "sesame") return absl::UnauthenticatedError("wrong secret");
    return AuthContext();
  }
};

TEST_F(ServerOversizedTest, OfAStrangerItTellsNothingBeforeTheCredential) {
  core_->options.auth = std::make_shared<Secret>();
  Accept();
  wire_->Deliver(Large(1));
  const Frame answer = Answer();
  EXPECT_EQ(answer.meta.response().error_code(), kAuthFailed);
  EXPECT_EQ(answer.meta.response().max_body_size(), 0u);
  EXPECT_TRUE(wire_->destroyed);
}

TEST_F(ServerOversizedTest, ItMayBeTheFirstOfAFriend) {
  core_->options.auth = std::make_shared<Secret>();
  Accept();
  wire::RpcMeta meta = RequestMeta(1);
  meta.set_authentication_data("sesame");
  wire_->Deliver(Encoded(meta, std::string(5000, 'x')) + Request(2));
  const std::vector<Frame> answers = Answers();
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].meta.response().error_code(), kBadRequest);
  EXPECT_EQ(answers[1].meta.response().error_code(), 0);
}

}  // namespace
}  // namespace farcall
