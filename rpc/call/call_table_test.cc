// SPDX-License-Identifier: Apache-2.0

#include "rpc/call/call_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace farcall {
namespace {

constexpr TimePoint kNever = TimePoint::max();

TimePoint At(int64_t ms) { return TimePoint(std::chrono::milliseconds(ms)); }

std::vector<uint64_t> ExpiredIds(CallTable& table, TimePoint now) {
  std::vector<uint64_t> ids;
  table.Expire(now, [&](PendingCall& call) { ids.push_back(call.id()); });
  return ids;
}

std::set<uint64_t> TakeAllIds(CallTable& table) {
  std::set<uint64_t> ids;
  table.TakeAll([&](PendingCall& call) {
    EXPECT_FALSE(call.pending());
    EXPECT_TRUE(ids.insert(call.id()).second);
  });
  return ids;
}

TEST(CallTableTest, AnAnswerTakesItsCallOnce) {
  CallTable table;
  PendingCall a;
  PendingCall b;
  table.Add(1, kNever, a);
  table.Add(2, At(5), b);
  EXPECT_EQ(table.size(), 2u);
  EXPECT_NE(table.Find(2), nullptr);
  EXPECT_TRUE(b.pending());
  EXPECT_EQ(table.Take(2), &b);
  EXPECT_FALSE(b.pending());
  EXPECT_EQ(table.Find(2), nullptr);
  EXPECT_EQ(table.Take(2), nullptr);
  EXPECT_EQ(table.Take(1), &a);
  EXPECT_TRUE(table.empty());
}

TEST(CallTableTest, UnknownIdsTakeNothing) {
  CallTable table;
  EXPECT_EQ(table.Take(0), nullptr);
  EXPECT_EQ(table.Take(~uint64_t{0}), nullptr);
  PendingCall call;
  table.Add(7, kNever, call);
  EXPECT_EQ(table.Take(8), nullptr);
  EXPECT_EQ(table.Take(7), &call);
}

TEST(CallTableTest, DeadlinesTakeTheirCallsEarliestFirst) {
  CallTable table;
  PendingCall calls[4];
  table.Add(1, At(30), calls[0]);
  table.Add(2, At(10), calls[1]);
  table.Add(3, At(20), calls[2]);
  table.Add(4, kNever, calls[3]);
  EXPECT_EQ(table.next_deadline(), At(10));
  EXPECT_TRUE(ExpiredIds(table, At(9)).empty());
  EXPECT_EQ(ExpiredIds(table, At(20)), (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ(table.next_deadline(), At(30));
  EXPECT_EQ(ExpiredIds(table, At(1000)), (std::vector<uint64_t>{1}));
  EXPECT_EQ(table.next_deadline(), std::nullopt);
  EXPECT_EQ(TakeAllIds(table), (std::set<uint64_t>{4}));
}

TEST(CallTableTest, ACallThatWasTakenDoesNotExpire) {
  CallTable table;
  PendingCall call;
  table.Add(1, At(10), call);
  EXPECT_EQ(table.Take(1), &call);
  EXPECT_EQ(table.next_deadline(), std::nullopt);
  EXPECT_TRUE(ExpiredIds(table, At(100)).empty());
}

// As with a synchronous call, whose caller destroys it as soon as it returns.
TEST(CallTableTest, AnExpiredCallMayBeDestroyedAtOnce) {
  CallTable table;
  std::map<uint64_t, std::unique_ptr<PendingCall>> calls;
  for (uint64_t id = 1; id <= 10; ++id) {
    calls[id] = std::make_unique<PendingCall>();
    table.Add(id, At(static_cast<int64_t>(id)), *calls[id]);
  }
  table.Expire(At(6), [&](PendingCall& call) { calls.erase(call.id()); });
  EXPECT_EQ(calls.size(), 4u);
  table.TakeAll([&](PendingCall& call) { calls.erase(call.id()); });
  EXPECT_TRUE(calls.empty());
}

TEST(CallTableTest, AnExpiryMayAddAndTakeCalls) {
  CallTable table;
  PendingCall first;
  PendingCall second;
  PendingCall third;
  table.Add(1, At(10), first);
  table.Add(2, At(50), second);
  int expired = 0;
  table.Expire(At(20), [&](PendingCall& call) {
    ++expired;
    EXPECT_EQ(&call, &first);
    EXPECT_EQ(table.Find(1), nullptr);
    EXPECT_EQ(table.Take(2), &second);
    table.Add(3, At(15), third);  // overdue: its turn comes with the next Expire
  });
  EXPECT_EQ(expired, 1);
  EXPECT_EQ(ExpiredIds(table, At(20)), (std::vector<uint64_t>{3}));
}

TEST(CallTableTest, ACallThatIsTakenBeforeItsTurnDoesNotExpire) {
  CallTable table;
  PendingCall calls[3];
  table.Add(1, At(10), calls[0]);
  table.Add(2, At(11), calls[1]);
  table.Add(3, At(12), calls[2]);
  std::vector<uint64_t> expired;
  table.Expire(At(20), [&](PendingCall& call) {
    expired.push_back(call.id());
    EXPECT_EQ(table.Take(call.id()), nullptr);
    static_cast<void>(table.Take(2));
  });
  EXPECT_EQ(expired, (std::vector<uint64_t>{1, 3}));
  EXPECT_TRUE(table.empty());
}

TEST(CallTableTest, TakingAllPassesOverWhatIsTakenMeanwhile) {
  CallTable table;
  PendingCall calls[2];
  table.Add(1, At(10), calls[0]);
  table.Add(2, At(11), calls[1]);
  int taken = 0;
  table.TakeAll([&](PendingCall& call) {
    ++taken;
    static_cast<void>(table.Take(3 - call.id()));
  });
  EXPECT_EQ(taken, 1);
  EXPECT_TRUE(table.empty());
}

TEST(CallTableTest, TakingAllMayAddCallsThatStay) {
  CallTable table;
  PendingCall first;
  PendingCall second;
  table.Add(1, At(10), first);
  table.TakeAll([&](PendingCall&) { table.Add(2, At(20), second); });
  EXPECT_EQ(table.size(), 1u);
  EXPECT_EQ(table.Take(2), &second);
  table.TakeAll([](PendingCall&) { ADD_FAILURE() << "there is none"; });
}

TEST(CallTableTest, ACallMayWaitAgainUnderANewId) {
  CallTable table;
  PendingCall call;
  for (uint64_t id = 1; id <= 3; ++id) {
    table.Add(id, At(10), call);
    EXPECT_EQ(table.Take(id), &call);
  }
}

TEST(CallTableDeathTest, MisuseIsNoticed) {
  CallTable table;
  PendingCall call;
  PendingCall other;
  table.Add(1, kNever, call);
  EXPECT_DEATH(table.Add(1, kNever, other), "a call id is used once");
  EXPECT_DEATH(table.Add(2, kNever, call), "a call waits in one table");
  EXPECT_DEATH(
      {
        CallTable full;
        full.Add(1, kNever, other);
      },
      "every call is taken before its table dies");
  EXPECT_EQ(table.Take(1), &call);
}

}  // namespace
}  // namespace farcall
