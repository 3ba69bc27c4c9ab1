// SPDX-License-Identifier: Apache-2.0
//
// Who sends what synchronous callers ask: each for itself, or among many the one that drives.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "transport/base/clock.h"
#include "transport/loop/drivers/loop_driver.h"
#include "transport/loop/loop_testing.h"
#include "transport/loop/loop_visitor.h"
#include "transport/loop/loop_visitor_testing.h"

namespace farcall {
namespace {

// What a caller sends, and who has flushed it. The call ends with that.
class Request final : public Flushable {
 public:
  explicit Request(EventLoop& loop) : loop_(loop) {}
  // Returns the thread that flushed it; `flushed`: before the caller began to wait.
  std::thread::id Call(bool waits, bool& flushed) {
    LoopVisitor visitor;
    visitor_ = &visitor;
    flushed_ = false;
    const auto queue = [&] {
      loop_.FlushLater(*this);
      if (waits) loop_.CallerWaits();
    };
    while (!loop_.TryRun(queue)) std::this_thread::yield();
    flushed = flushed_;
    visitor.Wait(loop_);
    return by_;
  }
  void Flush() override {
    by_ = std::this_thread::get_id();
    flushed_ = true;
    visitor_->Done(loop_);
  }

 private:
  EventLoop& loop_;
  LoopVisitor* visitor_ = nullptr;
  std::thread::id by_;
  std::atomic<bool> flushed_{false};
};

class LoopCallersTest : public testing::TestWithParam<PollingMode> {
 protected:
  void Start() {
    LoopDriverOptions options;
    options.polling.mode = GetParam();
    driver_ = *LoopDriver::Start(*loop_, options);
  }
  // Callers whose calls only EndCalls ends.
  void StartCalls(int count) {
    for (int i = 0; i < count; ++i) {
      Caller& caller = *callers_.emplace_back(std::make_unique<Caller>(*loop_));
      threads_.emplace_back([&caller] { caller.Call(std::nullopt); });
      ASSERT_TRUE(caller.begun.Wait());
    }
  }
  void EndCalls() {
    loop_->RunOrPost([this] {
      for (const auto& caller : callers_) caller->End();
    });
    for (std::thread& thread : threads_) thread.join();
  }

  SteadyClock clock_;
  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create(clock_);
  std::unique_ptr<LoopDriver> driver_;
  std::vector<std::unique_ptr<Caller>> callers_;
  std::vector<std::thread> threads_;
};

TEST_P(LoopCallersTest, ARequestIsFlushedAtOnceWhereNoOtherCallerDrives) {
  for (const bool threads : {false, true}) {
    if (threads) Start();
    Request request(*loop_);
    for (int i = 0; i < 100; ++i) {
      bool flushed = false;
      EXPECT_EQ(request.Call(/*waits=*/true, flushed), std::this_thread::get_id());
      EXPECT_TRUE(flushed);
    }
  }
}

TEST_P(LoopCallersTest, OfFewEachFlushesItsOwn) {
  Start();
  StartCalls(2);
  Request request(*loop_);
  for (int i = 0; i < 100; ++i) {
    bool flushed = false;
    EXPECT_EQ(request.Call(/*waits=*/true, flushed), std::this_thread::get_id());
    EXPECT_TRUE(flushed);
  }
  EndCalls();
}

TEST_P(LoopCallersTest, AmongManyEachRequestIsFlushed) {
  constexpr int kCalls = 300;
  Start();
  std::vector<std::unique_ptr<Request>> requests;
  for (int i = 0; i < 8; ++i) {
    Request& request = *requests.emplace_back(std::make_unique<Request>(*loop_));
    threads_.emplace_back([&request] {
      bool flushed = false;
      for (int call = 0; call < kCalls; ++call) request.Call(/*waits=*/true, flushed);
    });
  }
  EndCalls();
}

// With busy polling the one that drives never sleeps.
class LoopBusyCallersTest : public LoopCallersTest {};

TEST_P(LoopBusyCallersTest, OfManyTheOneThatDrivesFlushesForAll) {
  Start();
  StartCalls(6);
  const std::thread::id here = std::this_thread::get_id();
  Request request(*loop_);
  bool flushed = false;
  // Until all wait, and one of them drives.
  const TimePoint late = clock_.Now() + kTestTimeout;
  while (request.Call(/*waits=*/true, flushed) == here && clock_.Now() < late) continue;
  for (int i = 0; i < 100; ++i) {
    EXPECT_NE(request.Call(/*waits=*/true, flushed), here);
    // Who computes meanwhile does not leave it.
    EXPECT_EQ(request.Call(/*waits=*/false, flushed), here);
    EXPECT_TRUE(flushed);
  }
  EndCalls();
}

INSTANTIATE_TEST_SUITE_P(Polling, LoopCallersTest,
                         testing::Values(PollingMode::kEvent, PollingMode::kAdaptive,
                                         PollingMode::kBusy));
INSTANTIATE_TEST_SUITE_P(Polling, LoopBusyCallersTest, testing::Values(PollingMode::kBusy));

}  // namespace
}  // namespace farcall
