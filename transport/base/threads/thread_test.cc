// SPDX-License-Identifier: Apache-2.0

#include "transport/base/threads/thread.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "transport/base/host/cores.h"

namespace farcall {
namespace {

sigset_t MaskInside() {
  sigset_t mask;
  sigemptyset(&mask);
  auto thread =
      StartThread("farcall-test", [&mask] { pthread_sigmask(SIG_SETMASK, nullptr, &mask); });
  EXPECT_TRUE(thread.ok()) << thread.status();
  thread->join();
  return mask;
}

TEST(ThreadTest, RunsTheFunctionOnAnotherThread) {
  std::thread::id inside;
  auto thread = StartThread("farcall-test", [&inside] { inside = std::this_thread::get_id(); });
  ASSERT_TRUE(thread.ok()) << thread.status();
  const std::thread::id id = thread->get_id();
  thread->join();
  EXPECT_EQ(inside, id);
  EXPECT_NE(inside, std::this_thread::get_id());
}

TEST(ThreadTest, BearsItsNameEvenIfTheCallersCopyIsGone) {
  std::string seen;
  auto name = std::make_unique<std::string>("farcall-name-15");
  std::atomic<bool> gone{false};
  auto thread = StartThread(name->c_str(), [&] {
    while (!gone) std::this_thread::yield();
    char buffer[16] = {};
    pthread_getname_np(pthread_self(), buffer, sizeof(buffer));
    seen = buffer;
  });
  name.reset();
  gone = true;
  ASSERT_TRUE(thread.ok()) << thread.status();
  thread->join();
  EXPECT_EQ(seen, "farcall-name-15");
}

TEST(ThreadTest, LeavesTheProgramsSignalsToTheProgramsThreads) {
  const sigset_t mask = MaskInside();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD, SIGALRM, SIGPIPE}) {
    EXPECT_EQ(sigismember(&mask, signal), 1) << signal;
  }
}

TEST(ThreadTest, LetsFaultsAndProfilersThrough) {
  const sigset_t mask = MaskInside();
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) {
    EXPECT_EQ(sigismember(&mask, signal), 0) << signal;
  }
}

TEST(ThreadTest, KeepsBlockedWhatItsMakerBlocks) {
  sigset_t profiling;
  sigemptyset(&profiling);
  sigaddset(&profiling, SIGPROF);
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &profiling, &before);
  const sigset_t mask = MaskInside();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(sigismember(&mask, SIGPROF), 1);
}

std::vector<int> CpusInside(std::vector<int> cpus) {
  std::vector<int> inside;
  StartThread(
      "cpus", [&] { inside = AllowedCpus(); }, std::move(cpus))
      ->join();
  return inside;
}

TEST(ThreadTest, MayUseMoreProcessorsThanItsMaker) {
  const std::vector<int> all = AllowedCpus();
  std::thread([&] {
    ASSERT_TRUE(RunOnlyOn({all.front()}));
    EXPECT_EQ(CpusInside({}), std::vector<int>{all.front()});
    EXPECT_EQ(CpusInside(all), all);
    EXPECT_EQ(CpusInside({all.front() + 1, all.front() + 2}), std::vector<int>{all.front()})
        << "not those of the maker and more";
  }).join();
  EXPECT_EQ(CpusInside({all.front()}), all) << "never fewer";
}

TEST(ThreadTest, LeavesTheMakersMaskAsItWas) {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  MaskInside();
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < NSIG; ++signal) {
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal)) << signal;
  }
}

}  // namespace
}  // namespace farcall
