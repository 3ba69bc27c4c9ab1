// SPDX-License-Identifier: Apache-2.0

#include "rpc/naming/name_cache.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "transport/base/clock.h"

namespace farcall {
namespace {

// A name "aN" is at 192.0.2.N, "bN" at 192.0.2.200; "v6" at 2001:db8::1 of interface 2; others do
// not resolve.
class NameCacheTest : public ::testing::Test {
 protected:
  static NameCache::Addresses LookUp(const std::string& host) {
    if (host == "v6") {
      return std::vector<Address>{*Address::Parse("[2001:db8::1%2]:0")};
    }
    if (absl::StartsWith(host, "b")) return std::vector<Address>{*Address::Parse("192.0.2.200:0")};
    if (!absl::StartsWith(host, "a")) return absl::UnavailableError("no such name: " + host);
    return std::vector<Address>{*Address::Parse(absl::StrCat("192.0.2.", host.substr(1), ":0"))};
  }
  void Ask(const std::string& host, uint16_t port = 80) {
    names_->Resolve(host, port, [this, host](NameCache::Addresses addresses) {
      results_.push_back(absl::StrCat(
          host, ": ",
          addresses.ok() ? addresses->front().ToString() : addresses.status().ToString()));
    });
  }
  std::vector<std::string> TakeResults() { return std::exchange(results_, {}); }
  std::vector<std::string> TakeLookedUp() { return std::exchange(looked_up_, {}); }
  // Runs the oldest task of those that may block.
  void RunOne() {
    ASSERT_FALSE(tasks_.empty());
    const std::function<void()> task = std::move(tasks_.front());
    tasks_.erase(tasks_.begin());
    task();
  }
  void RunAll() {
    while (!tasks_.empty()) RunOne();
  }

  using Strings = std::vector<std::string>;
  ManualClock clock_;
  bool refuse_ = false;
  std::vector<std::function<void()>> tasks_;
  Strings looked_up_;
  Strings results_;
  const std::shared_ptr<NameCache> names_ = std::make_shared<NameCache>(
      clock_,
      [this](std::function<void()> task) {
        if (!refuse_) tasks_.push_back(std::move(task));
        return !refuse_;
      },
      [this](const std::string& host, uint16_t) {
        looked_up_.push_back(host);
        return LookUp(host);
      });
};

TEST_F(NameCacheTest, AsksOnceForAllThatWaitForAName) {
  Ask("a1", 80);
  Ask("a1", 81);
  Ask("a2", 80);
  EXPECT_TRUE(results_.empty());
  RunAll();
  EXPECT_EQ(TakeLookedUp(), (Strings{"a1", "a2"}));
  EXPECT_EQ(TakeResults(), (Strings{"a1: 192.0.2.1:80", "a1: 192.0.2.1:81", "a2: 192.0.2.2:80"}));
}

TEST_F(NameCacheTest, AnAnswerIsKeptForAWhile) {
  Ask("v6");
  RunAll();
  EXPECT_EQ(TakeLookedUp(), Strings{"v6"});
  clock_.Advance(NameCache::kKept - std::chrono::nanoseconds(1));
  Ask("v6", 443);
  EXPECT_TRUE(tasks_.empty());
  EXPECT_EQ(TakeResults(), (Strings{"v6: [2001:db8::1%2]:80", "v6: [2001:db8::1%2]:443"}));
  clock_.Advance(std::chrono::nanoseconds(1));
  Ask("v6");
  RunAll();
  EXPECT_EQ(TakeLookedUp(), Strings{"v6"});
}

TEST_F(NameCacheTest, AnErrorIsToldToAllAndNotKept) {
  for (int round = 0; round < 2; ++round) {
    Ask("x");
    Ask("x");
    RunAll();
    EXPECT_EQ(TakeLookedUp(), Strings{"x"});
    EXPECT_EQ(TakeResults(), Strings(2, "x: UNAVAILABLE: no such name: x"));
  }
}

TEST_F(NameCacheTest, WhatCouldNotBeReachedIsAskedForAgain) {
  Ask("a1");
  RunAll();
  names_->Forget("a1");
  names_->Forget("a9");
  Ask("a1");
  EXPECT_EQ(tasks_.size(), 1u);
  names_->Forget("a1");  // while it is being looked up
  RunAll();
  EXPECT_EQ(TakeLookedUp(), (Strings{"a1", "a1"}));
  EXPECT_EQ(TakeResults().size(), 2u);
}

// Their look-ups never end: each takes its place, whoever asks again, and no more.
TEST_F(NameCacheTest, NamesOfADeadServerHoldUpNobodyWhileTheyAreFew) {
  for (size_t dead = 0; dead + 1 < NameCache::kAtOnce; ++dead) {
    for (int i = 0; i < 100; ++i) Ask(absl::StrCat("dead", dead));
  }
  const auto stuck = std::exchange(tasks_, {});
  EXPECT_EQ(stuck.size(), NameCache::kAtOnce - 1);
  for (int i = 1; i <= 100; ++i) Ask(absl::StrCat("a", i));
  EXPECT_EQ(tasks_.size(), 1u) << "one place is left";
  RunAll();
  EXPECT_EQ(TakeResults().size(), 100u);
  for (const auto& task : stuck) task();
  EXPECT_EQ(TakeResults().size(), 100 * (NameCache::kAtOnce - 1));
}

TEST_F(NameCacheTest, WhereNothingMayBlockAnyMoreEachIsTold) {
  refuse_ = true;
  Ask("a1");
  Ask("a2");
  EXPECT_EQ(TakeResults(),
            (Strings{"a1: RESOURCE_EXHAUSTED: cannot resolve a1: too many names wait to be "
                     "resolved already",
                     "a2: RESOURCE_EXHAUSTED: cannot resolve a2: too many names wait to be "
                     "resolved already"}));
  refuse_ = false;
  Ask("a1");
  RunAll();
  EXPECT_EQ(TakeResults(), Strings{"a1: 192.0.2.1:80"});
}

TEST_F(NameCacheTest, SoManyMayWaitAndNoMore) {
  for (size_t i = 0; i < NameCache::kMaxWaiting; ++i) Ask("dead");
  EXPECT_TRUE(TakeResults().empty());
  Ask("a1");
  EXPECT_EQ(TakeResults().size(), 1u);
  RunAll();
  EXPECT_EQ(TakeResults().size(), NameCache::kMaxWaiting);
  Ask("a1");
  RunAll();
  EXPECT_EQ(TakeResults(), Strings{"a1: 192.0.2.1:80"});
}

TEST_F(NameCacheTest, SoManyAreKeptAndNoMore) {
  for (size_t i = 0; i <= NameCache::kMaxKept; ++i) {
    Ask(absl::StrCat("b", i));
    RunAll();
  }
  TakeLookedUp();
  Ask("b0");
  Ask(absl::StrCat("b", NameCache::kMaxKept));
  RunAll();
  EXPECT_EQ(TakeLookedUp(), Strings{absl::StrCat("b", NameCache::kMaxKept)});
  // Old ones make room.
  clock_.Advance(NameCache::kKept);
  Ask("a1");
  RunAll();
  TakeLookedUp();
  Ask("a1");
  EXPECT_TRUE(TakeLookedUp().empty());
}

}  // namespace
}  // namespace farcall
