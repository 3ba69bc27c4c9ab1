// SPDX-License-Identifier: Apache-2.0
//
// Who cancels a call, and who is told of it.

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <thread>
#include <vector>

#include "rpc/closure.h"
#include "rpc/controller_testing.h"

namespace farcall {
namespace {

TEST(ControllerCancelTest, BeforeTheCallItDoesNotBegin) {
  Controller controller;
  const auto calls = std::make_shared<CancelledCalls>();
  controller.StartCancel();
  EXPECT_TRUE(controller.IsCanceled());
  EXPECT_FALSE(controller.Begin(calls.get(), 5));
  EXPECT_TRUE(calls->cancelled.empty());
  EXPECT_EQ(calls.use_count(), 1);
}

TEST(ControllerCancelTest, DuringTheCallItReachesThatCall) {
  Controller controller;
  const auto calls = std::make_shared<CancelledCalls>();
  ASSERT_TRUE(controller.Begin(calls.get(), 5));
  controller.StartCancel();
  EXPECT_EQ(calls->cancelled, (std::vector<uint64_t>{5}));
  controller.End(ECANCELED, "cancelled by the caller", 0);
  EXPECT_EQ(controller.ErrorCode(), ECANCELED);
}

TEST(ControllerCancelTest, AfterTheCallItReachesNothing) {
  Controller controller;
  const auto calls = std::make_shared<CancelledCalls>();
  ASSERT_TRUE(controller.Begin(calls.get(), 5));
  controller.End(0, "", 0);
  EXPECT_EQ(calls.use_count(), 1) << "nothing of the call is kept";
  controller.StartCancel();
  EXPECT_TRUE(calls->cancelled.empty());
  EXPECT_FALSE(controller.Failed());
  EXPECT_FALSE(controller.IsCanceled());
  EXPECT_TRUE(controller.Begin(calls.get(), 6)) << "nor the next one";
  EXPECT_TRUE(calls->cancelled.empty());
  controller.End(0, "", 0);
}

TEST(ControllerCancelTest, AnIdReachesItsCallAndNoLaterOne) {
  Controller controller;
  const auto calls = std::make_shared<CancelledCalls>();
  const CallId first = controller.call_id();
  ASSERT_TRUE(controller.Begin(calls.get(), 5));
  EXPECT_EQ(controller.call_id(), first);
  controller.End(0, "", 0);
  EXPECT_NE(controller.call_id(), first);

  const auto late = [&] {
    controller.StartCancel(first);
    EXPECT_FALSE(controller.IsCanceled());
  };
  late();
  controller.Reset();
  late();
  ASSERT_TRUE(controller.Begin(calls.get(), 6));
  late();
  EXPECT_TRUE(calls->cancelled.empty());
  controller.StartCancel(controller.call_id());
  EXPECT_EQ(calls->cancelled, (std::vector<uint64_t>{6}));
  EXPECT_TRUE(controller.IsCanceled());
  controller.End(ECANCELED, "cancelled by the caller", 0);
  EXPECT_TRUE(controller.IsCanceled()) << "it tells of the last call";
  EXPECT_TRUE(controller.Begin(calls.get(), 7));
  EXPECT_FALSE(controller.IsCanceled());
  controller.End(0, "", 0);
}

TEST(ControllerCancelTest, AnIdThatWasTakenBeforeItsCallKeepsItFromBeginning) {
  Controller controller;
  const auto calls = std::make_shared<CancelledCalls>();
  ASSERT_TRUE(controller.Begin(calls.get(), 5));
  controller.End(0, "", 0);
  const CallId second = controller.call_id();
  controller.StartCancel(second);
  EXPECT_FALSE(controller.Begin(calls.get(), 6));
  EXPECT_TRUE(controller.IsCanceled());
  controller.End(ECANCELED, "cancelled by the caller", 0);
  EXPECT_TRUE(controller.Begin(calls.get(), 7));
  EXPECT_TRUE(calls->cancelled.empty());
  controller.End(0, "", 0);
}

TEST(ControllerCancelTest, MayComeFromAnyThreadAtAnyTime) {
  class Counts final : public Cancellable {
   public:
    void Cancel(uint64_t) override { ++cancels; }
    std::atomic<int> cancels{0};
  };
  for (int round = 0; round < 300; ++round) {
    Controller controller;
    const auto calls = std::make_shared<Counts>();
    std::thread canceller([&] { controller.StartCancel(); });
    const bool began = controller.Begin(calls.get(), 1);
    if (began) {
      (void)controller.IsCanceled();
      controller.End(0, "", 0);
    }
    canceller.join();
    EXPECT_LE(calls->cancels, 1);
    EXPECT_EQ(controller.IsCanceled(), !began || calls->cancels == 1);
  }
}

// CancelledCalls follow each other on one controller, and who cancels the first comes at any time.
TEST(ControllerCancelTest, AnIdMayComeAtAnyTimeToo) {
  for (int round = 0; round < 300; ++round) {
    Controller controller;
    const auto calls = std::make_shared<CancelledCalls>();  // only the canceller writes to it
    std::thread canceller([&, first = controller.call_id()] { controller.StartCancel(first); });
    for (uint64_t id = 1; id <= 3; ++id) {
      const bool began = controller.Begin(calls.get(), id);
      EXPECT_TRUE(began || id == 1) << id;
      controller.End(began ? 0 : ECANCELED, "", 0);
    }
    canceller.join();
    EXPECT_TRUE(calls->cancelled.empty() || calls->cancelled == std::vector<uint64_t>{1});
  }
}

class NotifyOnCancelTest : public ::testing::Test {
 protected:
  void Ask() {
    controller_.NotifyOnCancel(NewClosure([this] {
      ++runs_;
      canceled_then_ = controller_.IsCanceled();  // without a lock held
    }));
  }

