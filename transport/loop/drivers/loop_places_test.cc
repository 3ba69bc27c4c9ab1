// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/drivers/loop_places.h"

#include <thread>

#include "gtest/gtest.h"
#include "transport/base/clock.h"
#include "transport/base/host/cores.h"

namespace farcall {
namespace {

class LoopPlacesTest : public testing::Test {
 protected:
  LoopPlacesTest() {
    for (int i = 0; i < 3; ++i) loops_.push_back(EventLoop::Create(clock_).value());
  }
  std::unique_ptr<LoopPlaces> Make(LoopPlaces::Options options) {
    auto places = LoopPlaces::Create(loops_, options);
    EXPECT_TRUE(places.ok()) << places.status();
    return *std::move(places);
  }
  // Of two nodes; this thread's own processors are on the second.
  HostCpus Host() const {
    HostCpus host = {{{0, {8000, 8001, 8002, 8003}}, {1, AllowedCpus()}}, AllowedCpus()};
    for (int cpu = 8000; cpu < 8008; ++cpu) host.allowed.push_back(cpu);
    for (int cpu = 8004; cpu < 8008; ++cpu) host.nodes[1].cpus.push_back(cpu);
    return host;
  }
  std::vector<int> MemoryNodes() const {
    std::vector<int> nodes;
    for (const auto& loop : loops_) nodes.push_back(loop->memory_node());
    return nodes;
  }
  static std::vector<int> CpusAt(ThreadPlace& place) {
    std::vector<int> cpus;
    std::thread([&] {
      const ThreadPlace::Stay stay(place);
      cpus = AllowedCpus();
    }).join();
    return cpus;
  }

  const SteadyClock clock_;
  std::vector<std::unique_ptr<EventLoop>> loops_;
};

TEST_F(LoopPlacesTest, LoopsTakeTheirProcessorsByTurns) {
  const std::vector<int> all = AllowedCpus();
  const auto places = Make({{all.back(), 8000}, true, Host()});
  EXPECT_EQ(places->NodeOf(*loops_[0]), 1);
  EXPECT_EQ(places->NodeOf(*loops_[1]), 0);
  EXPECT_EQ(places->NodeOf(*loops_[2]), 1);
  EXPECT_EQ(MemoryNodes(), (std::vector<int>{1, 0, 1}));
  EXPECT_EQ(CpusAt(places->OfLoop(0)), std::vector<int>{all.back()});
  EXPECT_EQ(places->OnAdapters({0}), "") << "the program's choice stays";
  EXPECT_EQ(CpusAt(places->OfRegistration()), all);
  EXPECT_EQ(places->NodeOf(*loops_[0]), 1);
}

TEST_F(LoopPlacesTest, WithoutAnyTheyAreWhereTheProcessIs) {
  const auto places = Make({{}, false, Host()});
  EXPECT_EQ(places->NodeOf(*loops_[0]), -1) << "of both";
  EXPECT_EQ(CpusAt(places->OfLoop(0)), AllowedCpus());
  EXPECT_EQ(places->OnAdapters({1}), "") << "not asked for";
  EXPECT_EQ(MemoryNodes(), (std::vector<int>{-1, -1, -1}));
  HostCpus one = Host();
  one.allowed = {8001, 8003};
  EXPECT_EQ(Make({{}, false, one})->NodeOf(*loops_[2]), 0);
  const auto other = EventLoop::Create(clock_).value();
  EXPECT_EQ(places->NodeOf(*other), -1);
}

TEST_F(LoopPlacesTest, TheFirstAdaptersMoveThem) {
  const auto places = Make({{}, true, Host()});
  EXPECT_EQ(places->moved(), "");
  EXPECT_EQ(MemoryNodes(), (std::vector<int>{-1, -1, -1}));
  const std::string moved = places->OnAdapters({0, 1});
  EXPECT_EQ(moved.substr(0, 32), "2 loops on node 0 (8000-8003), 1");
  EXPECT_EQ(places->moved(), moved);
  EXPECT_EQ(places->NodeOf(*loops_[0]), 0);
  EXPECT_EQ(places->NodeOf(*loops_[1]), 1);
  EXPECT_EQ(MemoryNodes(), (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(CpusAt(places->OfLoop(1)), AllowedCpus());
  EXPECT_EQ(places->OnAdapters({1}), "") << "those that come later do not";
  EXPECT_EQ(CpusAt(places->OfRegistration()), AllowedCpus()) << "it is on both nodes";
  EXPECT_EQ(places->NodeOf(*loops_[0]), 0);
  EXPECT_EQ(places->moved(), moved);
}

TEST_F(LoopPlacesTest, OnOneNodeMemoryHasNone) {
  const auto places = Make({{}, true, Host()});
  EXPECT_NE(places->OnAdapters({0}), "");
  EXPECT_EQ(places->NodeOf(*loops_[2]), 0);
  EXPECT_EQ(MemoryNodes(), (std::vector<int>{-1, -1, -1}));
}

TEST_F(LoopPlacesTest, AProcessorThatMayNotBeUsedIsTold) {
  EXPECT_EQ(LoopPlaces::Create(loops_, {{8100}, true, Host()}).status().message(),
            "cpu 8100 is none that this process may run on (taskset -p $$)");
}

}  // namespace
}  // namespace farcall
