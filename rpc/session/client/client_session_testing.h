// SPDX-License-Identifier: Apache-2.0
//
// What the tests of a client's session share.

#ifndef FARCALL_RPC_SESSION_CLIENT_CLIENT_SESSION_TESTING_H_
#define FARCALL_RPC_SESSION_CLIENT_CLIENT_SESSION_TESTING_H_

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "rpc/errors.h"
#include "rpc/session/client/client_session.h"
#include "rpc/session/session_testing.h"
#include "transport/base/threads/in_flight.h"

namespace farcall {

// A call that remembers how it ended.
class TestSessionCall final : public SessionCall {
 public:
  void OnAnswer(Frame&, const Info& at) override { End(0, "", true, at); }
  void OnFailure(int code_now, absl::string_view text_now, bool ran, const Info& at) override {
    End(code_now, text_now, ran, at);
  }
  void Cancel() override {}

  int ends = 0;
  int code = 0;
  std::string text;
  bool may_have_run = false;
  Info connection;

 private:
  void End(int code_now, absl::string_view text_now, bool ran, const Info& at) {
    ++ends;
    code = code_now;
    text = std::string(text_now);
    may_have_run = ran;
    connection = at;
  }
};

class TestWatcher final : public SessionObserver {
 public:
  void OnReachable() override { ++reachable; }
  void OnUnreachable(const absl::Status&) override { ++unreachable; }

  int reachable = 0;
  int unreachable = 0;
};

inline std::string FrameOf(wire::RpcMeta& meta) {
  const auto encoder = FrameEncoder::Create(meta, nullptr, 0);
  std::string frame(encoder->head_size(), '\0');
  encoder->WriteTo(frame.data());
  return frame;
}

class TestSessionClient {
 public:
  explicit TestSessionClient(const ChannelOptions& options = {}) {
    world.parts.sessions = &sessions;
    world.parts.registry = &registry;
    const auto environment = std::make_shared<const ClientSession::Environment>(
        ClientSession::Environment{world.parts, options, nullptr});
    session = std::make_shared<ClientSession>(environment, *world.loop,
                                              *Target::Parse("192.0.2.1:80"), &watcher, gate);
  }
  ~TestSessionClient() {
    Retire();
    world.Run();
  }

  // `timeout_ms` below 0: none.
  TestSessionCall& Start(int64_t timeout_ms = -1) {
    const uint64_t id = ++last_id;
    TestSessionCall& call = calls[id];
    wire::RpcMeta meta;
    meta.mutable_request();
    meta.set_correlation_id(static_cast<int64_t>(id));
    const std::string frame = FrameOf(meta);
    const TimePoint deadline = timeout_ms < 0
                                   ? TimePoint::max()
                                   : world.clock.Now() + std::chrono::milliseconds(timeout_ms);
    world.loop->RunOrPost([session = session, &call, id, deadline, frame] {
      session->Start(call, id, deadline, frame, Buffer());
    });
    return call;
  }
  void Forget(const TestSessionCall& call) {
    world.loop->RunOrPost([session = session, id = call.id()] { session->Forget(id); });
  }
  static std::string Answer(uint64_t id) {
    wire::RpcMeta meta;
    meta.mutable_response()->set_error_code(0);
    meta.set_correlation_id(static_cast<int64_t>(id));
    return FrameOf(meta);
  }
  // With which a server closes a connection.
  static std::string GoAway(const std::string& text = "") {
    wire::RpcMeta meta;
    meta.mutable_response()->set_error_code(kLogoff);
    meta.mutable_response()->set_error_text(text);
    return FrameOf(meta);
  }
  // As who owns a session does.
  void Retire() {
    if (session == nullptr) return;
    world.loop->RunOrPost([session = session] { session->Retire(); });
    session = nullptr;
  }

  SessionWorld world;
  InFlight sessions;
  SessionRegistry registry;
  TestWatcher watcher;
  std::shared_ptr<ConnectGate> gate = std::make_shared<ConnectGate>();
  uint64_t last_id = 0;
  std::map<uint64_t, TestSessionCall> calls;
  std::shared_ptr<ClientSession> session;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_CLIENT_CLIENT_SESSION_TESTING_H_
