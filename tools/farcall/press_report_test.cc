// SPDX-License-Identifier: Apache-2.0

#include "tools/farcall/press_report.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rpc/errors.h"

namespace farcall::cli {
namespace {

using std::chrono::microseconds;
using testing::HasSubstr;
using testing::Not;

bench::CallCounts Counts(int calls) {
  bench::CallCounts counts;
  for (int i = 0; i < calls; ++i) counts.latency.Record(microseconds(100));
  return counts;
}

PressSummary Summary() {
  PressSummary summary;
  summary.target = "127.0.0.1:8002";
  summary.method = "example.EchoService.Echo";
  summary.carrier = "127.0.0.1:8002 over tcp";
  summary.concurrency = 8;
  summary.connections = 1;
  summary.seconds = 2;
  summary.counts = Counts(2000);
  return summary;
}

TEST(PressReportTest, ARowStandsBelowItsHead) {
  EXPECT_EQ(PressHead() + PressRow(3, 0.5, Counts(1000)),
            "                           p50        p99      p99.9        max\n"
            "   time     calls/s         us         us         us         us  errors\n"
            "    3 s       2,000        100        100        100        100  0\n");
}

TEST(PressReportTest, ARowWithoutCallsIsAllZero) {
  EXPECT_EQ(PressRow(1, 1, bench::CallCounts()),
            "    1 s           0          0          0          0          0  0\n");
}

TEST(PressReportTest, ARowNamesTheErrors) {
  bench::CallCounts counts = Counts(1);
  counts.Fail(kRpcTimedOut, "late");
  counts.Fail(kRpcTimedOut, "late");
  counts.Fail(kLimit, "full");
  EXPECT_THAT(PressRow(1, 1, counts), HasSubstr("  2 ERPCTIMEDOUT, 1 ELIMIT\n"));
}

TEST(PressReportTest, TheSummaryHasRateLatencyAndErrors) {
  PressSummary summary = Summary();
  summary.counts.Fail(kLimit, "8 calls run already");
  const std::string text = summary.ToText();
  EXPECT_THAT(text, HasSubstr("example.EchoService.Echo: 2,001 calls in 2.0 s, 1,000 calls/s, "
                              "1 failed\n"));
  EXPECT_THAT(text, HasSubstr("carried     127.0.0.1:8002 over tcp\n"));
  EXPECT_THAT(text, HasSubstr("load        8 calls under way, 1 connection\n"));
  EXPECT_THAT(text, HasSubstr("mean 100, p50 100, p90 100, p99 100, p99.9 100, p99.99 100"));
  EXPECT_THAT(text, HasSubstr("errors      1 ELIMIT (2004), the first: 8 calls run already\n"));
}

TEST(PressReportTest, ALoadThatWasNotReachedIsTold) {
  PressSummary summary = Summary();
  summary.qps_asked = 1040;
  EXPECT_THAT(summary.ToText(), HasSubstr("1,040 calls/s asked for, at most 8 under way"));
  EXPECT_THAT(summary.ToText(), Not(HasSubstr("not reached")));
  summary.qps_asked = 2000;
  EXPECT_THAT(summary.ToText(), HasSubstr("was not reached"));
}

TEST(PressReportTest, CallsThatWereNotBegunAreTold) {
  PressSummary summary = Summary();
  EXPECT_THAT(summary.ToText(), Not(HasSubstr("not begun")));
  summary.not_begun = 1900;
  EXPECT_THAT(summary.ToText(), HasSubstr("1,900 calls that were due were not begun"));
}

TEST(PressReportTest, CallsThatFailAreNoLoadThatWasNotReached) {
  PressSummary summary = Summary();
  summary.qps_asked = 2000;
  for (int i = 0; i < 2000; ++i) summary.counts.Fail(kFailedSocket, "refused");
  EXPECT_THAT(summary.ToText(), Not(HasSubstr("not reached"))) << "as many as asked for ended";
  PressSummary all_failed = Summary();
  all_failed.qps_asked = 2000;
  all_failed.counts = bench::CallCounts();
  all_failed.counts.Fail(kRpcTimedOut, "late");
  EXPECT_THAT(all_failed.ToText(), Not(HasSubstr("not reached")));
}

TEST(PressReportTest, JsonHasEachNumber) {
  PressSummary summary = Summary();
  summary.counts.Fail(kLimit, "a \"quoted\" text");
  summary.not_begun = 3;
  EXPECT_EQ(
      summary.ToJson(),
      R"({"target": "127.0.0.1:8002", "method": "example.EchoService.Echo", )"
      R"("carrier": "127.0.0.1:8002 over tcp", "concurrency": 8, "connections": 1, )"
      R"("qps_asked": 0, "seconds": 2, "calls": 2000, "failed": 1, "not_begun": 3, "qps": 1000, )"
      R"("mean_us": 100, "p50_us": 100, "p90_us": 100, "p99_us": 100, "p999_us": 100, )"
      R"("p9999_us": 100, "max_us": 100, "errors": {"2004": {"name": "ELIMIT", )"
      R"("calls": 1, "first": "a \"quoted\" text"}}})");
}

}  // namespace
}  // namespace farcall::cli
