// SPDX-License-Identifier: Apache-2.0

#include "transport/base/threads/spare_list.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <latch>
#include <set>
#include <thread>
#include <vector>

namespace farcall {
namespace {

using List = SpareList<int, 64, 4>;

void OnAnotherThread(const std::function<void()>& code) { std::thread(code).join(); }

size_t GiveAll(List& list, std::vector<int>& pieces) {
  size_t kept = 0;
  for (int& piece : pieces) kept += list.Give(&piece) ? 1 : 0;
  return kept;
}

std::set<int*> TakeAll(List& list) {
  std::set<int*> taken;
  while (int* const piece = list.Take()) EXPECT_TRUE(taken.insert(piece).second);
  return taken;
}

TEST(SpareListTest, GivesBackTheLastFirst) {
  List list;
  int a = 0;
  int b = 0;
  EXPECT_EQ(list.Take(), nullptr);
  EXPECT_TRUE(list.Give(&a));
  EXPECT_TRUE(list.Give(&b));
  EXPECT_EQ(list.Take(), &b);
  EXPECT_EQ(list.Take(), &a);
  EXPECT_EQ(list.Take(), nullptr);
}

TEST(SpareListTest, KeepsOnlySoMany) {
  List list;
  std::vector<int> pieces(100);
  EXPECT_EQ(GiveAll(list, pieces), 64u);
  EXPECT_EQ(TakeAll(list).size(), 64u);
}

TEST(SpareListTest, KeepsNoMoreForMoreThreads) {
  List list;
  std::vector<int> pieces(100);
  std::atomic<size_t> kept = GiveAll(list, pieces);
  // All at once, so that each has a part of its own, as far as there are parts.
  constexpr size_t kOthers = 20;
  std::array<std::vector<int>, kOthers> of_others;
  std::latch all_here(kOthers);
  std::vector<std::thread> threads;
  for (std::vector<int>& more : of_others) {
    more.resize(10);
    threads.emplace_back([&] {
      kept += GiveAll(list, more);
      all_here.arrive_and_wait();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(kept, 64u);
  EXPECT_EQ(list.Close().size(), 64u);
}

// But for the few that a thread has for itself.
TEST(SpareListTest, WhoOnlyTakesLivesOnWhatOthersGive) {
  List list;
  std::vector<int> pieces(50);
  EXPECT_EQ(GiveAll(list, pieces), 50u);
  OnAnotherThread([&] { EXPECT_GE(TakeAll(list).size(), 46u); });
}

TEST(SpareListTest, AClosedOneGivesAllAndKeepsNone) {
  List list;
  std::vector<int> pieces(10);
  std::vector<int> of_another(3);
  EXPECT_EQ(GiveAll(list, pieces), 10u);
  OnAnotherThread([&] { EXPECT_EQ(GiveAll(list, of_another), 3u); });
  EXPECT_EQ(list.Close().size(), 13u);
  EXPECT_EQ(GiveAll(list, pieces), 0u);
  OnAnotherThread([&] { EXPECT_EQ(GiveAll(list, of_another), 0u); });
  EXPECT_EQ(list.Take(), nullptr);
  EXPECT_TRUE(list.Close().empty());
}

// What is taken while it is closed adds nothing to a list that is not read any more.
TEST(SpareListTest, NothingIsLeftInWhatIsClosedMeanwhile) {
  for (int round = 0; round < 300; ++round) {
    List list;
    std::vector<int> pieces(64);
    EXPECT_EQ(GiveAll(list, pieces), 64u);
    std::latch all_here(3);
    std::atomic<size_t> taken = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&] {
        all_here.arrive_and_wait();
        for (int i = 0; i < 19; ++i) taken += list.Take() != nullptr ? 1 : 0;
      });
    }
    all_here.arrive_and_wait();
    const size_t closed = list.Close().size();
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(closed + taken, 64u);
    ASSERT_TRUE(list.Close().empty());
  }
}

// More threads than have a part of their own, and one that closes it meanwhile.
TEST(SpareListTest, APieceIsOneThreadsAtATime) {
  std::vector<std::atomic<int>> users(64);
  SpareList<std::atomic<int>, 64, 4> pieces;
  for (std::atomic<int>& one : users) ASSERT_TRUE(pieces.Give(&one));
  std::vector<std::thread> threads;
  for (int t = 0; t < 12; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        std::atomic<int>* const mine = pieces.Take();
        if (mine == nullptr) continue;
        EXPECT_EQ(mine->fetch_add(1), 0);
        EXPECT_EQ(mine->fetch_sub(1), 1);
        static_cast<void>(pieces.Give(mine));
      }
    });
  }
  const size_t closed = pieces.Close().size();
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(closed, 64u);
  EXPECT_EQ(pieces.Take(), nullptr);
}

}  // namespace
}  // namespace farcall
