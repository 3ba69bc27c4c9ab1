// SPDX-License-Identifier: Apache-2.0
//
// Many runtimes in one process: used together, made and destroyed in any order.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

constexpr size_t kRuntimes = 20;

size_t Entries(const char* directory) {
  const std::filesystem::directory_iterator entries(directory);
  return static_cast<size_t>(std::distance(begin(entries), end(entries)));
}
size_t Threads() { return Entries("/proc/self/task"); }
size_t Files() { return Entries("/proc/self/fd"); }

class ManyRuntimesTest : public ::testing::Test {
 protected:
  // With its first thread a program under a sanitizer gets one more, for good.
  ManyRuntimesTest() {
    std::thread([] {}).join();
  }
};

ServerOptions FewThreads() {
  ServerOptions options;
  options.handler_threads = 1;
  options.handlers_on_pool = true;
  return options;
}

TEST_F(ManyRuntimesTest, AreUsedTogetherAndDestroyedInAnyOrder) {
  const size_t threads = Threads();
  const size_t files = Files();
  TestRandom random(1);
  std::vector<std::unique_ptr<TestServer>> servers;
  std::vector<std::unique_ptr<TestClient>> clients;
  for (size_t i = 0; i < kRuntimes; ++i) {
    servers.push_back(std::make_unique<TestServer>(EchoBack, FewThreads()));
    clients.push_back(std::make_unique<TestClient>(servers[random.Below(i + 1)]->address()));
  }
  std::vector<TestCall> calls(kRuntimes);
  for (size_t i = 0; i < kRuntimes; ++i) calls[i].Start(clients[i]->channel());
  for (TestCall& call : calls) {
    ASSERT_TRUE(call.Wait());
    EXPECT_TRUE(call.Echoed()) << call.Error();
  }
  while (!servers.empty() || !clients.empty()) {
    const size_t which = random.Below(servers.size() + clients.size());
    if (which < servers.size()) {
      std::swap(servers[which], servers.back());
      servers.pop_back();
    } else {
      std::swap(clients[which - servers.size()], clients.back());
      clients.pop_back();
    }
  }
  EXPECT_TRUE(Eventually([&] { return Threads() <= threads; })) << Threads() << " of " << threads;
  EXPECT_TRUE(Eventually([&] { return Files() <= files; })) << Files() << " of " << files;
}

// One after the other: nothing of one is left in the next.
TEST_F(ManyRuntimesTest, ComeAndGo) {
  const size_t threads = Threads();
  const size_t files = Files();
  for (size_t i = 0; i < kRuntimes; ++i) {
    TestServer server(EchoBack, FewThreads());
    TestClient client(server.address());
    TestCall call;
    ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  }
  EXPECT_TRUE(Eventually([&] { return Threads() <= threads; })) << Threads() << " of " << threads;
  EXPECT_TRUE(Eventually([&] { return Files() <= files; })) << Files() << " of " << files;
}

// A channel of one runtime in a handler of another, and back.
TEST_F(ManyRuntimesTest, CallEachOtherFromHandlers) {
  TestServer last(EchoBack, FewThreads());
  std::vector<std::unique_ptr<TestServer>> servers;
  std::vector<std::unique_ptr<TestClient>> clients;
  clients.push_back(std::make_unique<TestClient>(last.address()));
  for (int i = 0; i < 5; ++i) {
    Channel& next = clients.back()->channel();
    servers.push_back(std::make_unique<TestServer>(
        [&next](Controller& controller, const test::EchoRequest& request,
                test::EchoResponse& response, google::protobuf::Closure* done) {
          TestCall call(request.message());
          if (!call.Call(next).Echoed()) controller.SetFailed(1000, call.Error());
          response.set_message(call.response.message());
          done->Run();
        },
        Inline()));
    clients.push_back(std::make_unique<TestClient>(servers.back()->address()));
  }
  TestCall call;
  EXPECT_TRUE(call.Call(clients.back()->channel()).Echoed()) << call.Error();
  // A handler's channel outlives it.
  while (!servers.empty()) servers.pop_back();
}

}  // namespace
}  // namespace farcall
