// SPDX-License-Identifier: Apache-2.0

#include "tools/farcall/press_run.h"

#include "gtest/gtest.h"
#include "rpc/reflection/reflection.h"
#include "rpc/reflection/reflection.pb.h"
#include "rpc/runtime/server.h"

namespace farcall::cli {
namespace {

using std::chrono::milliseconds;

// How long does not matter: each test stops its load, or looks at a load that is over soon.
constexpr std::chrono::hours kLong{1};

class PressRunTest : public testing::Test {
 protected:
  PressRunTest() {
    ServerOptions options;
    options.reflection = false;
    EXPECT_TRUE(server_.AddService(MakeReflection({}).release(), SERVER_OWNS_SERVICE).ok());
    EXPECT_TRUE(server_.Start("127.0.0.1:0", options).ok());
    load_.method = Reflection::descriptor()->FindMethodByName("ListServices");
    load_.request = &request_;
    load_.response = &ListServicesResponse::default_instance();
    Open(1);
  }
  void Open(int channels) {
    load_.channels.clear();
    for (int i = 0; i < channels; ++i) {
      ChannelOptions options;
      options.timeout_ms = 10'000;
      load_.channels.push_back(*Channel::Create(server_.listen_address().ToString(), options));
    }
  }
  // Until a second has passed that brought calls.
  PressSummary RunToFirstRow() {
    return RunPress(load_, stop_, [&](double, double seconds, const bench::CallCounts& counts) {
      EXPECT_GT(seconds, 0);
      rows_ += 1;
      if (counts.latency.count() + counts.failed() > 0) stop_ = true;
    });
  }

  Server server_;
  ListServicesRequest request_;
  PressLoad load_;
  std::atomic<bool> stop_{false};
  int rows_ = 0;
};

TEST_F(PressRunTest, AClosedLoopRunsUntilItIsStopped) {
  load_.duration = kLong;
  load_.concurrency = 8;
  const PressSummary summary = RunToFirstRow();
  EXPECT_GE(rows_, 1);
  EXPECT_GT(summary.counts.latency.count(), 0u);
  EXPECT_EQ(summary.counts.failed(), 0u) << summary.ToText();
  EXPECT_EQ(summary.method, "farcall.Reflection.ListServices");
  EXPECT_EQ(summary.concurrency, 8);
  EXPECT_GT(summary.seconds, 0.9);
}

TEST_F(PressRunTest, AnOpenLoopRunsUntilItIsStopped) {
  load_.duration = kLong;
  load_.concurrency = 100;
  load_.qps = 50;
  Open(3);
  const PressSummary summary = RunToFirstRow();
  EXPECT_GT(summary.counts.latency.count(), 0u);
  EXPECT_EQ(summary.connections, 3);
  EXPECT_EQ(summary.qps_asked, 50);
}

TEST_F(PressRunTest, ARunOfLessThanASecondHasASummaryAndNoRow) {
  load_.duration = milliseconds(20);
  load_.concurrency = 2;
  const PressSummary summary =
      RunPress(load_, stop_, [&](double, double, const bench::CallCounts&) { rows_ += 1; });
  EXPECT_EQ(rows_, 0);
  // Each slot begins one call, however late it is.
  EXPECT_GE(summary.counts.latency.count(), 2u);
}

TEST_F(PressRunTest, FailedCallsAreCountedByTheirCode) {
  load_.method = Reflection::descriptor()->FindMethodByName("GetFiles");
  GetFilesRequest request;
  request.set_service("no.such.Service");
  load_.request = &request;
  load_.response = &GetFilesResponse::default_instance();
  load_.duration = milliseconds(20);
  const PressSummary summary =
      RunPress(load_, stop_, [](double, double, const bench::CallCounts&) {});
  EXPECT_EQ(summary.counts.latency.count(), 0u);
  EXPECT_GE(summary.counts.errors.at(kNoService).calls, 1u);
}

TEST_F(PressRunTest, EachConnectionHasAtLeastOneCall) {
  Open(4);
  load_.concurrency = 1;
  load_.duration = milliseconds(1);
  const PressSummary summary =
      RunPress(load_, stop_, [](double, double, const bench::CallCounts&) {});
  EXPECT_GE(summary.counts.latency.count(), 4u);
}

}  // namespace
}  // namespace farcall::cli
