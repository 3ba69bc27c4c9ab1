// SPDX-License-Identifier: Apache-2.0
//
// The table of calls beside a model, and with very many calls.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "rpc/call/call_table.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

constexpr TimePoint kNever = TimePoint::max();

// A table beside a map that is obviously right. Calls die when they are taken.
class Model {
 public:
  Model(uint64_t seed, uint64_t stride) : stride_(stride), random_(seed) {}
  ~Model() { TakeAll(); }

  void Step() {
    const uint64_t dice = random_.Below(1000);
    if (dice < 450) {
      Add();
    } else if (dice < 750) {
      Take();
    } else if (dice < 995) {
      now_ += Milliseconds(4);
      Expire();
    } else {
      TakeAll();
    }
    ASSERT_EQ(table_.size(), waiting_.size());
    ASSERT_EQ(table_.empty(), waiting_.empty());
    ASSERT_EQ(table_.next_deadline(), NextDeadline());
  }
  // Of all that were ever added: each is gone once, or still waits.
  void CheckBooks() const { EXPECT_EQ(added_, gone_ + waiting_.size()); }

 private:
  struct Waiting {
    TimePoint deadline;
    std::unique_ptr<PendingCall> call;
  };

  milliseconds Milliseconds(uint64_t below) {
    return milliseconds(static_cast<int64_t>(random_.Below(below)));
  }
  void Add() {
    const uint64_t id = (1 + random_.Below(kIds)) * stride_;
    if (waiting_.count(id) != 0) return;
    const TimePoint deadline =
        random_.Chance(0.2) ? kNever : now_ + Milliseconds(50) - milliseconds(2);
    auto call = std::make_unique<PendingCall>();
    table_.Add(id, deadline, *call);
    waiting_[id] = {deadline, std::move(call)};
    ++added_;
  }
  void Take() {
    const uint64_t id = (1 + random_.Below(kIds)) * stride_;
    const auto found = waiting_.find(id);
    ASSERT_EQ(table_.Find(id) != nullptr, found != waiting_.end());
    PendingCall* const taken = table_.Take(id);
    ASSERT_EQ(taken, found == waiting_.end() ? nullptr : found->second.call.get());
    if (taken != nullptr) Gone(*taken);
  }
  void Expire() {
    std::multiset<TimePoint> due;
    for (const auto& [id, one] : waiting_) {
      if (one.deadline <= now_) due.insert(one.deadline);
    }
    table_.Expire(now_, [&](PendingCall& call) {
      const auto found = waiting_.find(call.id());
      ASSERT_NE(found, waiting_.end()) << "taken twice";
      ASSERT_FALSE(due.empty());
      ASSERT_EQ(found->second.deadline, *due.begin()) << "out of order";
      due.erase(due.begin());
      Gone(call);
      if (random_.Chance(0.3)) Add();
    });
    EXPECT_TRUE(due.empty());
  }
  void TakeAll() {
    table_.TakeAll([&](PendingCall& call) { Gone(call); });
    EXPECT_TRUE(waiting_.empty());
  }
  void Gone(PendingCall& call) {
    ASSERT_FALSE(call.pending());
    const auto found = waiting_.find(call.id());
    ASSERT_NE(found, waiting_.end()) << "taken twice";
    ASSERT_EQ(found->second.call.get(), &call);
    waiting_.erase(found);
    ++gone_;
  }
  std::optional<TimePoint> NextDeadline() const {
    std::optional<TimePoint> next;
    for (const auto& [id, one] : waiting_) {
      if (one.deadline != kNever && (!next || one.deadline < *next)) next = one.deadline;
    }
    return next;
  }

  static constexpr uint64_t kIds = 60;
  const uint64_t stride_;  // between ids
  TestRandom random_;
  CallTable table_;
  std::map<uint64_t, Waiting> waiting_;
  TimePoint now_{milliseconds(1000)};
  size_t added_ = 0;
  size_t gone_ = 0;
};

TEST(CallTableModelTest, EachCallIsTakenExactlyOnce) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    Model model(seed, /*stride=*/seed % 2 == 0 ? 1 : uint64_t{1} << (4 * seed));
    for (int step = 0; step < 10'000; ++step) {
      ASSERT_NO_FATAL_FAILURE(model.Step());
    }
    model.CheckBooks();
  }
}

// Time here is that of the steps taken, so a search from the front for each call shows as
// a test that does not end.
TEST(CallTableModelTest, TakingVeryManyCallsIsOnePass) {
  constexpr uint64_t kCalls = 300'000;
  std::vector<PendingCall> calls(kCalls);
  // Other connections of the channel may have the calls in between.
  for (const uint64_t stride : {uint64_t{1}, uint64_t{8}, uint64_t{4096}, uint64_t{1} << 32}) {
    CallTable table;
    for (uint64_t i = 0; i < kCalls; ++i) table.Add((i + 1) * stride, kNever, calls[i]);
    uint64_t found = 0;
    for (uint64_t i = 0; i < kCalls; ++i) found += table.Find((i + 1) * stride) == &calls[i];
    EXPECT_EQ(found, kCalls);
    uint64_t taken = 0;
    table.TakeAll([&](PendingCall&) { ++taken; });
    EXPECT_EQ(taken, kCalls);
  }
}

}  // namespace
}  // namespace farcall
