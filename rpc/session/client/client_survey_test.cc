// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/client/client_survey.h"

#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "rpc/session/client/client_session_testing.h"
#include "transport/loop/loop_group.h"

namespace farcall {
namespace {

class ClientSurveyTest : public testing::Test {
 protected:
  // The test drives the loop.
  ClientsStatus Take() {
    const auto survey = ClientSurvey::Begin(loops_, client_.world.clock, client_.registry);
    client_.world.Run();
    return survey->Wait(Duration::zero());
  }

  TestSessionClient client_;
  LoopGroup loops_{{client_.world.loop.get()}};
};

TEST_F(ClientSurveyTest, TellsOfEachSession) {
  ClientsStatus before = Take();
  EXPECT_EQ(before.sessions, 1u);
  ASSERT_EQ(before.some.size(), 1u);
  EXPECT_FALSE(before.some[0].connected);
  EXPECT_EQ(before.some[0].server, "192.0.2.1:80");

  const TestSessionCall& first = client_.Start();
  const TestSessionCall& second = client_.Start();
  client_.world.transport.Succeed();
  const ClientsStatus now = Take();
  ASSERT_EQ(now.some.size(), 1u);
  EXPECT_TRUE(now.some[0].connected);
  EXPECT_EQ(now.some[0].calls, 2u);
  ASSERT_EQ(now.loops.size(), 1u);
  EXPECT_TRUE(now.loops[0].answered);
  EXPECT_EQ(now.loops[0].connections, 1);
  // A session stays until its calls have ended.
  client_.Forget(first);
  client_.Forget(second);
}

TEST_F(ClientSurveyTest, WhatHasEndedIsNotListed) {
  client_.Retire();
  client_.world.Run();
  EXPECT_EQ(client_.sessions.count(), 0);
  const ClientsStatus none = Take();
  EXPECT_EQ(none.sessions, 0u);
  EXPECT_TRUE(none.some.empty());
}

// In several holds of the loop; not of all there are details.
TEST_F(ClientSurveyTest, ManyAreCountedAndSomeShown) {
  const auto environment = std::make_shared<const ClientSession::Environment>(
      ClientSession::Environment{client_.world.parts, {}, nullptr});
  std::vector<std::shared_ptr<ClientSession>> sessions;
  for (size_t i = 1; i < ClientSurvey::kMaxShown + 100; ++i) {
    sessions.push_back(std::make_shared<ClientSession>(environment, *client_.world.loop,
                                                       *Target::Parse("192.0.2.2:80"), nullptr,
                                                       std::make_shared<ConnectGate>()));
  }
  const ClientsStatus status = Take();
  EXPECT_EQ(status.sessions, ClientSurvey::kMaxShown + 100);
  EXPECT_EQ(status.some.size(), ClientSurvey::kMaxShown);
  EXPECT_TRUE(status.loops[0].answered);
}

TEST_F(ClientSurveyTest, ALoopThatDoesNotAnswerIsLeftOut) {
  std::shared_ptr<ClientSurvey> survey;
  // While it has something else to do first.
  client_.world.loop->Post([] {});
  survey = ClientSurvey::Begin(loops_, client_.world.clock, client_.registry);
  const ClientsStatus status = survey->Wait(Duration::zero());
  ASSERT_EQ(status.loops.size(), 1u);
  EXPECT_FALSE(status.loops[0].answered);
  EXPECT_TRUE(status.some.empty());
  client_.world.Run();
}

}  // namespace
}  // namespace farcall
