// SPDX-License-Identifier: Apache-2.0
//
// The monitor on a thread of its own, and drives that are taken at every moment.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "transport/base/clock.h"
#include "transport/loop/drive/blocking.h"
#include "transport/loop/drivers/loop_driver.h"
#include "transport/loop/drivers/loop_monitor.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

// The monitor's own thread, which is asleep each time.
TEST(LoopMonitorThreadTest, UserCodeWakesTheMonitor) {
  SteadyClock clock;
  const std::unique_ptr<EventLoop> loop = *EventLoop::Create(clock);
  const auto monitor = *LoopMonitor::Start(nullptr);
  auto driver = *LoopDriver::Start(*loop, LoopDriverOptions(), monitor.get());
  for (int i = 0; i < 50; ++i) {
    while (!monitor->asleep()) std::this_thread::yield();
    TestEvent done;
    loop->RunOrPost([&] {
      TestEvent* const end = &done;
      auto release = std::make_shared<TestEvent>();
      UserClosure::Queue(*loop, [release, end] {
        EXPECT_TRUE(release->Wait());
        end->Signal();
      });
      UserClosure::Queue(*loop, [release] { release->Signal(); });
    });
    ASSERT_TRUE(done.Wait());
  }
  // Afterwards the monitor does not look at it any more, and has counted.
  driver.reset();
  EXPECT_GE(monitor->counts().taken_over, 50u);
}

// Drives are taken at every moment: nothing is lost, doubled or left behind.
class LoopMonitorStormTest : public testing::TestWithParam<PollingMode> {};

TEST_P(LoopMonitorStormTest, EveryPieceRunsOnceAndAllOutputLeaves) {
  constexpr int kThreads = 3;
  constexpr int kEach = 1'500;
  SteadyClock clock;
  const std::unique_ptr<EventLoop> loop = *EventLoop::Create(clock);
  LoopMonitor monitor{nullptr};
  LoopDriverOptions options;
  options.polling.mode = GetParam();
  options.max_spares = 3;
  auto driver = *LoopDriver::Start(*loop, options, &monitor);
  std::atomic<bool> stop{false};
  std::thread looker([&] {
    while (!stop) {
      if (!monitor.Look() && monitor.PrepareSleep()) std::this_thread::yield();
    }
  });
  std::vector<std::atomic<int>> ran(size_t{kThreads} * kEach);
  TestEvent flushed;
  TestEvent done;
  const auto piece = [&](size_t i) {
    auto* const output = new CountingOutput([&] { flushed.Signal(); });
    // Maybe later than this piece.
    loop->RunOrPost([&loop, output] { loop->FlushLater(*output); });
    std::mt19937 random(static_cast<uint32_t>(i));
    switch (random() % 4) {
      case 0:
        for (unsigned n = static_cast<unsigned>(random()) % 3'000; n > 0; --n) {
          std::atomic_signal_fence(std::memory_order_seq_cst);
        }
        break;
      case 1:
        std::this_thread::yield();
        break;
      case 2:
        (void)BeforeBlocking();
        break;
      default:
        break;
    }
    ++ran[i];
    done.Signal();
    return output;
  };
  std::mutex outputs_mutex;
  std::vector<std::unique_ptr<CountingOutput>> outputs;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = t * kEach; i < (t + 1) * kEach; ++i) {
        RunUserCode(*loop, [&, i] {
          std::unique_ptr<CountingOutput> output(piece(i));
          std::lock_guard<std::mutex> lock(outputs_mutex);
          outputs.push_back(std::move(output));
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int some = 0; some < kThreads * kEach; some += 100) ASSERT_TRUE(done.Wait(some));
  ASSERT_TRUE(done.Wait(kThreads * kEach));
  // Of those that lost the drive too, and though nothing else happens on the loop.
  EXPECT_TRUE(flushed.Wait(kThreads * kEach));
  driver.reset();
  stop = true;
  looker.join();
  for (const std::atomic<int>& count : ran) EXPECT_EQ(count, 1);
  for (const auto& output : outputs) EXPECT_EQ(output->flushes, 1);
  EXPECT_GT(monitor.counts().taken_over + monitor.counts().stalled, 0u);
}

INSTANTIATE_TEST_SUITE_P(Modes, LoopMonitorStormTest,
                         testing::Values(PollingMode::kEvent, PollingMode::kAdaptive),
                         [](const auto& mode) {
                           return std::string(mode.param == PollingMode::kEvent ? "Event"
                                                                                : "Adaptive");
                         });

}  // namespace
}  // namespace farcall
