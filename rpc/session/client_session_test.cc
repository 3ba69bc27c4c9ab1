// SPDX-License-Identifier: Apache-2.0
//
// A client's end of a connection, step by step: each call ends exactly once, whatever
// comes in which order.

#include "rpc/session/client_session.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rpc/closure.h"
#include "rpc/dispatch/in_flight.h"
#include "rpc/session/session_testing.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

// A call without a message: its controller tells how it ended.
struct Call {
  uint64_t id = 0;
  Controller controller;
  int ends = 0;
};

class Client {
 public:
  explicit Client(const std::string& target = "192.0.2.1:80") {
    world.parts.sessions = &sessions;
    session = std::make_shared<ClientSession>(world.parts, *world.loop, *Target::Parse(target),
                                              ChannelOptions());
  }
  ~Client() { Retire(); }

  // `timeout_ms` below 0: none.
  Call& Start(int64_t timeout_ms = -1) {
    Call& call = Begin();
    Send(call, timeout_ms);
    return call;
  }
  // The two halves of it.
  Call& Begin() {
    const uint64_t id = session->NextCallId();
    Call& call = calls[id];
    call.id = id;
    EXPECT_TRUE(call.controller.Begin(session, id));
    return call;
  }
  void Send(Call& call, int64_t timeout_ms = -1) {
    wire::RpcMeta meta;
    meta.set_correlation_id(static_cast<int64_t>(call.id));
    const auto encoder = FrameEncoder::Create(meta, nullptr, 0);
    std::string frame(encoder->head_size(), '\0');
    encoder->WriteTo(frame.data());
    const TimePoint deadline =
        timeout_ms < 0 ? TimePoint::max() : world.clock.Now() + milliseconds(timeout_ms);
    auto* const raw =
        new ClientCall(call.controller, nullptr, NewClosure([&call] { ++call.ends; }), world.clock);
    world.loop->RunOrPost([session = session, raw, id = call.id, deadline, frame] {
      session->Start(*raw, id, deadline, frame, Buffer());
    });
  }
  static std::string Answer(uint64_t id) {
    wire::RpcMeta meta;
    meta.mutable_response()->set_error_code(0);
    meta.set_correlation_id(static_cast<int64_t>(id));
    const auto encoder = FrameEncoder::Create(meta, nullptr, 0);
    std::string frame(encoder->head_size(), '\0');
    encoder->WriteTo(frame.data());
    return frame;
  }
  // As the destructor of a channel does.
  void Retire() {
    if (session == nullptr) return;
    world.loop->RunOrPost([session = session] { session->Retire(); });
    session = nullptr;
  }

  SessionWorld world;
  InFlight sessions;
  std::map<uint64_t, Call> calls;
  std::shared_ptr<ClientSession> session;
};

TEST(ClientSessionTest, CallsWaitForTheConnectionAndLeaveInOrder) {
  Client client;
  Call& first = client.Start();
  Call& second = client.Start();
  const auto wire = client.world.transport.Succeed();
  EXPECT_TRUE(client.world.transport.attempts.empty()) << "one connection for both";
  const std::vector<Frame> frames = wire->TakeFrames();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].meta.correlation_id(), static_cast<int64_t>(first.id));
  EXPECT_EQ(frames[1].meta.correlation_id(), static_cast<int64_t>(second.id));
  wire->Deliver(Client::Answer(second.id) + Client::Answer(first.id));
  client.world.Run();
  EXPECT_EQ(first.ends, 1);
  EXPECT_EQ(second.ends, 1);
  EXPECT_FALSE(first.controller.Failed()) << first.controller.ErrorText();
  EXPECT_EQ(first.controller.remote_side(), "192.0.2.1:80");
  client.Retire();
  client.world.Run();
}

// Between Controller::Begin and the arrival of the call at its loop lie the encoding of the
// request and perhaps the mailbox.
TEST(ClientSessionTest, ACancellationThatComesBeforeTheCallIsNotLost) {
  Client client;
  Call& call = client.Begin();
  call.controller.StartCancel();
  client.Send(call);
  client.world.Run();
  EXPECT_EQ(call.ends, 1);
  EXPECT_EQ(call.controller.ErrorCode(), ECANCELED);
  EXPECT_EQ(call.controller.ErrorText(), "cancelled by the caller before it was sent");
  EXPECT_TRUE(client.world.transport.attempts.empty());
}

