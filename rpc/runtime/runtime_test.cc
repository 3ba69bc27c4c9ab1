// SPDX-License-Identifier: Apache-2.0

#include "rpc/runtime/runtime.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rpc/naming/name_cache.h"
#include "rpc/runtime/runtime_testing.h"
#include "transport/base/host/cores.h"
#include "transport/loop/loop_group.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

TEST(RuntimeTest, HasTheLoopsThatItWasToldTo) {
  EXPECT_EQ(MakeRuntime(WithLoops(3))->parts().loops->size(), 3u);
  const size_t usual = MakeRuntime()->parts().loops->size();
  EXPECT_EQ(usual, static_cast<size_t>(std::min(8, UsableCores())));
}

TEST(RuntimeTest, BadOptionsAreRefusedByName) {
  EXPECT_EQ(Runtime::Create(WithLoops(257)).status().message(),
            "event_loops is 257; it must be from 1 to 256, or default (0)");
}

std::string NetworkStatusOf(const RuntimeOptions& options) {
  for (const auto& [name, value, from] : MakeRuntime(options)->status().options) {
    if (name == "rdma.network_status") return value;
  }
  return "unknown";
}

TEST(RuntimeTest, TheEnvironmentNamesTheNetworkStatusWhereNoOptionDoes) {
  ASSERT_EQ(unsetenv("FARCALL_NETWORK_STATUS"), 0);
  EXPECT_EQ(NetworkStatusOf(WithLoops(1)), "none");
  ASSERT_EQ(setenv("FARCALL_NETWORK_STATUS", "/etc/podinfo/network-status", 1), 0);
  EXPECT_EQ(NetworkStatusOf(WithLoops(1)), "/etc/podinfo/network-status");
  RuntimeOptions options = WithLoops(1);
  options.rdma.network_status = "/run/other";
  EXPECT_EQ(NetworkStatusOf(options), "/run/other");
  ASSERT_EQ(unsetenv("FARCALL_NETWORK_STATUS"), 0);
}

TEST(RuntimeTest, TakesTheOperatorsSettingsOrDoesNotStart) {
  ASSERT_EQ(setenv("FARCALL_EVENT_LOOPS", "2", 1), 0);
  EXPECT_EQ(MakeRuntime()->parts().loops->size(), 2u);
  EXPECT_EQ(MakeRuntime(WithLoops(1))->parts().loops->size(), 1u) << "as the program says";
  ASSERT_EQ(setenv("FARCALL_EVENT_LOOPS", "many", 1), 0);
  EXPECT_EQ(Runtime::Create({}).status().message(),
            "FARCALL_EVENT_LOOPS: event_loops is 'many'; it must be from 1 to 256, or default (0)");
  ASSERT_EQ(unsetenv("FARCALL_EVENT_LOOPS"), 0);
  ASSERT_EQ(setenv("FARCALL_TRAFFIC_CLASS", "af31", 1), 0);
  EXPECT_EQ(MakeRuntime()->parts().traffic_class, 104);
  ASSERT_EQ(unsetenv("FARCALL_TRAFFIC_CLASS"), 0);
}

TEST(RuntimeTest, ItsPartsAreThere) {
  const auto runtime = MakeRuntime(WithLoops(1));
  const RuntimeParts& parts = runtime->parts();
  EXPECT_NE(parts.clock, nullptr);
  EXPECT_NE(parts.transport, nullptr);
  EXPECT_NE(parts.pool, nullptr);
  EXPECT_TRUE(parts.log != nullptr);
  TestEvent ran;
  std::thread::id thread;
  EXPECT_TRUE(parts.run_blocking([&] {
    thread = std::this_thread::get_id();
    ran.Signal();
  }));
  ASSERT_TRUE(ran.Wait());
  EXPECT_NE(thread, std::this_thread::get_id());
}

// As many names as are looked up at once, where their name servers do not answer.
TEST(RuntimeTest, NamesThatAreSlowHoldUpNoFile) {
  TestEvent begun;
  TestEvent leave;
  TestEvent ran;
  const auto runtime = MakeRuntime(WithLoops(1));
  for (size_t i = 0; i < NameCache::kAtOnce; ++i) {
    EXPECT_TRUE(runtime->parts().run_blocking([&] {
      begun.Signal();
      EXPECT_TRUE(leave.Wait());
    }));
  }
  EXPECT_TRUE(begun.Wait(NameCache::kAtOnce));
  EXPECT_TRUE(runtime->parts().run_blocking([&] { ran.Signal(); }));
  EXPECT_TRUE(ran.Wait());
  leave.Signal();
}

TEST(RuntimeTest, ItsLoopsAreDriven) {
  const auto runtime = MakeRuntime(WithLoops(4));
  TestEvent ran;
  for (size_t i = 0; i < 4; ++i) {
    runtime->parts().loops->at(i).Post([&] { ran.Signal(); });
  }
  EXPECT_TRUE(ran.Wait(4));
}

TEST(RuntimeTest, TheDefaultOneIsMadeOnce) {
  std::vector<std::thread> threads;
  std::atomic<Runtime*> first{nullptr};
  std::atomic<bool> differ{false};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto runtime = Runtime::Default();
      ASSERT_TRUE(runtime.ok()) << runtime.status();
      Runtime* seen = nullptr;
      if (!first.compare_exchange_strong(seen, *runtime) && seen != *runtime) differ = true;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_NE(first, nullptr);
  EXPECT_FALSE(differ);
}

TEST(RuntimeTest, ManyMayLiveAtOnceAndEndIdle) {
  for (const PollingMode mode : {PollingMode::kEvent, PollingMode::kAdaptive, PollingMode::kBusy}) {
    RuntimeOptions options = WithLoops(2);
    options.polling.mode = mode;
    std::vector<std::unique_ptr<Runtime>> runtimes;
    for (int i = 0; i < 8; ++i) runtimes.push_back(MakeRuntime(options));
  }
}

TEST(RuntimeTest, OnPartsOfTheCallersMaking) {
  const auto whole = MakeRuntime(WithLoops(1));
  RuntimeParts parts = whole->parts();
  parts.log = nullptr;
  const auto borrowing = Runtime::On(parts);
  EXPECT_EQ(borrowing->parts().loops, parts.loops);
  EXPECT_TRUE(borrowing->parts().log != nullptr) << "spdlog's";
}

TEST(RuntimeDeathTest, NoPartIsMissing) {
  EXPECT_DEATH((void)Runtime::On({}), "a runtime has all its parts");
}

TEST(RuntimeTest, AProcessorThatIsNoneIsTold) {
  RuntimeOptions options;
  options.cpus = {65'535};
  const auto runtime = Runtime::Create(options);
  EXPECT_EQ(runtime.status().message(),
            "cpu 65535 is none that this process may run on (taskset -p $$)");
}

}  // namespace
}  // namespace farcall
