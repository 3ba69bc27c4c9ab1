// SPDX-License-Identifier: Apache-2.0

#include "tools/farcall/text/status_text.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace farcall::cli {
namespace {

using testing::HasSubstr;

constexpr char kStatus[] = R"({
  "format": 1, "version": "0.2", "listen": "10.0.0.7:8002", "uptime_s": 93784.2,
  "stopping": false, "handler_threads": 8, "something": ["new"],
  "all": {"qps": 1234.5, "errors_per_s": 2, "calls": 5000000, "in_flight": 3, "limit": 64,
          "limit_auto": true, "codes": {"ELIMIT": 12},
          "latency": {"mean_us": 20, "p50_us": 18.25, "p99_us": 40, "p999_us": 1200}},
  "methods": [
    {"service": "example.EchoService", "method": "Echo", "qps": 1234.5, "errors_per_s": 2,
     "calls": 5000000, "in_flight": 3, "limit": null, "limit_auto": false,
     "codes": {"OK": 7, "ELIMIT": 12, "EINTERNAL": 1},
     "latency": {"mean_us": 20, "p50_us": 18.25, "p99_us": 40, "p999_us": 1200}}],
  "connections": {"open": 2, "tcp": 1, "rdma": 1, "list": [
    {"peer": "10.0.0.8:5000", "transport": "tcp", "why_not_rdma": "no_device",
     "why_text": "this host shows no RDMA device", "protocol": "baidu_std", "age_s": 61,
     "requests": 7, "in_flight": 1, "bytes_in": 2048, "bytes_out": 10},
    {"peer": "", "transport": "rdma", "why_not_rdma": "in_use", "why_text": "RDMA is in use",
     "protocol": "baidu_std", "age_s": 3601, "requests": 7, "in_flight": 0}]},
  "loops": [{"answered": true, "answer_us": 12, "connections": 2}, {"answered": false}],
  "pool": {"used_bytes": 1572864, "mapped_bytes": 4194304, "max_bytes": 1073741824},
  "rdma": {"upgrades": 1, "fallbacks": {"no_device": 1}},
  "process": {"cpu_s": 12.5, "resident_bytes": 52428800, "threads": 14, "open_fds": 33,
              "max_fds": 1024},
  "counters": {"connections_accepted": 5, "requests_late": 0}
})";

TEST(StatusTextTest, ShowsEachPart) {
  const auto text = StatusText(kStatus);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, HasSubstr("10.0.0.7:8002, farcall 0.2, up 1 d 2 h, 8 handler threads\n"));
  EXPECT_THAT(*text,
              HasSubstr("example.EchoService.Echo    1,234      2.00  5,000,000    3     "
                        "none     20.0    18.2    40.0     1,200  1 EINTERNAL, 12 ELIMIT\n"));
  EXPECT_THAT(*text, HasSubstr("64 auto"));
  EXPECT_THAT(*text, HasSubstr("2 connections: 1 tcp, 1 rdma\n"));
  EXPECT_THAT(*text, HasSubstr("10.0.0.8:5000  tcp   baidu_std  1 min 1 s         7    1  2.00 KiB"
                               "  10 B  this host shows no RDMA device\n"));
  EXPECT_THAT(*text, HasSubstr("(unix)         rdma  baidu_std  1 h 0 min         7    0"));
  EXPECT_THAT(*text, HasSubstr("pool     1.50 MiB used of 4.00 MiB, at most 1.00 GiB\n"));
  EXPECT_THAT(*text, HasSubstr("50.0 MiB resident, 14 threads, 33 of 1,024 descriptors"));
  EXPECT_THAT(*text, HasSubstr("loops    2 connections in 12.0 us; no answer; \n"));
  EXPECT_THAT(*text, HasSubstr("counters 5 connections_accepted\n"));
  EXPECT_THAT(*text, HasSubstr("rdma     1 upgrades; not: 1 no_device\n"));
}

TEST(StatusTextTest, WhatIsMissingIsZero) {
  const auto text = StatusText("{}");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, HasSubstr("0 connections: 0 tcp, 0 rdma\n"));
  EXPECT_THAT(*text, HasSubstr("counters all zero\n"));
}

TEST(StatusTextTest, FieldsOfAnotherKindAreTakenAsMissing) {
  const auto text = StatusText(R"({"methods": 7, "connections": [], "uptime_s": "long",
                                   "pool": {"used_bytes": -1, "max_bytes": 1e300}})");
  EXPECT_TRUE(text.ok()) << text.status();
}

TEST(StatusTextTest, WhatIsNoJsonIsAnError) {
  for (const char* json : {"", "<html>", "{\"a\":", "{} {}"}) {
    EXPECT_EQ(StatusText(json).status().code(), absl::StatusCode::kFailedPrecondition) << json;
  }
  EXPECT_EQ(StatusText(std::string(1'000'000, '[')).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(StatusTextTest, BracketsInTextDoNotCount) {
  EXPECT_TRUE(StatusText("{\"a\": \"" + std::string(1000, '[') + "\\\"\"}").ok());
}

}  // namespace
}  // namespace farcall::cli
