// SPDX-License-Identifier: Apache-2.0
//
// Servers and channels on a runtime, and what is under way when they end.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "rpc/closure.h"
#include "rpc/dispatch/test_services.pb.h"
#include "rpc/runtime/channel.h"
#include "rpc/runtime/runtime_testing.h"
#include "rpc/runtime/server.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

class Echo final : public one::Lone {
 public:
  ~Echo() override {
    if (deaths != nullptr) ++*deaths;
  }
  void Say(google::protobuf::RpcController*, const one::Ping* request, one::Ping* response,
           google::protobuf::Closure* done) override {
    response->set_text(request->text());
    if (kept != nullptr) {
      *kept = done;
      heard.Signal();
    } else {
      done->Run();
    }
  }

  std::atomic<google::protobuf::Closure*>* kept = nullptr;
  std::atomic<int>* deaths = nullptr;
  std::unique_ptr<Channel> backend;
  TestEvent heard;
};

std::unique_ptr<Channel> Connect(Runtime& runtime, const std::string& target,
                                 int64_t timeout_ms = 20'000) {
  ChannelOptions options;
  options.runtime = &runtime;
  options.timeout_ms = timeout_ms;
  options.connect_timeout_ms = 20'000;
  auto channel = Channel::Create(target, options);
  EXPECT_TRUE(channel.ok()) << channel.status();
  return *std::move(channel);
}

absl::Status Serve(Server& server, Runtime& runtime) {
  ServerOptions options;
  options.runtime = &runtime;
  return server.Start("127.0.0.1:0", options);
}

TEST(RuntimeTest, CarriesACall) {
  const auto runtime = MakeRuntime(WithLoops(2));
  Echo echo;
  Server server;
  ASSERT_TRUE(server.AddService(&echo, SERVER_DOESNT_OWN_SERVICE).ok());
  ASSERT_TRUE(Serve(server, *runtime).ok());
  const auto channel = Connect(*runtime, server.listen_address().ToString());
  Controller controller;
  one::Ping ping;
  one::Ping pong;
  ping.set_text("hello");
  one::Lone_Stub(channel.get()).Say(&controller, &ping, &pong, nullptr);
  EXPECT_FALSE(controller.Failed()) << controller.ErrorText();
  EXPECT_EQ(pong.text(), "hello");
}

// The timers and the connection of the call belong to the loop, which is not destroyed
// under them.
TEST(RuntimeTest, EndsAfterTheCallsOfChannelsThatAreGone) {
  auto serving = MakeRuntime(WithLoops(1));
  Echo echo;
  std::atomic<google::protobuf::Closure*> kept{nullptr};
  echo.kept = &kept;
  Server server;
  ASSERT_TRUE(server.AddService(&echo, SERVER_DOESNT_OWN_SERVICE).ok());
  ASSERT_TRUE(Serve(server, *serving).ok());

  auto calling = MakeRuntime(WithLoops(1));
  auto channel = Connect(*calling, server.listen_address().ToString());
  Controller controller;
  one::Ping ping;
  one::Ping pong;
  std::atomic<bool> ended{false};
  one::Lone_Stub(channel.get()).Say(&controller, &ping, &pong, NewClosure([&] { ended = true; }));
  ASSERT_TRUE(echo.heard.Wait());
  channel = nullptr;
  EXPECT_FALSE(ended);
  std::thread answer([&] { kept.load()->Run(); });
  calling = nullptr;
  EXPECT_TRUE(ended);
  EXPECT_FALSE(controller.Failed()) << controller.ErrorText();
  answer.join();
}

TEST(RuntimeTest, EndsAfterAnAttemptToConnect) {
  for (const char* target : {"127.0.0.1:1", "localhost:1", "unix:/nowhere/at/all.sock"}) {
    SCOPED_TRACE(target);
    auto runtime = MakeRuntime(WithLoops(1));
    auto channel = Connect(*runtime, target);
    Controller controller;
    one::Ping ping;
    one::Ping pong;
    std::atomic<bool> ended{false};
    one::Lone_Stub(channel.get()).Say(&controller, &ping, &pong, NewClosure([&] { ended = true; }));
    channel = nullptr;
    runtime = nullptr;
    EXPECT_TRUE(ended);
    EXPECT_EQ(controller.ErrorCode(), kFailedSocket) << controller.ErrorText();
  }
}

// By the server, whoever else still knows of it: a session or a late closure would do it on
// a loop, where a service may not even destroy a channel.
TEST(RuntimeTest, AnOwnedServiceDiesWithItsServer) {
  const auto runtime = MakeRuntime(WithLoops(1));
  std::atomic<int> deaths{0};
  std::atomic<google::protobuf::Closure*> kept{nullptr};
  auto* const echo = new Echo;
  echo->deaths = &deaths;
  echo->kept = &kept;
  auto server = std::make_unique<Server>();
  ASSERT_TRUE(server->AddService(echo, SERVER_OWNS_SERVICE).ok());
  ASSERT_TRUE(Serve(*server, *runtime).ok());
  const std::string address = server->listen_address().ToString();
  echo->backend = Connect(*runtime, address);

  const auto channel = Connect(*runtime, address);
  Controller controller;
  one::Ping ping;
  one::Ping pong;
  TestEvent ended;
  one::Lone_Stub(channel.get()).Say(&controller, &ping, &pong, NewClosure([&] { ended.Signal(); }));
  ASSERT_TRUE(echo->heard.Wait());
  server = nullptr;
  EXPECT_EQ(deaths, 1);
  ASSERT_TRUE(ended.Wait());
  EXPECT_EQ(controller.ErrorCode(), kFailedSocket) << controller.ErrorText();
  kept.load()->Run();
}

TEST(RuntimeTest, AServerMayBeStoppedFromTwoThreads) {
  const auto runtime = MakeRuntime(WithLoops(1));
  Echo echo;
  Server server;
  ASSERT_TRUE(server.AddService(&echo, SERVER_DOESNT_OWN_SERVICE).ok());
  ASSERT_TRUE(Serve(server, *runtime).ok());
  std::thread other([&] { EXPECT_TRUE(server.Stop(std::chrono::seconds(1)).ok()); });
  EXPECT_TRUE(server.Stop(std::chrono::seconds(1)).ok());
  other.join();
}

TEST(RuntimeTest, AServerMayListenOnANameAndLetTheSystemChooseThePort) {
  const auto runtime = MakeRuntime(WithLoops(1));
  Server server;
  ServerOptions options;
  options.runtime = runtime.get();
  const absl::Status started = server.Start("localhost:0", options);
  ASSERT_TRUE(started.ok()) << started;
  EXPECT_NE(server.listen_address().port(), 0);
}

TEST(RuntimeDeathTest, ACallHasAController) {
  EXPECT_DEATH(
      {
        const auto runtime = MakeRuntime(WithLoops(1));
        ChannelOptions options;
        options.runtime = runtime.get();
        const auto channel = *Channel::Create("127.0.0.1:1", options);
        one::Ping ping;
        one::Lone_Stub(channel.get()).Say(nullptr, &ping, &ping, nullptr);
      },
      "a call has a farcall::Controller, which tells how it ended");
}

}  // namespace
}  // namespace farcall
