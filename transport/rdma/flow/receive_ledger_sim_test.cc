// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "transport/rdma/flow/receive_ledger.h"
#include "transport/testing/seeds_here.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

using Member = ReceiveLedger::Member;

// Members come, go, pause and use receives, which are posted again late.
class LedgerSim {
 public:
  explicit LedgerSim(uint64_t seed)
      : random_(seed),
        slots_(4 + Below(60)),
        for_untrusted_(4 + Below(60)),
        ledger_(slots_, ReceiveLedger::Use::kShared, for_untrusted_),
        depth_(8 + Below(400)) {
    ledger_.OnPosted(depth_);
  }

  void Run() {
    for (int step = 0; step < 1000; ++step) {
      Step();
      ASSERT_LE(ledger_.outstanding(), ledger_.posted());
      ASSERT_LE(ledger_.posted(), depth_);
      uint32_t untrusted = 0;
      for (const Member member : untrusted_) {
        untrusted += std::max(ledger_.outstanding(member), ReceiveLedger::kMinimum);
      }
      ASSERT_LE(untrusted, for_untrusted_);
    }
    ledger_.OnPosted(used_);
    used_ = 0;
    Feed();
    uint32_t sum = 0;
    for (const Member member : members_) {
      if (paused_.count(member) == 0) {
        EXPECT_GE(ledger_.outstanding(member), ReceiveLedger::kMinimum);
      }
      EXPECT_LE(ledger_.outstanding(member), slots_);
      sum += ledger_.outstanding(member);
    }
    EXPECT_EQ(sum, ledger_.outstanding());
    for (const Member member : members_) ledger_.Leave(member);
    EXPECT_EQ(ledger_.outstanding(), 0u);
    EXPECT_EQ(ledger_.posted(), depth_);
  }

 private:
  uint32_t Below(uint64_t end) { return static_cast<uint32_t>(random_.Below(end)); }

  void Step() {
    const uint32_t what = Below(20);
    if (what == 0 || members_.empty()) {
      const bool untrusted = random_.Chance(0.3);
      const auto member = ledger_.Join(untrusted ? PeerTrust::kUntrusted : PeerTrust::kTrusted);
      if (member.ok()) members_.push_back(*member);
      if (member.ok() && untrusted) untrusted_.insert(*member);
      return;
    }
    const size_t which = Below(std::min<size_t>(members_.size(), 1 + Below(members_.size())));
    const Member member = members_[which];
    if (what == 1) {
      ledger_.Leave(member);
      paused_.erase(member);
      untrusted_.erase(member);
      members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(which));
    } else if (what == 2 && paused_.insert(member).second) {
      ledger_.Pause(member);
    } else if (what == 5 && untrusted_.erase(member) > 0) {
      ledger_.Trust(member);
    } else if (what <= 4 && paused_.erase(member) > 0) {
      ledger_.Resume(member);
      ledger_.Grant(member);
    } else if (what <= 12) {
      for (uint32_t n = Below(ledger_.outstanding(member) + 1); n > 0; --n, ++used_) {
        ledger_.OnConsumed(member);
      }
      ledger_.Grant(member);
    } else {
      const uint32_t again = Below(used_ + 1);
      ledger_.OnPosted(again);
      used_ -= again;
    }
    if (random_.Chance(0.5)) Feed();
  }

  void Feed() {
    while (const auto starved = ledger_.NextStarved()) {
      ASSERT_GT(ledger_.Grant(*starved), 0u);
    }
  }

  TestRandom random_;
  const uint32_t slots_;
  const uint32_t for_untrusted_;
  ReceiveLedger ledger_;
  const uint32_t depth_;
  uint32_t used_ = 0;  // and not posted again
  std::vector<Member> members_;
  std::set<Member> paused_;
  std::set<Member> untrusted_;
};

TEST(ReceiveLedgerSimTest, NeverGivesMoreThanIsPostedAndStarvesNone) {
  for (uint64_t seed = 0; seed < SeedsHere(2000); ++seed) {
    LedgerSim(seed).Run();
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace farcall
