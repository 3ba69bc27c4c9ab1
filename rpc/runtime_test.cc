// SPDX-License-Identifier: Apache-2.0

#include "rpc/runtime.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rpc/channel.h"
#include "rpc/closure.h"
#include "rpc/dispatch/test_services.pb.h"
#include "rpc/naming/name_cache.h"
#include "rpc/server.h"
#include "transport/base/cores.h"
#include "transport/loop/loop_group.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

std::unique_ptr<Runtime> Make(const RuntimeOptions& options = {}) {
  auto runtime = Runtime::Create(options);
  EXPECT_TRUE(runtime.ok()) << runtime.status();
  return *std::move(runtime);
}

RuntimeOptions Loops(int count) {
  RuntimeOptions options;
  options.event_loops = count;
  return options;
}

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

TEST(RuntimeTest, HasTheLoopsThatItWasToldTo) {
  EXPECT_EQ(Make(Loops(3))->parts().loops->size(), 3u);
  const size_t usual = Make()->parts().loops->size();
  EXPECT_EQ(usual, static_cast<size_t>(std::min(8, UsableCores())));
}

TEST(RuntimeTest, BadOptionsAreRefusedByName) {
  EXPECT_EQ(Runtime::Create(Loops(257)).status().message(),
            "event_loops is 257; it must be from 1 to 256, or default (0)");
}

std::string NetworkStatusOf(const RuntimeOptions& options) {
  for (const auto& [name, value, from] : Make(options)->status().options) {
    if (name == "rdma.network_status") return value;
  }
  return "unknown";
}

TEST(RuntimeTest, TheEnvironmentNamesTheNetworkStatusWhereNoOptionDoes) {
  ASSERT_EQ(unsetenv("FARCALL_NETWORK_STATUS"), 0);
  EXPECT_EQ(NetworkStatusOf(Loops(1)), "none");
  ASSERT_EQ(setenv("FARCALL_NETWORK_STATUS", "/etc/podinfo/network-status", 1), 0);
  EXPECT_EQ(NetworkStatusOf(Loops(1)), "/etc/podinfo/network-status");
  RuntimeOptions options = Loops(1);
  options.rdma.network_status = "/run/other";
  EXPECT_EQ(NetworkStatusOf(options), "/run/other");
  ASSERT_EQ(unsetenv("FARCALL_NETWORK_STATUS"), 0);
}

TEST(RuntimeTest, TakesTheOperatorsSettingsOrDoesNotStart) {
  ASSERT_EQ(setenv("FARCALL_EVENT_LOOPS", "2", 1), 0);
  EXPECT_EQ(Make()->parts().loops->size(), 2u);
  EXPECT_EQ(Make(Loops(1))->parts().loops->size(), 1u) << "as the program says";
  ASSERT_EQ(setenv("FARCALL_EVENT_LOOPS", "many", 1), 0);
  EXPECT_EQ(Runtime::Create({}).status().message(),
            "FARCALL_EVENT_LOOPS: event_loops is 'many'; it must be from 1 to 256, or default (0)");
  ASSERT_EQ(unsetenv("FARCALL_EVENT_LOOPS"), 0);
  ASSERT_EQ(setenv("FARCALL_TRAFFIC_CLASS", "af31", 1), 0);
  EXPECT_EQ(Make()->parts().traffic_class, 104);
  ASSERT_EQ(unsetenv("FARCALL_TRAFFIC_CLASS"), 0);
}

TEST(RuntimeTest, ItsPartsAreThere) {
  const auto runtime = Make(Loops(1));
  const RuntimeParts& parts = runtime->parts();
  EXPECT_NE(parts.clock, nullptr);
  EXPECT_NE(parts.transport, nullptr);
  EXPECT_NE(parts.pool, nullptr);
  EXPECT_TRUE(parts.log != nullptr);
  TestEvent ran;
  std::thread::id thread;
  EXPECT_TRUE(parts.run_blocking([&] {
    thread = std::this_thread::get_id();
    ran.Signal();
  }));
  ASSERT_TRUE(ran.Wait());
  EXPECT_NE(thread, std::this_thread::get_id());
}

// As many names as are looked up at once, where their name servers do not answer.
TEST(RuntimeTest, NamesThatAreSlowHoldUpNoFile) {
  TestEvent begun;
  TestEvent leave;
  TestEvent ran;
  const auto runtime = Make(Loops(1));
  for (size_t i = 0; i < NameCache::kAtOnce; ++i) {
    EXPECT_TRUE(runtime->parts().run_blocking([&] {
      begun.Signal();
      EXPECT_TRUE(leave.Wait());
    }));
  }
  EXPECT_TRUE(begun.Wait(NameCache::kAtOnce));
  EXPECT_TRUE(runtime->parts().run_blocking([&] { ran.Signal(); }));
  EXPECT_TRUE(ran.Wait());
  leave.Signal();
}

