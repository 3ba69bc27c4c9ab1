// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/load_report.h"

#include <chrono>
#include <fstream>
#include <iterator>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace farcall::bench {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

LoadOptions Options() {
  LoadOptions options;
  options.server = "127.0.0.1:1";
  options.payload = 32;
  options.attachment = 4096;
  options.in_flight = 64;
  options.connections = 2;
  options.threads = 3;
  options.warmup = 0;
  options.seconds = 0.5;
  options.polling = "event";
  return options;
}

// A thousand calls of 1 to 1,000 us within half a second.
LoadRecorder Seen() {
  const LoadWindow::Time start = LoadWindow::Time() + std::chrono::hours(1);
  LoadRecorder recorder(LoadWindow::From(start, Options()));
  for (int i = 1; i <= 1000; ++i) {
    const LoadWindow::Time end = start + milliseconds(100);
    recorder.Succeeded(end - microseconds(i), end);
  }
  return recorder;
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(LoadReportTest, SaysWhatWasAskedForAndSeen) {
  const LoadReport report = LoadReport::From(Options(), Seen());
  EXPECT_EQ(report.polling, "event");
  EXPECT_EQ(report.payload, 32U);
  EXPECT_EQ(report.attachment, 4096U);
  EXPECT_EQ(report.in_flight, 64);
  EXPECT_EQ(report.connections, 2);
  EXPECT_EQ(report.threads, 3);
  EXPECT_EQ(report.calls, 1000U);
  EXPECT_EQ(report.errors, 0U);
  EXPECT_DOUBLE_EQ(report.seconds, 0.5);
  EXPECT_DOUBLE_EQ(report.qps, 2000);
  EXPECT_DOUBLE_EQ(report.mb_per_s, 2000 * 4128 / 1e6);
  EXPECT_NEAR(report.latency.p50_us, 500, 3);
  EXPECT_NEAR(report.latency.p99_us, 990, 5);
  EXPECT_NEAR(report.latency.p999_us, 999, 5);
  EXPECT_NEAR(report.latency.mean_us, 500.5, 0.1);
  EXPECT_DOUBLE_EQ(report.latency.max_us, 1000);
}

TEST(LoadReportTest, CpuIsPerCall) {
  LoadReport report = LoadReport::From(Options(), Seen());
  report.SetClientCpu({1, 10}, {2, 12});      // half a core, 2,000 calls/s
  report.SetServerCpu({1, 100}, {2.5, 101});  // one and a half
  EXPECT_DOUBLE_EQ(report.client_cpu_us, 250);
  EXPECT_DOUBLE_EQ(report.server_cpu_us, 750);
}

TEST(LoadReportTest, NoCallsGiveZerosAndNoDivision) {
  LoadReport report = LoadReport::From(Options(), LoadRecorder(Seen().window()));
  report.SetClientCpu({1, 10}, {2, 12});
  EXPECT_EQ(report.qps, 0);
  EXPECT_EQ(report.client_cpu_us, 0);
  EXPECT_THAT(report.ToJson(), Not(HasSubstr("null")));
}

TEST(LoadReportTest, JsonHasEveryMemberByItsName) {
  LoadReport report = LoadReport::From(Options(), Seen());
  report.system = "raw";
  report.transport = "tcp";
  report.why_not_rdma = "no \"device\"";
  const std::string json = report.ToJson();
  for (const char* key :
       {"system",    "transport",   "why_not_rdma", "polling",       "payload",      "attachment",
        "in_flight", "connections", "threads",      "rate",          "seconds",      "calls",
        "errors",    "first_error", "qps",          "p50_us",        "p99_us",       "p999_us",
        "mean_us",   "max_us",      "mb_per_s",     "client_cpu_us", "server_cpu_us"}) {
    EXPECT_THAT(json, HasSubstr("\"" + std::string(key) + "\": ")) << key;
  }
  EXPECT_THAT(json, HasSubstr(R"("system": "raw")"));
  EXPECT_THAT(json, HasSubstr(R"("qps": 2000,)"));
  EXPECT_THAT(json, HasSubstr(R"("why_not_rdma": "no \"device\"")"));
  EXPECT_THAT(json, Not(HasSubstr("\n")));
}

TEST(LoadReportTest, TextTellsOfErrorsOnlyWhereThereAreSome) {
  EXPECT_THAT(LoadReport::From(Options(), Seen()).ToText(), Not(HasSubstr("error")));
  LoadRecorder recorder = Seen();
  recorder.Failed("connection reset");
  EXPECT_THAT(LoadReport::From(Options(), recorder).ToText(),
              HasSubstr("1 errors, the first: connection reset"));
}

TEST(LoadReportTest, TextTellsWhyNotRdma) {
  LoadReport report = LoadReport::From(Options(), Seen());
  report.why_not_rdma = "no device";
  EXPECT_THAT(report.ToText(), EndsWith("not rdma: no device"));
}

TEST(PrintReportTest, AFileGetsTheJsonAndStandardOutputTheText) {
  const LoadReport report = LoadReport::From(Options(), Seen());
  const std::string path = testing::TempDir() + "/report.json";
  testing::internal::CaptureStdout();
  const absl::Status status = PrintReport(report, path);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), report.ToText() + "\n");
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(ReadAll(path), report.ToJson() + "\n");
}

TEST(PrintReportTest, ADashPutsNothingButJsonOnStandardOutput) {
  const LoadReport report = LoadReport::From(Options(), Seen());
  testing::internal::CaptureStdout();
  EXPECT_TRUE(PrintReport(report, "-").ok());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), report.ToJson() + "\n");
}

TEST(PrintReportTest, AFileThatCannotBeWrittenIsNamed) {
  testing::internal::CaptureStdout();
  const absl::Status status = PrintReport(LoadReport(), "/nowhere/at/all.json");
  testing::internal::GetCapturedStdout();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/nowhere/at/all.json"));
}

}  // namespace
}  // namespace farcall::bench
