// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "benchmarks/common/load_options.h"
#include "benchmarks/common/load_run_testing.h"
#include "benchmarks/grpc_echo/client.h"
#include "benchmarks/grpc_echo/server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace farcall::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class GrpcEchoTest : public testing::Test {
 protected:
  void SetUp() override { Listen("127.0.0.1:0"); }

  void Listen(const std::string& address) {
    ServerOptions options;
    options.listen = address;
    absl::StatusOr<std::unique_ptr<GrpcServer>> server = GrpcServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = std::move(server).value();
  }

  LoadOptions Load() const {
    LoadOptions options;
    options.server = server_->address();
    options.seconds = 0.1;
    options.warmup = 0.02;
    return options;
  }

  static void ExpectCallsSucceed(const LoadOptions& options) {
    const absl::StatusOr<LoadReport> report =
        RunUntilACallEnds(options, [](const LoadOptions& now) { return RunGrpcLoad(now); });
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->errors, 0U) << report->first_error;
    EXPECT_GT(report->calls, 0U);
    EXPECT_GT(report->latency.p50_us, 0);
    EXPECT_EQ(report->system, options.synchronous ? "grpc synchronous" : "grpc");
    EXPECT_EQ(report->transport, "tcp");
    EXPECT_EQ(report->polling, "event");
  }

  std::unique_ptr<GrpcServer> server_;
};

TEST_F(GrpcEchoTest, TheAddressShowsTheChosenPort) {
  EXPECT_THAT(server_->address(), testing::StartsWith("127.0.0.1:"));
  EXPECT_THAT(server_->address(), Not(testing::EndsWith(":0")));
}

TEST_F(GrpcEchoTest, OneCallAtATime) { ExpectCallsSucceed(Load()); }

TEST_F(GrpcEchoTest, ManyCallsInFlightOnSeveralConnections) {
  LoadOptions options = Load();
  options.in_flight = 16;
  options.connections = 3;
  options.attachment = 4096;
  ExpectCallsSucceed(options);
}

// gRPC refuses more than 4 MiB by default.
TEST_F(GrpcEchoTest, LargeMessagesPass) {
  LoadOptions options = Load();
  options.in_flight = 2;
  options.attachment = size_t{5} << 20;
  options.seconds = 0.5;
  ExpectCallsSucceed(options);
}

TEST_F(GrpcEchoTest, ThreadsThatWaitMakeCallsToo) {
  LoadOptions options = Load();
  options.in_flight = 3;
  options.connections = 2;
  options.synchronous = true;
  ExpectCallsSucceed(options);
  options.rate = 100;
  EXPECT_EQ(RunGrpcLoad(options).status().message(), "--synchronous goes without --rate");
}

TEST_F(GrpcEchoTest, AnOpenLoopMakesNoMoreCallsThanAskedFor) {
  LoadOptions options = Load();
  options.rate = 500;
  options.in_flight = 8;
  options.connections = 2;
  options.seconds = 0.2;
  const absl::StatusOr<LoadReport> report = RunGrpcLoad(options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->errors, 0U) << report->first_error;
  // All that were due by the window's end, if the warmup's came late.
  EXPECT_LE(report->calls, 111U);
}

TEST_F(GrpcEchoTest, AnAddressInUseIsAnErrorThatNamesIt) {
  ServerOptions options;
  options.listen = server_->address();
  const absl::Status status = GrpcServer::Start(options).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr(options.listen));
}

TEST_F(GrpcEchoTest, CallsGoOverAUnixSocket) {
  server_.reset();
  // The directory for tests may have a longer name than a unix socket takes.
  char directory[] = "/tmp/grpc_echo_XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  Listen("unix:" + std::string(directory) + "/socket");
  ExpectCallsSucceed(Load());
  server_.reset();
  rmdir(directory);
}

}  // namespace
}  // namespace farcall::bench
