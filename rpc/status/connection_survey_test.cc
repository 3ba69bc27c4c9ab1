// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/connection_survey.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "rpc/session/server/server_session.h"
#include "rpc/session/session_testing.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

// Two loops, each turned by the test or not at all.
class ConnectionSurveyTest : public testing::Test {
 protected:
  ConnectionSurveyTest() {
    core_->parts = world_.parts;
    core_->parts.loops = &loops_;
  }
  ~ConnectionSurveyTest() override {
    for (const auto& wire : wires_) wire->End(absl::CancelledError("the test is over"));
    Run();
  }

  void Accept(EventLoop& loop, int count = 1) {
    for (int i = 0; i < count; ++i) {
      auto wire = std::make_shared<FakeWire>();
      loop.RunOrPost([&] {
        ServerSession::Accept(core_, loop,
                              std::make_unique<FakeConnection>(loop, *world_.pool, wire));
      });
      wires_.push_back(std::move(wire));
    }
  }
  void Run() {
    world_.Run();
    while (other_->RunOnce()) {
    }
  }

  SessionWorld world_;
  std::unique_ptr<EventLoop> other_ = *EventLoop::Create(world_.clock);
  LoopGroup loops_{{world_.loop.get(), other_.get()}};
  std::shared_ptr<ServerCore> core_ = std::make_shared<ServerCore>();
  std::vector<std::shared_ptr<FakeWire>> wires_;
};

TEST_F(ConnectionSurveyTest, LooksAtIdleLoopsAtOnce) {
  const auto result = ConnectionSurvey::Take(*core_, milliseconds(0));
  ASSERT_EQ(result.loops.size(), 2U);
  EXPECT_TRUE(result.loops[0].answered);
  EXPECT_TRUE(result.loops[1].answered);
  EXPECT_TRUE(result.connections.some.empty());
}

TEST_F(ConnectionSurveyTest, TellsWhatEachConnectionIs) {
  Accept(*world_.loop, 2);
  world_.clock.Advance(std::chrono::seconds(3));
  Accept(*other_);
  const auto result = ConnectionSurvey::Take(*core_, milliseconds(0));
  EXPECT_EQ(result.loops[0].connections, 2);
  EXPECT_EQ(result.loops[1].connections, 1);
  EXPECT_EQ(result.connections.other, 3U) << "simulated ones";
  EXPECT_EQ(result.connections.tcp, 0U);
  ASSERT_EQ(result.connections.some.size(), 3U);
  std::multiset<std::pair<int, double>> ages;
  for (const ConnectionStatus& one : result.connections.some) {
    EXPECT_EQ(one.info.peer.ToString(), "192.0.2.1:80");
    EXPECT_EQ(one.protocol, "") << "no byte came";
    ages.emplace(one.loop, one.age_seconds);
  }
  EXPECT_EQ(ages, (std::multiset<std::pair<int, double>>{{0, 3.0}, {0, 3.0}, {1, 0.0}}));
}

TEST_F(ConnectionSurveyTest, ALoopThatDoesNotAnswerIsLeftOut) {
  Accept(*world_.loop, 2);
  Accept(*other_, 3);
  TestEvent held;
  TestEvent enough;
  std::thread busy([&] {
    EXPECT_TRUE(other_->TryRun([&] {
      held.Signal();
      EXPECT_TRUE(enough.Wait());
    }));
  });
  ASSERT_TRUE(held.Wait());
  const auto result = ConnectionSurvey::Take(*core_, milliseconds(20));
  enough.Signal();
  busy.join();
  EXPECT_TRUE(result.loops[0].answered);
  EXPECT_FALSE(result.loops[1].answered);
  EXPECT_EQ(result.connections.some.size(), 2U);
  Run();  // its late answer is not read
}

TEST_F(ConnectionSurveyTest, ManyConnectionsAreCountedAndSomeAreShown) {
  // More than in one hold, so that the rest comes by the mailbox.
  const int many = static_cast<int>(ConnectionSurvey::kMaxShown) + 200;
  Accept(*world_.loop, many);
  std::atomic<bool> over{false};
  std::thread driver([&] {
    while (!over) world_.loop->RunOnce();
  });
  const auto result = ConnectionSurvey::Take(*core_, kTestTimeout);
  over = true;
  driver.join();
  EXPECT_EQ(result.connections.other, static_cast<uint64_t>(many));
  EXPECT_EQ(result.loops[0].connections, many);
  EXPECT_EQ(result.connections.some.size(), ConnectionSurvey::kMaxShown);
}

TEST_F(ConnectionSurveyTest, ConnectionsThatHaveClosedAreNotSeen) {
  Accept(*world_.loop, 3);
  // The test holds it, so it is still in memory, but in no list.
  wires_[1]->End(absl::UnavailableError("closed by peer"));
  world_.Run();
  EXPECT_EQ(ConnectionSurvey::Take(*core_, milliseconds(0)).connections.some.size(), 2U);
}

TEST_F(ConnectionSurveyTest, CountsTheTurnsOfLoops) {
  const uint64_t before = ConnectionSurvey::Take(*core_, milliseconds(0)).loops[0].turns;
  world_.loop->Post([] {});
  world_.Run();
  EXPECT_EQ(ConnectionSurvey::Take(*core_, milliseconds(0)).loops[0].turns, before + 1);
}

}  // namespace
}  // namespace farcall
