// SPDX-License-Identifier: Apache-2.0
//
// Which server c_hash gives a request code to, and when that changes.

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>

#include "rpc/cluster/server_set.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ServerId = ServerSet::ServerId;

constexpr uint64_t kCodes = 1000;

class CodesTest : public testing::Test {
 protected:
  CodesTest() {
    options_.load_balancer = "c_hash";
    options_.slow_start_ms = 1000;
  }
  // The ids are 1 to `number`.
  void Make(int number, int weight = 1) {
    set_ = std::make_unique<ServerSet>(options_, 1);
    std::vector<ServerNode> nodes;
    for (int i = 1; i <= number; ++i) nodes.push_back(Node(i, weight));
    set_->Update(std::move(nodes), now_);
  }
  static ServerNode Node(int i, int weight = 1) {
    ServerNode node;
    node.address = Address::Ipv4({10, 0, 0, static_cast<uint8_t>(i)}, 8002);
    node.weight = weight;
    return node;
  }
  ServerId Owner(uint64_t code, std::vector<ServerId> tried = {}) {
    return set_->Pick(code, tried, now_).value_or(0);
  }
  std::vector<ServerId> Owners() {
    std::vector<ServerId> owners;
    for (uint64_t code = 0; code < kCodes; ++code) owners.push_back(Owner(code));
    return owners;
  }

  ChannelOptions options_;
  TimePoint now_{seconds(100)};
  std::unique_ptr<ServerSet> set_;
};

// Other processes, machines and releases must agree: these never change.
TEST_F(CodesTest, OwnersAreTheSameForEver) {
  Make(5);
  std::string owners;
  for (uint64_t code = 0; code < 24; ++code) owners += static_cast<char>('0' + Owner(code));
  EXPECT_EQ(owners, "515443142542152525444243");
}

TEST_F(CodesTest, WhileAServerIsDownOnlyItsCodesAreElsewhere) {
  Make(5);
  const std::vector<ServerId> before = Owners();
  set_->OnUnreachable(3, now_);
  std::map<ServerId, int> takers;
  for (uint64_t code = 0; code < kCodes; ++code) {
    const ServerId owner = Owner(code);
    EXPECT_NE(owner, 3u);
    if (before[code] == 3) {
      ++takers[owner];
    } else {
      EXPECT_EQ(owner, before[code]);
    }
  }
  EXPECT_EQ(takers.size(), 4u) << "its load is spread";
}

TEST_F(CodesTest, ARetryGoesWhereTheCodeGoesWhenItsOwnerDies) {
  Make(5);
  for (uint64_t code = 0; code < 100; ++code) {
    const ServerId owner = Owner(code);
    const ServerId second = Owner(code, {owner});
    EXPECT_NE(second, owner);
    EXPECT_EQ(Owner(code, {owner}), second);
  }
}

TEST_F(CodesTest, ACodeMovesOnceWhenItsOwnerIsBack) {
  Make(5);
  const std::vector<ServerId> home = Owners();
  set_->OnUnreachable(3, now_);
  std::vector<ServerId> last = Owners();
  now_ += seconds(1);
  set_->DueProbes(now_);
  set_->OnProbe(3, true, now_);
  size_t moved = 0;
  for (int i = 0; i < 100; ++i) {
    for (uint64_t code = 0; code < kCodes; ++code) {
      const ServerId owner = Owner(code);
      if (owner == last[code]) continue;
      ++moved;
      ASSERT_EQ(owner, home[code]) << "code " << code << " moved somewhere else";
      last[code] = owner;
    }
    now_ += milliseconds(10);
  }
  EXPECT_EQ(Owners(), home);
  EXPECT_GT(moved, 100u);
}

TEST_F(CodesTest, AServerThatIsAddedTakesOnlyWhatIsItsOwn) {
  Make(4);
  const std::vector<ServerId> before = Owners();
  set_->Update({Node(1), Node(2), Node(3), Node(4), Node(5)}, now_);
  now_ += seconds(1);
  size_t moved = 0;
  for (uint64_t code = 0; code < kCodes; ++code) {
    if (Owner(code) == before[code]) continue;
    EXPECT_EQ(Owner(code), 5u);
    ++moved;
  }
  EXPECT_NEAR(static_cast<double>(moved), kCodes / 5.0, 80);
}

TEST_F(CodesTest, LargeWeightsMakeNoLargerRingAndMoveNoMore) {
  Make(4, 10'000);
  const std::vector<ServerId> before = Owners();
  set_->Update({Node(1, 10'000), Node(2, 10'000), Node(3, 10'000)}, now_);
  for (uint64_t code = 0; code < kCodes; ++code) {
    if (before[code] == 4) continue;
    EXPECT_EQ(Owner(code), before[code]);
  }
}

TEST_F(CodesTest, WhereNearlyAllAreDownTheSameOneIsStillFound) {
  Make(200);
  for (ServerId id = 1; id <= 198; ++id) set_->OnUnreachable(id, now_);
  const std::vector<ServerId> owners = Owners();
  std::map<ServerId, int> counts;
  for (const ServerId owner : owners) ++counts[owner];
  EXPECT_EQ(counts.size(), 2u);
  for (const auto& [id, count] : counts) EXPECT_NEAR(count, kCodes / 2.0, 200);
  EXPECT_EQ(Owners(), owners);
}

TEST_F(CodesTest, WithoutACodeAnyServerWillDo) {
  Make(3);
  std::map<ServerId, int> counts;
  for (int i = 0; i < 900; ++i) ++counts[*set_->Pick(std::nullopt, {}, now_)];
  for (const auto& [id, count] : counts) EXPECT_NEAR(count, 300, 120) << id;
}

}  // namespace
}  // namespace farcall
