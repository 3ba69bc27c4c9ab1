// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/figures/call_tally.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace farcall::bench {
namespace {

using std::chrono::microseconds;
using Time = CallTally::Time;

TEST(CallTallyTest, TakesWhatIsNewAndNoMore) {
  CallTally tally;
  tally.Record(Time(), Time() + microseconds(10), 0, "");
  tally.Record(Time(), Time() + microseconds(30), 0, "");
  const CallCounts first = tally.Take();
  EXPECT_EQ(first.latency.count(), 2u);
  EXPECT_EQ(first.latency.max(), microseconds(30));
  EXPECT_EQ(first.failed(), 0u);
  EXPECT_EQ(tally.Take().latency.count(), 0u);
}

TEST(CallTallyTest, AFailedCallHasACodeAndNoLatency) {
  CallTally tally;
  tally.Record(Time(), Time() + microseconds(10), 1008, "first");
  tally.Record(Time(), Time() + microseconds(10), 1008, "second");
  tally.Record(Time(), Time() + microseconds(10), 7, "third");
  const CallCounts counts = tally.Take();
  EXPECT_EQ(counts.latency.count(), 0u);
  EXPECT_EQ(counts.failed(), 3u);
  EXPECT_EQ(counts.errors.at(1008).calls, 2u);
  EXPECT_EQ(counts.errors.at(1008).first_text, "first");
  EXPECT_EQ(counts.errors.at(7).calls, 1u);
}

TEST(CallTallyTest, MergedCountsAreTheSum) {
  CallCounts all;
  CallCounts one;
  one.latency.Record(microseconds(5));
  one.Fail(3, "three");
  all.Merge(one);
  all.Merge(one);
  EXPECT_EQ(all.latency.count(), 2u);
  EXPECT_EQ(all.errors.at(3).calls, 2u);
  EXPECT_EQ(all.errors.at(3).first_text, "three");
}

TEST(CallTallyTest, CodesWithoutEndAreCountedAsOthers) {
  CallCounts counts;
  for (int code = 1; code <= 1000; ++code) counts.Fail(code, absl::StrCat("error ", code));
  counts.Fail(1, "");
  EXPECT_EQ(counts.errors.size(), CallCounts::kMaxCodes + 1);
  EXPECT_EQ(counts.failed(), 1001u);
  EXPECT_EQ(counts.errors.at(1).calls, 2u);
  EXPECT_EQ(counts.errors.at(CallCounts::kOther).calls, 1000 - CallCounts::kMaxCodes);
  CallCounts merged = counts;
  CallCounts more;
  more.Fail(5000, "new");
  merged.Merge(more);
  EXPECT_EQ(merged.errors.size(), CallCounts::kMaxCodes + 1);
  EXPECT_EQ(merged.failed(), 1002u);
}

}  // namespace
}  // namespace farcall::bench
