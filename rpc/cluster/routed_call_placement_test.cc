// SPDX-License-Identifier: Apache-2.0
//
// Of several attempts of one call, whose bytes come to lie in its memory.

#include <gtest/gtest.h>

#include <string>

#include "rpc/cluster/cluster_testing.h"
#include "rpc/retry_policy.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

class RoutedCallPlacementTest : public testing::Test {
 protected:
  static ChannelOptions Backup() {
    ChannelOptions options;
    options.backup_request_ms = 10;
    options.retry_policy = RetryPolicy::Default();
    return options;
  }
  Buffer Memory() {
    Buffer memory;
    memory.AppendUserData(memory_.data(), memory_.size(), [this] { ++released_; });
    return memory;
  }
  // Both attempts are under way.
  ClusterWorld::Call& StartTwo() {
    auto& call = world_.Start(world_.Plan(), Memory());
    world_.Connect();
    first_ = world_.One();
    world_.Advance(milliseconds(10));
    world_.Connect();
    second_ = world_.One();
    return call;
  }
  static std::string Answer(const ArrivedRequest& request, const std::string& attachment) {
    return ClusterWorld::FrameOfAnswer(request, 0, "", attachment);
  }
  // Byte by byte, but for the last `rest`.
  void Deliver(const ArrivedRequest& to, const std::string& answer, size_t rest = 0) {
    const auto wire = world_.WiresTo(to.server).back();
    for (size_t i = 0; i + rest < answer.size(); ++i) wire->Deliver(answer.substr(i, 1));
    world_.world.Run();
  }
  void DeliverRest(const ArrivedRequest& to, const std::string& answer, size_t rest) {
    Deliver(to, answer.substr(answer.size() - rest));
  }

  std::string memory_ = std::string(10, '.');
  int released_ = 0;
  ClusterWorld world_{kTwo, Backup()};
  ArrivedRequest first_;
  ArrivedRequest second_;
};

TEST_F(RoutedCallPlacementTest, TheBytesOfTheOnlyAnswerAreReadThere) {
  auto& call = world_.Start(world_.Plan(), Memory());
  world_.Connect();
  const ArrivedRequest request = world_.One();
  Deliver(request, Answer(request, "12345"));
  EXPECT_EQ(call.ends, 1);
  EXPECT_EQ(memory_, "12345.....");
  EXPECT_EQ(world_.WiresTo(request.server).back()->landed, 5u);
  EXPECT_EQ(call.controller.response_attachment().ToString(), "12345");
  EXPECT_EQ(released_, 0);
  call.controller.response_attachment().Clear();
  EXPECT_EQ(released_, 1);
}

// The second answer comes while the first one is half there.
TEST_F(RoutedCallPlacementTest, OfTwoAnswersTheLaterOneDoesNotSpoilTheFirst) {
  auto& call = StartTwo();
  const std::string slow = Answer(first_, "aaaaaaaa");
  const std::string fast = Answer(second_, "bbbbbbbb");
  Deliver(first_, slow, 4);
  EXPECT_EQ(memory_, "aaaa......");
  Deliver(second_, fast, 2);
  EXPECT_EQ(memory_, "aaaa......") << "another attempt has it";
  DeliverRest(first_, slow, 4);
  EXPECT_EQ(call.ends, 1);
  EXPECT_EQ(memory_, "aaaaaaaa..");
  DeliverRest(second_, fast, 2);
  EXPECT_EQ(memory_, "aaaaaaaa..");
}

TEST_F(RoutedCallPlacementTest, TheWinnerIsCopiedOverWhatALoserHasLeft) {
  auto& call = StartTwo();
  const std::string slow = Answer(first_, "aaaaaaaa");
  Deliver(first_, slow, 4);
  Deliver(second_, Answer(second_, "bbbbbb"));
  EXPECT_EQ(call.ends, 1);
  EXPECT_EQ(memory_.substr(0, 6), "bbbbbb");
  EXPECT_EQ(call.controller.response_attachment().ToString(), "bbbbbb");
  // The memory is the program's again; what still comes for the loser goes nowhere.
  memory_ = "0123456789";
  DeliverRest(first_, slow, 4);
  EXPECT_EQ(memory_, "0123456789");
}

TEST_F(RoutedCallPlacementTest, AfterABrokenAnswerTheOtherAttemptMayHaveIt) {
  auto& call = StartTwo();
  Deliver(first_, Answer(first_, "aaaaaaaa"), 4);
  world_.Break(first_.server);
  EXPECT_EQ(call.ends, 0);
  const std::string answer = Answer(second_, "bbbbbb");
  Deliver(second_, answer);
  EXPECT_EQ(call.ends, 1);
  EXPECT_FALSE(call.controller.Failed()) << call.controller.ErrorText();
  EXPECT_EQ(memory_.substr(0, 6), "bbbbbb");
  EXPECT_EQ(world_.WiresTo(second_.server).back()->landed, 6u);
}

TEST_F(RoutedCallPlacementTest, ARetryLandsToo) {
  auto& call = world_.Start(world_.Plan(), Memory());
  world_.Connect();
  const ArrivedRequest request = world_.One();
  world_.Break(request.server);
  world_.Connect();
  const ArrivedRequest again = world_.One();
  Deliver(again, Answer(again, "again"));
  EXPECT_EQ(call.ends, 1);
  EXPECT_EQ(call.controller.retried_count(), 1);
  EXPECT_EQ(memory_, "again.....");
}

TEST_F(RoutedCallPlacementTest, AfterItsDeadlineOrACancellationNothingIsWritten) {
  for (const bool cancel : {false, true}) {
    memory_ = "..........";
    auto plan = world_.Plan();
    plan.backup_after = Duration::max();
    auto& call = world_.Start(plan, Memory());
    world_.Connect();
    const ArrivedRequest request = world_.One();
    const std::string answer = Answer(request, "aaaaaaaa");
    Deliver(request, answer, 4);
    EXPECT_EQ(memory_, "aaaa......");
    if (cancel) {
      call.controller.StartCancel();
      world_.world.Run();
    } else {
      world_.Advance(milliseconds(500));
    }
    EXPECT_EQ(call.ends, 1);
    EXPECT_TRUE(call.controller.Failed());
    memory_ = "0123456789";
    DeliverRest(request, answer, 4);
    EXPECT_EQ(memory_, "0123456789");
  }
  EXPECT_EQ(released_, 2);
}

}  // namespace
}  // namespace farcall
