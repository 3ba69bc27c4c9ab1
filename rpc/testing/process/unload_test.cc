// SPDX-License-Identifier: Apache-2.0
//
// A program that knows nothing of farcall loads an object that has it inside, uses it, and unloads
// it again: no thread is left, and it can be loaded once more.

#include <dlfcn.h>

#include <chrono>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>

#include "gtest/gtest.h"

namespace {

size_t Threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

bool EndsWithThreads(size_t threads) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (Threads() > threads && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return Threads() <= threads;
}

// Loads it, runs it, unloads it.
void UseOnce(const std::string& name) {
  void* const plugin = dlopen(("rpc/testing/process/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(plugin, nullptr) << dlerror();
  const auto run = reinterpret_cast<int (*)()>(dlsym(plugin, "FarcallPluginRun"));
  ASSERT_NE(run, nullptr) << dlerror();
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(dlclose(plugin), 0);
}

TEST(UnloadTest, AnObjectIsUsedAgainAndAgain) {
  const size_t threads = Threads();
  for (int i = 0; i < 5; ++i) {
    UseOnce("libfarcall_plugin.so");
    EXPECT_TRUE(EndsWithThreads(threads)) << Threads() << " of " << threads;
  }
}

// Threads of the program that have been in it end after it was unloaded.
TEST(UnloadTest, ThreadsThatUsedItMayEndLater) {
  const size_t threads = Threads();
  for (int i = 0; i < 5; ++i) {
    std::thread([] { UseOnce("libfarcall_plugin.so"); }).join();
    EXPECT_TRUE(EndsWithThreads(threads)) << Threads() << " of " << threads;
  }
}

}  // namespace
