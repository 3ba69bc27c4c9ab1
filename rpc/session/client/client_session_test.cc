// SPDX-License-Identifier: Apache-2.0
//
// A client's end of a connection, step by step: each call ends exactly once, whatever
// comes in which order.

#include "rpc/session/client/client_session.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "rpc/errors.h"
#include "rpc/session/client/client_session_testing.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

using Call = TestSessionCall;
using Client = TestSessionClient;

TEST(ClientSessionTest, CallsWaitForTheConnectionAndLeaveInOrder) {
  Client client;
  Call& first = client.Start();
  Call& second = client.Start();
  const auto wire = client.world.transport.Succeed();
  EXPECT_TRUE(client.world.transport.attempts.empty()) << "one connection for both";
  const std::vector<Frame> frames = wire->TakeFrames();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].meta.correlation_id(), static_cast<int64_t>(first.id()));
  EXPECT_EQ(frames[1].meta.correlation_id(), static_cast<int64_t>(second.id()));
  wire->Deliver(Client::Answer(second.id()) + Client::Answer(first.id()));
  client.world.Run();
  EXPECT_EQ(first.ends, 1);
  EXPECT_EQ(second.ends, 1);
  EXPECT_EQ(first.code, 0) << first.text;
  EXPECT_EQ(first.connection->peer.ToString(), "192.0.2.1:80");
  client.Retire();
  client.world.Run();
}

TEST(ClientSessionTest, AForgottenCallIsNotSentLater) {
  Client client;
  const Call& forgotten = client.Start();
  const Call& late = client.Start(5);
  const Call& other = client.Start();
  client.Forget(forgotten);
  client.world.clock.Advance(milliseconds(5));
  client.world.Run();
  EXPECT_EQ(forgotten.ends, 0);
  EXPECT_EQ(late.text, "deadline exceeded: there was no connection yet to 192.0.2.1:80");
  EXPECT_FALSE(late.may_have_run);
  const auto wire = client.world.transport.Succeed();
  const std::vector<Frame> frames = wire->TakeFrames();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].meta.correlation_id(), static_cast<int64_t>(other.id()));
  wire->End(absl::UnavailableError("closed by peer 192.0.2.1:80"));
  client.world.Run();
  EXPECT_EQ(other.code, kFailedSocket);
  EXPECT_EQ(other.text, "closed by peer 192.0.2.1:80");
  EXPECT_TRUE(other.may_have_run) << "it was sent, and may have run";
  client.Retire();
  client.world.Run();
}