TEST(ClientSessionTest, ACancelledCallIsNotSentLater) {
  Client client;
  Call& cancelled = client.Start();
  Call& late = client.Start(5);
  Call& other = client.Start();
  cancelled.controller.StartCancel();
  client.world.clock.Advance(milliseconds(5));
  client.world.Run();
  EXPECT_EQ(cancelled.controller.ErrorText(), "cancelled by the caller");
  EXPECT_EQ(late.controller.ErrorText(),
            "deadline exceeded: there was no connection yet to 192.0.2.1:80");
  const auto wire = client.world.transport.Succeed();
  const std::vector<Frame> frames = wire->TakeFrames();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].meta.correlation_id(), static_cast<int64_t>(other.id));
  wire->End(absl::UnavailableError("closed by peer 192.0.2.1:80"));
  client.world.Run();
  EXPECT_EQ(other.controller.ErrorCode(), kFailedSocket);
  EXPECT_EQ(other.controller.ErrorText(),
            "connection to 192.0.2.1:80: closed by peer 192.0.2.1:80");
  client.Retire();
  client.world.Run();
}

TEST(ClientSessionTest, AFailureToConnectNamesNoFormerConnection) {
  Client client;
  Call& first = client.Start();
  const auto wire = client.world.transport.Succeed();
  wire->End(absl::UnavailableError("closed by peer"));
  client.world.Run();
  EXPECT_NE(first.controller.connection(), nullptr);
  Call& second = client.Start();
  client.world.transport.Fail(absl::UnavailableError("refused"));
  client.world.Run();
  EXPECT_EQ(second.controller.ErrorText(), "refused");
  EXPECT_EQ(second.controller.connection(), nullptr);
}

TEST(ClientSessionTest, LivesUntilItsLastCallHasEnded) {
  Client client;
  Call& call = client.Start(100);
  const auto wire = client.world.transport.Succeed();
  client.Retire();
  client.world.Run();
  EXPECT_EQ(client.sessions.count(), 1);
  wire->Deliver(Client::Answer(call.id));
  client.world.Run();
  EXPECT_EQ(call.ends, 1);
  EXPECT_FALSE(call.controller.Failed());
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
    EXPECT_EQ(call.controller.ErrorCode(), kRpcTimedOut);
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

// Steps in any order. The books at the end: each call has ended once, and nothing is left.
class Chaos {
 public:
  explicit Chaos(uint64_t seed) : random_(seed) {}

  void Step() {
    switch (random_.Below(10)) {
      case 0:
      case 1:
      case 2:
        client_.Start(random_.Chance(0.3) ? -1 : static_cast<int64_t>(random_.Below(20)));
        break;
      case 3:
      case 4:
        Connected();
        break;
      case 5:
        if (wire_ != nullptr) wire_->Deliver(Client::Answer(AnyId()));
        break;
      case 6:
        Cancel();
        break;
      case 7:
        client_.world.clock.Advance(milliseconds(random_.Below(4)));
        break;
      case 8:
        Disturb();
        break;
      default:
        client_.world.loop->RunOnce();
    }
  }
  void EndAndCheck() {
    client_.Retire();
    for (int i = 0; i < 10; ++i) {
      client_.world.Run();
      // Calls without a deadline end by the connection.
      if (!client_.world.transport.attempts.empty()) {
        client_.world.transport.Fail(absl::UnavailableError("refused"));
      }
      if (wire_ != nullptr) wire_->End(absl::UnavailableError("the end"));
    }
    wire_ = nullptr;
    EXPECT_EQ(client_.sessions.count(), 0);
    EXPECT_EQ(client_.world.loop->NextTimer(), std::nullopt);
    EXPECT_EQ(client_.world.pool->stats().used_bytes, 0u);
    for (const auto& [id, call] : client_.calls) EXPECT_EQ(call.ends, 1) << id;
  }

 private:
  // Of a call that waits, has ended, or never was.
  uint64_t AnyId() { return random_.Below(client_.calls.size() + 2); }

  void Connected() {
    if (client_.world.transport.attempts.empty()) return;
    if (random_.Chance(0.7)) {
      wire_ = client_.world.transport.Succeed();
    } else {
      client_.world.transport.Fail(absl::UnavailableError("refused"));
    }
  }
  void Cancel() {
    const auto found = client_.calls.find(AnyId());
    if (found != client_.calls.end()) found->second.controller.StartCancel();
  }
  void Disturb() {
    if (wire_ == nullptr || !random_.Chance(0.3)) return;
    if (random_.Chance(0.5)) {
      wire_->Deliver("garbage");
    } else {
      wire_->End(absl::UnavailableError("closed by peer"));
    }
  }

  TestRandom random_;
  Client client_;
  std::shared_ptr<FakeWire> wire_;
};

TEST(ClientSessionChaosTest, EachCallEndsExactlyOnce) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Chaos chaos(seed);
    for (int step = 0; step < 200; ++step) chaos.Step();
    chaos.EndAndCheck();
  }
}

}  // namespace
}  // namespace farcall
