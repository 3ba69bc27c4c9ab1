// SPDX-License-Identifier: Apache-2.0
//
// Echo calls of two TCP connections, of two channels and then of one, whose loops at both ends are
// driven by two threads in turns: for a trace of all stores of the process (valgrind --tool=lackey
// --trace-mem=yes), in which tools/lib/shared_lines.py looks for cache lines that both threads
// write. A store to one of the words of `Marks` says there who runs.
//
//   two_loops CALLS IN_FLIGHT

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "benchmarks/micro/stepped_echo.h"
#include "transport/base/clock.h"
#include "transport/base/threads/thread_slot.h"

namespace farcall::bench {
namespace {

// At kMarksAddress. `nobody_runs` is written when a thread's turn is over.
struct Marks {
  volatile uint64_t begin;
  volatile uint64_t runs[2];
  volatile uint64_t nobody_runs;
  volatile uint64_t end;
};
constexpr uintptr_t kMarksAddress = 0x2'4000'0000;
constexpr size_t kPage = 4096;

Marks& MapMarks() {
  void* const at = ::mmap(reinterpret_cast<void*>(kMarksAddress), kPage, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  Check(at == reinterpret_cast<void*>(kMarksAddress), "the page of the marks is free");
  return *static_cast<Marks*>(at);
}

// For who reads the trace: what only this thread has, its stack and what is thread_local.
void PrintOwnMemory() {
  pthread_attr_t attributes;
  Check(pthread_getattr_np(pthread_self(), &attributes) == 0, "a thread knows its stack");
  void* stack = nullptr;
  size_t bytes = 0;
  pthread_attr_getstack(&attributes, &stack, &bytes);
  pthread_attr_destroy(&attributes);
  const auto from = reinterpret_cast<uintptr_t>(stack);
  const auto own = static_cast<uintptr_t>(pthread_self());
  std::printf("own %zx %zx\n", from, from + bytes);
  // The block of the C library, behind that of the thread_local variables.
  std::printf("own %zx %zx\n", own - kPage, own + kPage);
}

// Two threads, of which one runs at a time.
class TwoThreads {
 public:
  TwoThreads() {
    for (int i = 0; i < 2; ++i) threads_[i] = std::thread([this, i] { Serve(i); });
  }
  ~TwoThreads() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  // Runs `work` on thread `i`, 0 or 1, and waits for it.
  void Run(int i, const std::function<void()>& work) {
    std::unique_lock<std::mutex> lock(mutex_);
    work_[i] = &work;
    changed_.notify_all();
    changed_.wait(lock, [&] { return work_[i] == nullptr; });
  }

 private:
  void Serve(int i) {
    PrintOwnMemory();
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return over_ || work_[i] != nullptr; });
      if (over_) return;
      lock.unlock();
      (*work_[i])();
      lock.lock();
      work_[i] = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_[2] = {};
  bool over_ = false;
  std::thread threads_[2];
};

// For who reads the trace: which file is mapped where.
void PrintMappings() {
  std::ifstream mappings("/proc/self/maps");
  for (std::string line; std::getline(mappings, line);) {
    if (line.find(" r-xp ") != std::string::npos) std::printf("%s\n", line.c_str());
  }
}

[[noreturn]] void Run(int calls, int in_flight, int channels) {
  constexpr TransportKind kTransport = TransportKind::kTcp;
  std::printf("channels %d\n", channels);
  Marks& marks = MapMarks();
  // In a trace a call takes seconds on a busy machine, and what is done once a second would count
  // as if each call did it.
  const ManualClock clock;
  SteppedWorld world(2, &clock);
  EchoService service;
  Server server;
  StartEchoServer(world, service, server, kTransport);
  TwoThreads threads;
  std::vector<std::unique_ptr<Channel>> made;
  for (int i = 0; i < channels; ++i) {
    made.push_back(MakeEchoChannel(world, server, kTransport, /*loops=*/2 / channels));
  }
  // The loop that each thread steps: that of its own channel; or, of a channel for both, the loop
  // on which calls of this thread go, by its slot.
  size_t loops[2] = {0, 1};
  if (channels == 1) {
    for (int i = 0; i < 2; ++i) threads.Run(i, [&] { loops[i] = ThreadSlot() % 2; });
    Check(loops[0] != loops[1], "the threads call on a loop each");
  }
  // All loops are stepped by their own threads from the first call on.
  const auto turn = [&](size_t i) {
    marks.runs[i] = 1;
    world.client_loop(loops[i]).RunOnce();
    world.server_loop(i).RunOnce();
    marks.nobody_runs = 1;
  };
  const std::function<void()> turns[2] = {[&] { turn(0); }, [&] { turn(1); }};
  const auto step = [&] {
    for (int i = 0; i < 2; ++i) threads.Run(i, turns[i]);
    world.StepHost();
  };
  std::optional<EchoCalls> echoes[2];
  for (int i = 0; i < 2; ++i) {
    threads.Run(i, [&] { echoes[i].emplace(*made[i % made.size()], in_flight); });
    echoes[i]->Connect(kTransport, step);
  }
  const auto run = [&](int count) {
    for (int i = 0; i < 2; ++i) threads.Run(i, [&] { echoes[i]->Start(count); });
    while (echoes[0]->busy() || echoes[1]->busy()) step();
  };
  run(calls);
  marks.begin = 1;
  run(calls);
  marks.end = 1;
  PrintOwnMemory();
  PrintMappings();
  // Destroying all this would be a sixth of the trace, and is not looked at.
  std::fflush(stdout);
  std::_Exit(0);
}

// In a process of its own, forked from one that is loaded: loading is most of a trace.
[[nodiscard]] bool RunInChild(int calls, int in_flight, int channels) {
  const pid_t child = ::fork();
  if (child == 0) Run(calls, in_flight, channels);
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace
}  // namespace farcall::bench

int main(int argc, char** argv) {
  int calls = 0;
  int in_flight = 0;
  if (argc != 3 || !absl::SimpleAtoi(argv[1], &calls) || !absl::SimpleAtoi(argv[2], &in_flight) ||
      in_flight < 1 || calls < in_flight) {
    std::fprintf(stderr, "usage: two_loops CALLS IN_FLIGHT\n");
    return 2;
  }
  for (const int channels : {2, 1}) {
    if (!farcall::bench::RunInChild(calls, in_flight, channels)) return 1;
  }
}