TEST(ClientSessionTest, ARequestThatWaitedCarriesWhatIsLeftOfItsTime) {
  Client client;
  std::vector<Call> calls(4);
  client.world.loop->RunOrPost([&] {
    const TimePoint now = client.world.clock.Now();
    const TimePoint deadlines[] = {now + milliseconds(500),
                                   now + std::chrono::microseconds(300'100),
                                   now + milliseconds(300), TimePoint::max()};
    for (uint64_t id = 1; id <= calls.size(); ++id) {
      wire::RpcMeta meta;
      meta.mutable_request()->set_timeout_ms(500);
      meta.set_correlation_id(static_cast<int64_t>(id));
      client.session->Start(calls[id - 1], id, deadlines[id - 1], FrameOf(meta), Buffer());
    }
  });
  client.world.clock.Advance(milliseconds(300));
  const auto wire = client.world.transport.Succeed();
  const std::vector<Frame> frames = wire->TakeFrames();
  ASSERT_EQ(frames.size(), calls.size());
  EXPECT_EQ(frames[0].meta.request().timeout_ms(), 200);
  EXPECT_EQ(frames[1].meta.request().timeout_ms(), 1) << "rounded up";
  EXPECT_EQ(frames[2].meta.request().timeout_ms(), 1) << "0 would be no limit";
  EXPECT_EQ(frames[3].meta.request().timeout_ms(), 500) << "it has no deadline";
  wire->End(absl::UnavailableError("closed by peer"));
  client.world.Run();
}

// A call that ends may take another with it: the other attempt of the same one.
TEST(ClientSessionTest, WhatACallsEndForgetsDoesNotEnd) {
  class Pair final : public SessionCall {
   public:
    explicit Pair(ClientSession& session) : session_(session) {}
    void OnAnswer(Frame&, const Info&) override {}
    void OnFailure(int, absl::string_view, bool, const Info&) override {
      ++ends;
      session_.Forget(other->id());
    }
    void Cancel() override {}
    Pair* other = nullptr;
    int ends = 0;

   private:
    ClientSession& session_;
  };
  for (const bool by_deadline : {true, false}) {
    SCOPED_TRACE(by_deadline);
    Client client;
    Pair first(*client.session);
    Pair second(*client.session);
    first.other = &second;
    second.other = &first;
    client.world.loop->RunOrPost([&] {
      const TimePoint deadline = client.world.clock.Now() + milliseconds(5);
      client.session->Start(first, 1, deadline, "x", Buffer());
      client.session->Start(second, 2, deadline, "y", Buffer());
    });
    if (by_deadline) {
      client.world.clock.Advance(milliseconds(5));
      client.world.Run();
      client.world.transport.Succeed();
    } else {
      client.world.transport.Fail(absl::UnavailableError("refused"));
    }
    client.world.Run();
    EXPECT_EQ(first.ends + second.ends, 1);
    client.Retire();
    client.world.Run();
  }
}

// No connection comes, and calls have less patience than connect_timeout_ms.
TEST(ClientSessionTest, WhatEndedWhileItWaitedIsNoBacklogAnyMore) {
  ChannelOptions options;
  options.max_backlog = 100;
  Client client(options);
  for (int i = 0; i < 20; ++i) {
    const Call& call = client.Start(5);
    ASSERT_EQ(call.ends, 0) << i << " " << call.text;
    if (i % 2 == 0) client.Forget(call);
    client.world.clock.Advance(milliseconds(5));
    client.world.Run();
  }
  for (int i = 0; i < 20; ++i) client.Start();
  EXPECT_EQ(client.calls.rbegin()->second.code, kOvercrowded);
  client.world.transport.Fail(absl::UnavailableError("refused"));
  client.world.Run();
}

TEST(ClientSessionTest, TellsWhetherTheServerCanBeReached) {
  Client client;
  client.world.loop->RunOrPost([&] { client.session->Probe(); });
  client.world.transport.Fail(absl::UnavailableError("refused"));
  EXPECT_EQ(client.watcher.unreachable, 1);
  client.world.loop->RunOrPost([&] { client.session->Probe(); });
  const auto wire = client.world.transport.Succeed();
  EXPECT_EQ(client.watcher.reachable, 1);
  client.world.loop->RunOrPost([&] { client.session->Probe(); });
  EXPECT_EQ(client.watcher.reachable, 2) << "it has a connection";
  wire->End(absl::UnavailableError("closed by peer"));
  client.world.Run();
  EXPECT_EQ(client.watcher.unreachable, 1) << "nothing waited: a server may close what is idle";
  client.Start();
  const auto second = client.world.transport.Succeed();
  second->End(absl::UnavailableError("closed by peer"));
  client.world.Run();
  EXPECT_EQ(client.watcher.unreachable, 2);
}

TEST(ClientSessionTest, AFailureToConnectNamesNoFormerConnection) {
  Client client;
  Call& first = client.Start();
  const auto wire = client.world.transport.Succeed();
  wire->End(absl::UnavailableError("closed by peer"));
  client.world.Run();
  EXPECT_NE(first.connection, nullptr);
  Call& second = client.Start();
  client.world.transport.Fail(absl::UnavailableError("refused"));
  client.world.Run();
  EXPECT_EQ(second.text, "refused");
  EXPECT_FALSE(second.may_have_run);
  EXPECT_EQ(second.connection, nullptr);
}

TEST(ClientSessionTest, LivesUntilItsLastCallHasEnded) {
  Client client;
  Call& call = client.Start(100);
  const auto wire = client.world.transport.Succeed();
  client.Retire();
  client.world.Run();
  EXPECT_EQ(client.sessions.count(), 1);
  wire->Deliver(Client::Answer(call.id()));
  client.world.Run();
  EXPECT_EQ(call.ends, 1);
  EXPECT_EQ(call.code, 0);
  EXPECT_EQ(client.sessions.count(), 0);
  EXPECT_TRUE(wire->destroyed);
}

TEST(ClientSessionTest, RetiresWhileItConnects) {
  for (const bool connects : {true, false}) {
    SCOPED_TRACE(connects);
    Client client;
    Call& call = client.Start(100);
    client.Retire();
    client.world.clock.Advance(milliseconds(100));
    client.world.Run();
    EXPECT_EQ(call.ends, 1);
    EXPECT_EQ(call.code, kRpcTimedOut);
    EXPECT_EQ(client.sessions.count(), 1) << "the attempt is under way";
    if (connects) {
      client.world.transport.Succeed();
    } else {
      client.world.transport.Fail(absl::UnavailableError("refused"));
    }
    client.world.Run();
    EXPECT_EQ(client.sessions.count(), 0);
  }
}

TEST(ClientSessionTest, WithoutACallThereIsNothingToEnd) {
  Client client;
  EXPECT_EQ(client.sessions.count(), 1);
  client.Retire();
  EXPECT_EQ(client.sessions.count(), 0);
}

}  // namespace
}  // namespace farcall
