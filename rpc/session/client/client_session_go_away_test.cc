// SPDX-License-Identifier: Apache-2.0
//
// What a client hears that no call of its awaits: that the server closes, and strays.

#include <gtest/gtest.h>

#include "rpc/errors.h"
#include "rpc/session/client/client_session_testing.h"

namespace farcall {
namespace {

using Call = TestSessionCall;
using Client = TestSessionClient;

// A server that closes says so: what it has not answered it has not run.
TEST(ClientSessionTest, AGoAwayEndsWhatWasNotAnsweredAsNotRun) {
  Client client;
  const Call& answered = client.Start();
  const Call& late = client.Start();
  const auto wire = client.world.transport.Succeed();
  wire->Deliver(Client::Answer(answered.id()) +
                Client::GoAway("the server closes this connection"));
  client.world.Run();
  EXPECT_EQ(answered.code, 0);
  EXPECT_EQ(late.ends, 1);
  EXPECT_EQ(late.code, kLogoff);
  EXPECT_EQ(late.text, "the server closes this connection");
  EXPECT_FALSE(late.may_have_run);
}

// What the server said last, and a call that begins before the connection is gone: one that is
// tried again at once does.
void HearAndStart(Client& client, const std::shared_ptr<FakeWire>& wire, const std::string& bytes,
                  Call& after) {
  client.world.loop->RunOrPost([&] {
    wire->input.Append(absl::string_view(bytes));
    wire->handler->OnRead(wire->input);
    client.session->Start(after, 99, TimePoint::max(), "request", Buffer());
  });
}

TEST(ClientSessionTest, WhatIsStartedOnAConnectionThatClosesGoesOutOnTheNext) {
  for (const std::string& last : {Client::GoAway(), std::string("this is no frame at all")}) {
    SCOPED_TRACE(last);
    Client client;
    const Call& sent = client.Start();
    const auto wire = client.world.transport.Succeed();
    wire->TakeFrames();
    Call after;
    HearAndStart(client, wire, last, after);
    client.world.Run();
    EXPECT_EQ(sent.ends, 1);
    EXPECT_EQ(client.watcher.unreachable, 1);
    EXPECT_EQ(after.ends, 0) << after.text;
    EXPECT_TRUE(wire->written.empty());
    ASSERT_EQ(client.world.transport.attempts.size(), 1u);
    const auto next = client.world.transport.Succeed();
    EXPECT_EQ(next->written.ToString(), "request");
    next->Deliver(Client::Answer(99));
    client.world.Run();
    EXPECT_EQ(after.ends, 1);
    EXPECT_EQ(after.code, 0) << after.text;
  }
}

TEST(ClientSessionTest, WhereTheServerIsInAPauseItFailsAsNotRun) {
  Client client;
  client.Start();
  const auto wire = client.world.transport.Succeed();
  const absl::Status refused = absl::UnavailableError("refused");
  client.gate->OnEnd(client.gate->Begin(), client.world.clock.Now(), refused);
  Call after;
  HearAndStart(client, wire, Client::GoAway(), after);
  client.world.Run();
  EXPECT_TRUE(client.world.transport.attempts.empty());
  EXPECT_EQ(after.ends, 1);
  EXPECT_EQ(after.code, kFailedSocket);
  EXPECT_EQ(after.text, "refused");
  EXPECT_FALSE(after.may_have_run);
}

// As for those that wait for the first connection.
TEST(ClientSessionTest, WhatARetiredSessionHasStartedGoesOutOnTheNextConnectionToo) {
  Client client;
  client.Start();
  const auto wire = client.world.transport.Succeed();
  Call after;
  HearAndStart(client, wire, Client::GoAway(), after);
  client.Retire();
  client.world.Run();
  ASSERT_EQ(client.world.transport.attempts.size(), 1u);
  const auto next = client.world.transport.Succeed();
  next->Deliver(Client::Answer(99));
  client.world.Run();
  EXPECT_EQ(after.code, 0) << after.text;
  EXPECT_EQ(client.sessions.count(), 0);
}

// A server may close what is idle; and what closes is no proof that it can be reached.
TEST(ClientSessionTest, AGoAwayToAnIdleConnectionSaysNothingOfTheServer) {
  Client client;
  const Call& call = client.Start();
  const auto wire = client.world.transport.Succeed();
  wire->Deliver(Client::Answer(call.id()));
  client.world.Run();
  const int reachable = client.watcher.reachable;
  client.world.loop->RunOrPost([&] {
    Buffer input{absl::string_view(Client::GoAway())};
    client.session->OnRead(input);
    client.session->Probe();
  });
  EXPECT_EQ(client.watcher.unreachable, 0);
  EXPECT_EQ(client.watcher.reachable, reachable);
  client.world.Run();
  ASSERT_EQ(client.world.transport.attempts.size(), 1u) << "the probe is made when it has closed";
  client.world.transport.Fail(absl::UnavailableError("refused"));
  EXPECT_EQ(client.watcher.unreachable, 1);
}

// brpc-java answers with it what it cannot attribute.
TEST(ClientSessionTest, AnotherErrorForNobodyIsNobodys) {
  Client client;
  const Call& call = client.Start();
  const auto wire = client.world.transport.Succeed();
  wire::RpcMeta stray;
  stray.mutable_response()->set_error_code(kInternal);
  stray.set_correlation_id(0);
  wire->Deliver(FrameOf(stray));
  client.world.Run();
  EXPECT_EQ(call.ends, 0);
  wire->Deliver(Client::Answer(call.id()));
  client.world.Run();
  EXPECT_EQ(call.code, 0);
}

}  // namespace
}  // namespace farcall
