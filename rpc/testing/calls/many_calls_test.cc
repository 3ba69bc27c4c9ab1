// SPDX-License-Identifier: Apache-2.0
//
// Many threads, channels and loops at once: no answer is lost, doubled or mistaken
// for another.

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

namespace farcall {
namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 60;
constexpr int kInFlight = 16;

// Calls over `channels` in turn: rounds of closure calls with synchronous ones between.
// Returns how many did not end with their own answer.
int CallMany(const std::vector<std::unique_ptr<Channel>>& channels, int thread) {
  int wrong = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::unique_ptr<TestCall>> calls;
    for (int i = 0; i < kInFlight; ++i) {
      const std::string name = absl::StrCat(thread, "/", round, "/", i);
      auto call = std::make_unique<TestCall>(name);
      if (i % 2 == 0) call->controller.request_attachment().Append(std::string(200 * i, 'a'));
      call->Start(*channels[(round + i) % channels.size()]);
      calls.push_back(std::move(call));
    }
    TestCall call(absl::StrCat(thread, " synchronous ", round));
    wrong += call.Call(*channels[round % channels.size()]).Echoed() ? 0 : 1;
    for (int i = 0; i < kInFlight; ++i) {
      const size_t attached = i % 2 == 0 ? 200 * static_cast<size_t>(i) : 0;
      const bool right = calls[i]->Wait() && calls[i]->Echoed() && calls[i]->ends() == 1 &&
                         calls[i]->controller.response_attachment().size() == attached;
      wrong += right ? 0 : 1;
    }
  }
  return wrong;
}

// Calls from several threads over channels of one runtime.
void ExpectAllEchoed(TestServer& server, TestRuntime& clients, int channel_count) {
  std::vector<std::unique_ptr<Channel>> channels;
  for (int i = 0; i < channel_count; ++i)
    channels.push_back(OpenChannel(server.address(), *clients));
  std::vector<int> wrong(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] { wrong[static_cast<size_t>(i)] = CallMany(channels, i); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int one : wrong) EXPECT_EQ(one, 0);
  EXPECT_EQ(server.service().runs(), kThreads * kRounds * (kInFlight + 1));
  EXPECT_EQ(server.server().connection_count(), channel_count);
  channels.clear();
  EXPECT_TRUE(Eventually([&] { return server.server().connection_count() == 0; }));
  EXPECT_TRUE(Eventually([&] { return clients.used_bytes() == 0; })) << "blocks did not come home";
}

RuntimeOptions Loops(int count, PollingMode mode) {
  RuntimeOptions options;
  options.event_loops = count;
  options.polling.mode = mode;
  return options;
}

TEST(ManyCallsTest, PoolHandlersAndSeveralLoops) {
  TestRuntime servers(Loops(2, PollingMode::kAdaptive));
  TestRuntime clients(Loops(3, PollingMode::kAdaptive));
  ServerOptions options;
  options.runtime = &*servers;
  TestServer server(EchoBack, options);
  ExpectAllEchoed(server, clients, 5);
}

TEST(ManyCallsTest, InlineHandlersAndSleepingLoops) {
  TestRuntime servers(Loops(2, PollingMode::kEvent));
  TestRuntime clients(Loops(2, PollingMode::kEvent));
  ServerOptions options = Inline();
  options.runtime = &*servers;
  TestServer server(EchoBack, options);
  ExpectAllEchoed(server, clients, 3);
}

TEST(ManyCallsTest, ManyConnections) {
  TestServer server;
  TestRuntime clients(Loops(2, PollingMode::kAdaptive));
  constexpr int kChannels = 200;
  std::vector<std::unique_ptr<Channel>> channels;
  std::vector<TestCall> calls(2 * kChannels);
  for (int i = 0; i < kChannels; ++i) {
    channels.push_back(OpenChannel(server.address(), *clients));
    calls[static_cast<size_t>(2 * i)].Start(*channels.back());
    calls[static_cast<size_t>(2 * i + 1)].Start(*channels.back());
  }
  for (TestCall& call : calls) {
    ASSERT_TRUE(call.Wait());
    EXPECT_TRUE(call.Echoed()) << call.Error();
  }
  EXPECT_EQ(server.server().connection_count(), kChannels);
  channels.clear();
  EXPECT_TRUE(Eventually([&] { return server.server().connection_count() == 0; }));
}

TEST(ManyCallsTest, BothSidesOnOneLoop) {
  TestRuntime both;
  ServerOptions options = Inline();
  options.runtime = &*both;
  TestServer server(EchoBack, options);
  ExpectAllEchoed(server, both, 1);
}

}  // namespace
}  // namespace farcall
