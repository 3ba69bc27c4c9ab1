// SPDX-License-Identifier: Apache-2.0
//
// What the event loop costs: entering it, posting to it, timers, user code, waking up.

#include <benchmark/benchmark.h>
#include <sys/eventfd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "transport/base/clock.h"
#include "transport/base/unique_fd.h"
#include "transport/loop/drive/shared_sleep.h"
#include "transport/loop/drivers/loop_driver.h"
#include "transport/loop/event_loop.h"

namespace farcall {
namespace {

SteadyClock steady_clock;

std::unique_ptr<EventLoop> NewLoop() { return EventLoop::Create(steady_clock).value(); }

void RunOrPostToAFreeLoop(benchmark::State& state) {
  const auto loop = NewLoop();
  int count = 0;
  for (auto _ : state) loop->RunOrPost([&count] { benchmark::DoNotOptimize(++count); });
}
BENCHMARK(RunOrPostToAFreeLoop);

void PostAndTurn(benchmark::State& state) {
  const auto loop = NewLoop();
  const int64_t batch = state.range(0);
  int count = 0;
  for (auto _ : state) {
    for (int64_t i = 0; i < batch; ++i) loop->Post([&count] { benchmark::DoNotOptimize(++count); });
    loop->Turn();
  }
  state.SetItemsProcessed(state.iterations() * batch);
}
BENCHMARK(PostAndTurn)->Arg(1)->Arg(64);

void EmptyTurn(benchmark::State& state) {
  const auto loop = NewLoop();
  for (auto _ : state) benchmark::DoNotOptimize(loop->Turn());
}
BENCHMARK(EmptyTurn);

// With a socket's stand-in, so that each turn asks the kernel.
void EmptyTurnWithADescriptor(benchmark::State& state) {
  struct Quiet final : FdHandler {
    void OnReady(uint32_t) override {}
  };
  const auto loop = NewLoop();
  const UniqueFd fd(::eventfd(0, EFD_CLOEXEC));
  Quiet quiet;
  EpollSource::Watch watch;
  loop->RunOrPost([&] { watch = loop->fds().Add(fd.get(), EPOLLIN, quiet).value(); });
  for (auto _ : state) benchmark::DoNotOptimize(loop->Turn());
  loop->RunOrPost([&] { loop->fds().Remove(watch, fd.get()); });
}
BENCHMARK(EmptyTurnWithADescriptor);

// As calls do: a deadline each, later than those before, and cancelled when the answer is
// there. In order, or in any order.
void TimerSetAndCancel(benchmark::State& state) {
  const auto pending = static_cast<size_t>(state.range(0));
  const bool in_order = state.range(1) != 0;
  TimerQueue queue;
  int fired = 0;
  std::vector<std::unique_ptr<Timer>> timers;
  TimePoint when = steady_clock.Now();
  for (size_t i = 0; i < pending; ++i) {
    timers.push_back(std::make_unique<Timer>([&fired] { ++fired; }));
    queue.Set(*timers.back(), when += Duration(1000));
  }
  std::minstd_rand random(1);
  size_t next = 0;
  for (auto _ : state) {
    Timer& timer = *timers[in_order ? next++ % pending : random() % pending];
    queue.Cancel(timer);
    queue.Set(timer, when += Duration(1000));
  }
  for (const auto& timer : timers) queue.Cancel(*timer);
}
BENCHMARK(TimerSetAndCancel)
    ->ArgNames({"pending", "in_order"})
    ->Args({1000, 1})
    ->Args({1000, 0})
    ->Args({100'000, 0});

// Queue, turn, run with the loop released, flush.
void RunUserRoundTrip(benchmark::State& state) {
  struct Task final : UserTask {
    void Run() override { benchmark::DoNotOptimize(++count); }
    int count = 0;
  };
  const auto loop = NewLoop();
  const auto batch = static_cast<size_t>(state.range(0));
  std::vector<Task> tasks(batch);
  for (auto _ : state) {
    loop->RunOrPost([&] {
      for (Task& task : tasks) loop->RunUser(task);
    });
    loop->RunOnce();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(batch));
}
BENCHMARK(RunUserRoundTrip)->Arg(1)->Arg(64);

// What the kernel takes for each of the threads that one thread wakes, and which then sleep again:
// synchronous callers cannot have less. On one core: taskset -c 1.
void WakeSwitchAndSleep(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0));
  SharedSleep sleepers;
  constexpr uint32_t kWaker = uint32_t{1} << 31;
  std::vector<std::atomic<uint32_t>> words(count + 1);  // the last is that of who wakes them
  std::atomic<size_t> left{0};
  std::atomic<bool> over{false};
  const auto wake_all = [&] {
    for (size_t i = 0; i < count; ++i) ++words[i];
    sleepers.Wake(kWaker - 1);
  };
  const auto sleep = [&](size_t i, uint32_t turn) {
    const uint32_t bit = i == count ? kWaker : uint32_t{1} << i;
    for (uint32_t seen = sleepers.wakes(); words[i] == turn; seen = sleepers.wakes()) {
      sleepers.Sleep(seen, bit);
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      for (uint32_t turn = 0;; ++turn) {
        sleep(i, turn);
        if (over) return;
        if (--left != 0) continue;
        ++words[count];
        sleepers.Wake(kWaker);
      }
    });
  }
  uint32_t turn = 0;
  for (auto _ : state) {
    left = count;
    wake_all();
    sleep(count, turn++);
  }
  over = true;
  wake_all();
  for (std::thread& thread : threads) thread.join();
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(count + 1));
}
BENCHMARK(WakeSwitchAndSleep)->Arg(15)->UseRealTime();

// Two driven loops post to each other; the time is that of one hop.
void HopToAnotherThread(benchmark::State& state) {
  struct Ball {
    EventLoop* here;
    EventLoop* there;
    std::atomic<int64_t>* ends;
    int64_t left;
    void operator()() {
      if (left == 0) {
        ++*ends;
        return ends->notify_one();
      }
      there->Post(Ball{there, here, ends, left - 1});
    }
  };
  constexpr int64_t kHops = 1000;
  LoopDriverOptions options;
  options.polling.mode = static_cast<PollingMode>(state.range(0));
  std::atomic<int64_t> ends{0};
  const auto a = NewLoop();
  const auto b = NewLoop();
  const auto drive_a = LoopDriver::Start(*a, options).value();
  const auto drive_b = LoopDriver::Start(*b, options).value();
  while (state.KeepRunningBatch(kHops)) {
    const int64_t before = ends;
    a->Post(Ball{a.get(), b.get(), &ends, kHops - 1});
    ends.wait(before);
  }
}
BENCHMARK(HopToAnotherThread)
    ->ArgName("mode")
    ->Arg(static_cast<int>(PollingMode::kEvent))
    ->Arg(static_cast<int>(PollingMode::kAdaptive))
    ->Arg(static_cast<int>(PollingMode::kBusy))
    ->UseRealTime();

}  // namespace
}  // namespace farcall