  Controller controller_;
  int runs_ = 0;
  bool canceled_then_ = false;
};

TEST_F(NotifyOnCancelTest, RunsWhenTheConnectionClosesAndNotAgainAtTheEnd) {
  Ask();
  EXPECT_EQ(runs_, 0);
  controller_.NotifyCancel(/*closed=*/true);
  EXPECT_EQ(runs_, 1);
  EXPECT_TRUE(canceled_then_);
  controller_.NotifyCancel(/*closed=*/false);
  EXPECT_EQ(runs_, 1);
}

TEST_F(NotifyOnCancelTest, RunsAtTheEndOfACallThatNobodyCancelled) {
  Ask();
  controller_.NotifyCancel(/*closed=*/false);
  EXPECT_EQ(runs_, 1);
  EXPECT_FALSE(canceled_then_);
  controller_.NotifyCancel(/*closed=*/true);
  EXPECT_EQ(runs_, 1);
}

TEST_F(NotifyOnCancelTest, RunsAtOnceWhereItIsTooLateToWait) {
  controller_.NotifyCancel(/*closed=*/true);
  Ask();
  EXPECT_EQ(runs_, 1);
  EXPECT_TRUE(canceled_then_);
}

TEST_F(NotifyOnCancelTest, RunsAtOnceAfterTheEndToo) {
  controller_.NotifyCancel(/*closed=*/false);
  Ask();
  EXPECT_EQ(runs_, 1);
}

TEST_F(NotifyOnCancelTest, ASecondOneReplacesTheFirstWhichIsRun) {
  int first = 0;
  controller_.NotifyOnCancel(NewClosure([&] { ++first; }));
  Ask();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(runs_, 0);
  controller_.NotifyCancel(/*closed=*/true);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(runs_, 1);
}

TEST_F(NotifyOnCancelTest, RunsOnceWhoeverIsFirst) {
  for (int round = 0; round < 300; ++round) {
    Controller controller;
    std::atomic<int> runs{0};
    std::thread closer([&] { controller.NotifyCancel(/*closed=*/true); });
    std::thread ender([&] { controller.NotifyCancel(/*closed=*/false); });
    controller.NotifyOnCancel(NewClosure([&] { ++runs; }));
    closer.join();
    ender.join();
    EXPECT_EQ(runs, 1);
  }
}

}  // namespace
}  // namespace farcall
