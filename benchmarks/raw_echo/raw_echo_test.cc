// SPDX-License-Identifier: Apache-2.0

#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "benchmarks/common/load_options.h"
#include "benchmarks/common/load_run_testing.h"
#include "benchmarks/raw_echo/client.h"
#include "benchmarks/raw_echo/frame.h"
#include "benchmarks/raw_echo/server.h"
#include "benchmarks/raw_echo/socket.h"
#include "benchmarks/raw_echo/usage.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace farcall::bench {
namespace {

using ::testing::HasSubstr;

// Whether the peer closes within 10 s.
bool PeerCloses(const UniqueFd& fd) {
  const timeval limit{10, 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  char byte;
  const ssize_t got = recv(fd.get(), &byte, 1, 0);
  return got == 0 || (got < 0 && errno == ECONNRESET);
}

absl::StatusOr<LoadReport> RunUntilACallEnds(const LoadOptions& options) {
  return bench::RunUntilACallEnds(options, [](const LoadOptions& now) { return RunRawLoad(now); });
}

// Once with blocked threads and once with threads that spin.
class RawEchoTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    ServerOptions options;
    options.listen = "127.0.0.1:0";
    options.polling = GetParam();
    absl::StatusOr<std::unique_ptr<RawServer>> server = RawServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = std::move(server).value();
  }

  LoadOptions Load() const {
    LoadOptions options;
    options.server = server_->address();
    options.polling = GetParam();
    options.seconds = 0.1;
    options.warmup = 0.02;
    return options;
  }

  void ExpectCallsSucceed(const LoadOptions& options) {
    const absl::StatusOr<LoadReport> report = RunUntilACallEnds(options);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->errors, 0U) << report->first_error;
    EXPECT_GT(report->calls, 0U);
    EXPECT_GT(report->latency.p50_us, 0);
    EXPECT_EQ(report->system, "raw");
    EXPECT_EQ(report->transport, "tcp");
    EXPECT_EQ(report->polling, GetParam());
  }

  std::unique_ptr<RawServer> server_;
};

TEST_P(RawEchoTest, OneCallAtATime) { ExpectCallsSucceed(Load()); }

TEST_P(RawEchoTest, ManyCallsInFlightOnSeveralConnections) {
  LoadOptions options = Load();
  options.in_flight = 64;
  options.connections = 3;
  options.threads = 2;
  options.payload = 100;
  ExpectCallsSucceed(options);
}

// More under way than the buffers of the sockets hold, in both directions.
TEST_P(RawEchoTest, LargeMessagesDoNotLockUp) {
  LoadOptions options = Load();
  options.in_flight = 8;
  options.attachment = size_t{4} << 20;
  options.seconds = 1;
  ExpectCallsSucceed(options);
}

TEST_P(RawEchoTest, BulkBesideThemIsNotPartOfTheReport) {
  LoadOptions options = Load();
  LoadOptions bulk = options;
  bulk.in_flight = 8;
  bulk.attachment = size_t{1} << 20;
  options.seconds = 1;
  if (std::string(GetParam()) != "busy") {
    EXPECT_EQ(RunRawLoad(options, bulk).status().message(), "--bulk needs --polling=busy");
    return;
  }
  const absl::StatusOr<LoadReport> report = RunUntil(
      options, [&](const LoadOptions& now) { return RunRawLoad(now, bulk); },
      [](const LoadReport& now) { return now.bulk_mb_per_s > 0; });
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->errors, 0U) << report->first_error;
  EXPECT_EQ(report->attachment, 0U);
  EXPECT_GT(report->bulk_mb_per_s, 0);
}

TEST_P(RawEchoTest, EmptyMessages) {
  LoadOptions options = Load();
  options.payload = 0;
  ExpectCallsSucceed(options);
}

// More than the server's memory in all, which is used again.
TEST_P(RawEchoTest, PutsAndGets) {
  LoadOptions options = Load();
  options.in_flight = 8;
  options.seconds = 0.3;
  for (const size_t bytes : {size_t{1}, size_t{4096}, size_t{1'000'000}}) {
    options.attachment = bytes;
    for (const char* way : {"put", "get"}) {
      options.way = way;
      ExpectCallsSucceed(options);
    }
  }
}

TEST_P(RawEchoTest, AnOpenLoopMakesNoMoreCallsThanAskedFor) {
  LoadOptions options = Load();
  options.rate = 1000;
  options.in_flight = 16;
  options.connections = 2;
  options.seconds = 0.2;
  const absl::StatusOr<LoadReport> report = RunUntilACallEnds(options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->errors, 0U) << report->first_error;
  EXPECT_GT(report->calls, 0U);
  // All that were due by the window's end, if the warmup's came late; and the first is due at once.
  EXPECT_LE(report->calls, options.rate * (report->seconds + options.warmup) + 1);
}

TEST_P(RawEchoTest, TheServerTellsItsCpuTime) {
  const absl::StatusOr<CpuSample> sample = AskUsage(server_->address());
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_GT(sample->clock_seconds, 0);
  EXPECT_GE(sample->cpu_seconds, 0);
}

TEST_P(RawEchoTest, GarbageEndsThatConnectionOnly) {
  const absl::StatusOr<UniqueFd> bad = ConnectTo(server_->address());
  ASSERT_TRUE(bad.ok()) << bad.status();
  const std::string garbage(sizeof(FrameHeader), '\xff');
  ASSERT_EQ(send(bad->get(), garbage.data(), garbage.size(), 0),
            static_cast<ssize_t>(garbage.size()));
  EXPECT_TRUE(PeerCloses(*bad));
  ExpectCallsSucceed(Load());
}

TEST_P(RawEchoTest, NoServerIsAnErrorThatNamesIt) {
  const LoadOptions options = Load();
  server_.reset();
  const absl::Status status = RunRawLoad(options).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr(options.server));
}

TEST_P(RawEchoTest, AServerEndsWithConnectionsOpen) {
  const absl::StatusOr<UniqueFd> idle = ConnectTo(server_->address());
  ASSERT_TRUE(idle.ok()) << idle.status();
  ASSERT_TRUE(AskUsage(server_->address()).ok());
  server_.reset();
  EXPECT_TRUE(PeerCloses(*idle));
}

INSTANTIATE_TEST_SUITE_P(Polling, RawEchoTest, testing::Values("event", "busy"),
                         [](const auto& test) { return std::string(test.param); });

// A peer that accepts and answers something else.
TEST(RawClientTest, AWrongAnswerIsRecordedAsAnError) {
  absl::StatusOr<UniqueFd> listener = ListenOn("127.0.0.1:0");
  ASSERT_TRUE(listener.ok()) << listener.status();
  std::thread peer([&] {
    const UniqueFd load = AcceptFrom(listener->get());
    FrameHeader wrong;
    wrong.id = 99;
    send(load.get(), &wrong, sizeof(wrong), MSG_NOSIGNAL);
    // Two questions for the CPU time.
    for (int i = 0; i < 2; ++i) {
      const UniqueFd usage = AcceptFrom(listener->get());
      char frame[sizeof(FrameHeader) + sizeof(CpuSample)] = {};
      send(usage.get(), frame, sizeof(frame), MSG_NOSIGNAL);
    }
  });
  LoadOptions options;
  options.server = AddressOf(listener->get());
  options.seconds = 1;
  options.warmup = 0;
  const absl::StatusOr<LoadReport> report = RunRawLoad(options);
  peer.join();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->calls, 0U);
  EXPECT_EQ(report->errors, 1U);
  EXPECT_THAT(report->first_error, HasSubstr("does not fit"));
}

}  // namespace
}  // namespace farcall::bench
