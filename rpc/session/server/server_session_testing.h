// SPDX-License-Identifier: Apache-2.0
//
// For the tests of a server's end of a connection: a service that does what the test says, and
// the bytes of a client.

#ifndef FARCALL_RPC_SESSION_SERVER_SERVER_SESSION_TESTING_H_
#define FARCALL_RPC_SESSION_SERVER_SERVER_SESSION_TESTING_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "rpc/dispatch/test_services.pb.h"
#include "rpc/session/server/server_session.h"
#include "rpc/session/session_testing.h"

namespace farcall {

// Lone.Say does what the test says.
class ScriptedLone final : public one::Lone {
 public:
  void Say(google::protobuf::RpcController* controller, const one::Ping* request,
           one::Ping* response, google::protobuf::Closure* done) override {
    heard.push_back(request->text());
    response->set_text(request->text());
    say(static_cast<Controller&>(*controller), done);
  }

  std::function<void(Controller&, google::protobuf::Closure*)> say =
      [](Controller&, google::protobuf::Closure* done) { done->Run(); };
  std::vector<std::string> heard;
};

class ServerSessionTest : public ::testing::Test {
 protected:
  ServerSessionTest() {
    core_->parts = world_.parts;
    wire_->loop = world_.loop.get();
    EXPECT_TRUE(core_->services.Add(service_).ok());
  }
  ~ServerSessionTest() override {
    wire_->End(absl::UnavailableError("closed by peer"));
    world_.Run();
    EXPECT_EQ(core_->connections.count(), 0);
    EXPECT_EQ(core_->running.count(), 0);
    if (closures_.empty()) {
      EXPECT_EQ(core_.use_count(), 1) << "calls and sessions are gone";
      EXPECT_EQ(core_->unanswered.count(), 0);
    }
  }

  void Accept() {
    world_.loop->RunOrPost([&] {
      ServerSession::Accept(core_, *world_.loop,
                            std::make_unique<FakeConnection>(*world_.loop, *world_.pool, wire_));
    });
  }
  static wire::RpcMeta RequestMeta(int64_t id) {
    wire::RpcMeta meta;
    meta.mutable_request()->set_service_name("farcall.one.Lone");
    meta.mutable_request()->set_method_name("Say");
    meta.set_correlation_id(id);
    return meta;
  }
  static std::string Encoded(wire::RpcMeta meta, const std::string& text) {
    one::Ping ping;
    if (!text.empty()) ping.set_text(text);
    const auto encoder = FrameEncoder::Create(meta, &ping, 0);
    std::string bytes(encoder->head_size(), '\0');
    encoder->WriteTo(bytes.data());
    return bytes;
  }
  static std::string Request(int64_t id, const std::string& text = "") {
    return Encoded(RequestMeta(id), text);
  }
  // Handlers keep their closures.
  void Keep() {
    service_.say = [this](Controller&, google::protobuf::Closure* done) {
      closures_.push_back(done);
    };
  }
  void AnswerOldest() {
    google::protobuf::Closure* const done = closures_.front();
    closures_.erase(closures_.begin());
    done->Run();
    world_.Run();
  }
  void CloseAll(const absl::Status& why) {
    for (const auto& session : core_->Sessions()) {
      world_.loop->RunOrPost([&] { session->Close(why); });
    }
  }
  // The only answer since the last time.
  Frame Answer() {
    world_.Run();
    std::vector<Frame> frames = wire_->TakeFrames();
    EXPECT_EQ(frames.size(), 1u);
    return frames.empty() ? Frame() : std::move(frames.front());
  }
  bool Logged(absl::string_view part) const {
    for (const std::string& line : world_.log) {
      if (absl::StrContains(line, part)) return true;
    }
    return false;
  }

  SessionWorld world_;
  ScriptedLone service_;
  std::shared_ptr<ServerCore> core_ = std::make_shared<ServerCore>();
  std::shared_ptr<FakeWire> wire_ = std::make_shared<FakeWire>();
  std::vector<google::protobuf::Closure*> closures_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_SERVER_SESSION_TESTING_H_
