// SPDX-License-Identifier: Apache-2.0
//
// A server that stops, and those that speak HTTP with it.

#include <atomic>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/http_peer.h"
#include "rpc/testing/kept_answers.h"
#include "rpc/testing/test_peers.h"

namespace farcall {
namespace {

std::string Echo(absl::string_view text) {
  return HttpPost("/TestService/Echo", absl::StrCat("{\"message\":\"", text, "\"}"));
}

TEST(HttpTest, AStopFinishesWhatRunsAndRefusesTheRest) {
  KeptAnswers kept;
  TestServer server(kept.Handler());
  HttpPeer runs(server.address());
  HttpPeer asks(server.address());
  HttpPeer probes(server.address());
  ASSERT_TRUE(runs.Send(Echo("runs")));
  ASSERT_TRUE(kept.Wait(1));
  ASSERT_TRUE(asks.Ask(HttpGet("/health")).has_value());
  ASSERT_TRUE(probes.Ask(HttpGet("/health")).has_value());
  auto stopped = std::async(std::launch::async, [&] { return server.server().Stop(kTestTimeout); });
  // It stops once it is known to: until then it is healthy.
  std::optional<HttpPeer::Answer> health;
  EXPECT_TRUE(Eventually([&] {
    health = probes.Ask(HttpGet("/health"));
    return !health.has_value() || health->status != 200;
  }));
  ASSERT_TRUE(health.has_value());
  EXPECT_EQ(health->status, 503);
  EXPECT_TRUE(probes.WaitForEnd());
  probes.Close();  // or the server waits for that, a while
  const auto refused = asks.Ask(Echo("late"));
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->status, 503);
  EXPECT_TRUE(absl::StrContains(refused->body, "ELOGOFF"));
  asks.Close();
  kept.RunAll();
  const auto answer = runs.Receive();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, 200);
  runs.Close();
  EXPECT_TRUE(stopped.get().ok());
}

// Its request may wait to be read, so that nothing has said yet that it speaks HTTP.
TEST(HttpTest, WhoHasAskedBeforeStopIsAnsweredInHttp) {
  for (int round = 0; round < 50; ++round) {
    TestServer server(EchoBack, Inline());
    std::vector<HttpPeer> peers;
    for (int i = 0; i < 4; ++i) {
      peers.emplace_back(server.address());
      ASSERT_TRUE(peers.back().Send(HttpGet("/health")));
    }
    std::thread stopper([&] { EXPECT_TRUE(server.server().Stop(kTestTimeout).ok()); });
    for (HttpPeer& peer : peers) {
      const auto answer = peer.Receive();
      const int status = answer.has_value() ? answer->status : 0;
      EXPECT_TRUE(status == 200 || status == 503) << "round " << round << ": " << status;
      peer.Close();
    }
    stopper.join();
  }
}

// One handler thread, held by a call that has its answer: a page waits behind it.
class HttpPageStopTest : public ::testing::Test {
 protected:
  HttpPageStopTest() {
    EXPECT_TRUE(caller_.Ask(Echo("hi")).has_value());
    EXPECT_TRUE(answered_.Wait()) << "the server has counted that, too";
    EXPECT_TRUE(page_.Send(HttpGet("/metrics")));
    EXPECT_EQ(HealthStatus(), 200) << "what was sent before has arrived";
  }
  static ServerOptions OneThread() {
    ServerOptions options;
    options.handler_threads = 1;
    options.handlers_on_pool = true;
    return options;
  }
  int HealthStatus() {
    const auto health = probe_.Ask(HttpGet("/health"));
    return health.has_value() ? health->status : 0;
  }
  void CloseAll() {
    caller_.Close();
    page_.Close();
    probe_.Close();
  }

  TestEvent answered_;
  TestEvent leave_;
  TestServer server_{
      [this](Controller& controller, const auto& request, auto& response, auto* done) {
        EchoBack(controller, request, response, done);
        answered_.Signal();
        EXPECT_TRUE(leave_.Wait());
      },
      OneThread()};
  HttpPeer caller_{server_.address()};
  HttpPeer page_{server_.address()};
  HttpPeer probe_{server_.address()};
};

TEST_F(HttpPageStopTest, StopWaitsForAPageThatIsBeingMade) {
  std::atomic<bool> let_go{false};
  auto stopped = std::async(std::launch::async, [&] {
    EXPECT_TRUE(server_.server().Stop(kTestTimeout).ok());
    return let_go.load();
  });
  EXPECT_TRUE(Eventually([&] { return HealthStatus() == 503; }));
  let_go = true;
  leave_.Signal();
  const auto page = page_.Receive();
  ASSERT_TRUE(page.has_value());
  EXPECT_EQ(page->status, 200);
  CloseAll();
  EXPECT_TRUE(stopped.get()) << "it waited";
}

TEST_F(HttpPageStopTest, TheGraceBoundsThatToo) {
  auto stopped = std::async(std::launch::async,
                            [&] { return server_.server().Stop(std::chrono::milliseconds(20)); });
  EXPECT_TRUE(page_.WaitForEnd()) << "its answer is given up";
  CloseAll();
  EXPECT_TRUE(stopped.get().ok()) << "each call has its answer";
  leave_.Signal();
}

TEST_F(HttpPageStopTest, AServerIsDestroyedBehindItsPages) {
  std::atomic<bool> destroyed{false};
  std::thread destroyer([&] {
    server_.Destroy();
    destroyed = true;
  });
  EXPECT_TRUE(page_.WaitForEnd());
  CloseAll();
  EXPECT_FALSE(destroyed);
  leave_.Signal();
  destroyer.join();
}

}  // namespace
}  // namespace farcall