TEST(RuntimeTest, ItsLoopsAreDriven) {
  const auto runtime = Make(Loops(4));
  TestEvent ran;
  for (size_t i = 0; i < 4; ++i) {
    runtime->parts().loops->at(i).Post([&] { ran.Signal(); });
  }
  EXPECT_TRUE(ran.Wait(4));
}

TEST(RuntimeTest, TheDefaultOneIsMadeOnce) {
  std::vector<std::thread> threads;
  std::atomic<Runtime*> first{nullptr};
  std::atomic<bool> differ{false};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto runtime = Runtime::Default();
      ASSERT_TRUE(runtime.ok()) << runtime.status();
      Runtime* seen = nullptr;
      if (!first.compare_exchange_strong(seen, *runtime) && seen != *runtime) differ = true;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_NE(first, nullptr);
  EXPECT_FALSE(differ);
}

TEST(RuntimeTest, ManyMayLiveAtOnceAndEndIdle) {
  for (const PollingMode mode : {PollingMode::kEvent, PollingMode::kAdaptive, PollingMode::kBusy}) {
    RuntimeOptions options = Loops(2);
    options.polling.mode = mode;
    std::vector<std::unique_ptr<Runtime>> runtimes;
    for (int i = 0; i < 8; ++i) runtimes.push_back(Make(options));
  }
}

TEST(RuntimeTest, CarriesACall) {
  const auto runtime = Make(Loops(2));
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
  auto serving = Make(Loops(1));
  Echo echo;
  std::atomic<google::protobuf::Closure*> kept{nullptr};
  echo.kept = &kept;
  Server server;
  ASSERT_TRUE(server.AddService(&echo, SERVER_DOESNT_OWN_SERVICE).ok());
  ASSERT_TRUE(Serve(server, *serving).ok());

  auto calling = Make(Loops(1));
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
    auto runtime = Make(Loops(1));
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
  const auto runtime = Make(Loops(1));
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
  const auto runtime = Make(Loops(1));
  Echo echo;
  Server server;
  ASSERT_TRUE(server.AddService(&echo, SERVER_DOESNT_OWN_SERVICE).ok());
  ASSERT_TRUE(Serve(server, *runtime).ok());
  std::thread other([&] { EXPECT_TRUE(server.Stop(std::chrono::seconds(1)).ok()); });
  EXPECT_TRUE(server.Stop(std::chrono::seconds(1)).ok());
  other.join();
}

TEST(RuntimeTest, AServerMayListenOnANameAndLetTheSystemChooseThePort) {
  const auto runtime = Make(Loops(1));
  Server server;
  ServerOptions options;
  options.runtime = runtime.get();
  const absl::Status started = server.Start("localhost:0", options);
  ASSERT_TRUE(started.ok()) << started;
  EXPECT_NE(server.listen_address().port(), 0);
}

TEST(RuntimeTest, OnPartsOfTheCallersMaking) {
  const auto whole = Make(Loops(1));
  RuntimeParts parts = whole->parts();
  parts.log = nullptr;
  const auto borrowing = Runtime::On(parts);
  EXPECT_EQ(borrowing->parts().loops, parts.loops);
  EXPECT_TRUE(borrowing->parts().log != nullptr) << "spdlog's";
}

TEST(RuntimeDeathTest, NoPartIsMissing) {
  EXPECT_DEATH((void)Runtime::On({}), "a runtime has all its parts");
}

TEST(RuntimeDeathTest, ACallHasAController) {
  EXPECT_DEATH(
      {
        const auto runtime = Make(Loops(1));
        ChannelOptions options;
        options.runtime = runtime.get();
        const auto channel = *Channel::Create("127.0.0.1:1", options);
        one::Ping ping;
        one::Lone_Stub(channel.get()).Say(nullptr, &ping, &ping, nullptr);
      },
      "a call has a farcall::Controller, which tells how it ended");
}

TEST(RuntimeTest, AProcessorThatIsNoneIsTold) {
  RuntimeOptions options;
  options.cpus = {65'535};
  const auto runtime = Runtime::Create(options);
  EXPECT_EQ(runtime.status().message(),
            "cpu 65535 is none that this process may run on (taskset -p $$)");
}

}  // namespace
}  // namespace farcall
