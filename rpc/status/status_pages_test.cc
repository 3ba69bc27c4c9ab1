// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/status_pages.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "rpc/dispatch/test_services.pb.h"
#include "rpc/session/session_testing.h"
#include "rpc/status/json_testing.h"

namespace farcall {
namespace {

class LoneService final : public one::Lone {};

class StatusPagesTest : public testing::Test {
 protected:
  StatusPagesTest() {
    core_->parts = world_.parts;
    core_->started = world_.clock.Now();
    EXPECT_TRUE(core_->services.Add(service_).ok());
    collector_ = std::make_shared<StatusCollector>(*core_, [this] { return runtime_; });
    AddStatusPages(collector_, pages_);
  }
  HttpPage Get(const char* path, HttpRequest request = {}) {
    const HttpPages::Entry* const page = pages_.Find(path);
    EXPECT_NE(page, nullptr) << path;
    return page->make(request);
  }
  static HttpRequest Accepting(const char* kinds) {
    HttpRequest request;
    request.fields.push_back({"accept", kinds});
    return request;
  }

  SessionWorld world_;
  LoneService service_;
  std::shared_ptr<ServerCore> core_ = std::make_shared<ServerCore>();
  RuntimeStatus runtime_;
  std::shared_ptr<StatusCollector> collector_;
  HttpPages pages_;
};

TEST_F(StatusPagesTest, StatusIsAPageForBrowsers) {
  for (const char* kinds :
       {"text/html,application/xhtml+xml,*/*;q=0.8", "*/*", "text/html, application/json;q=0.9"}) {
    const HttpPage page = Get("/status", Accepting(kinds));
    EXPECT_EQ(page.status, 200);
    EXPECT_EQ(page.content_type, "text/html; charset=utf-8") << kinds;
    EXPECT_TRUE(absl::StrContains(page.body, "</html>"));
  }
  EXPECT_EQ(Get("/status").content_type, "text/html; charset=utf-8");
}

TEST_F(StatusPagesTest, StatusIsJsonForThoseWhoAsk) {
  EXPECT_EQ(Get("/status", Accepting("application/json")).content_type, "application/json");
  EXPECT_EQ(Get("/status", Accepting("Application/JSON, */*")).content_type, "application/json");
  HttpRequest request = Accepting("text/html");
  request.query.push_back({"format", "json"});
  const HttpPage page = Get("/status", std::move(request));
  EXPECT_EQ(page.content_type, "application/json");
  const ParsedJson json(page.body);
  EXPECT_EQ(json.Text("methods.0.service"), "farcall.one.Lone");
}

TEST_F(StatusPagesTest, MetricsHaveTheTypeOfTheirFormat) {
  const HttpPage page = Get("/metrics");
  EXPECT_EQ(page.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_TRUE(absl::StrContains(
      page.body, "farcall_server_calls_total{service=\"farcall.one.Lone\",method=\"Say\""));
}

TEST_F(StatusPagesTest, TheDumpIsText) {
  collector_->SetListenAddress(Address::Ipv4({192, 0, 2, 7}, 8002));
  const HttpPage page = Get("/status/dump");
  EXPECT_EQ(page.content_type, "text/plain; charset=utf-8");
  EXPECT_TRUE(absl::StartsWith(page.body, "farcall "));
  EXPECT_TRUE(absl::StrContains(page.body, "listen 192.0.2.7:8002"));
}

TEST_F(StatusPagesTest, TellsWhatTheServerKnows) {
  collector_->SetListenAddress(Address::Ipv4({192, 0, 2, 7}, 8002));
  core_->stopping = true;
  core_->counters.late = 3;
  core_->counters.long_handlers = 4;
  core_->handlers = std::make_unique<HandlerPool>(6);
  core_->limit.Set(MaxConcurrency(12));
  core_->options.max_connections = 77;
  runtime_.upgrades.upgrades = 5;
  MethodStats& stats = core_->services.all()[0].state->stats;
  stats.OnStart();
  stats.OnStart();
  stats.OnEnd(0, std::chrono::microseconds(100));
  world_.clock.Advance(std::chrono::seconds(2));
  const ParsedJson json(Get("/status", Accepting("application/json")).body);
  EXPECT_EQ(json.Text("listen"), "192.0.2.7:8002");
  EXPECT_FALSE(json.Text("version").empty());
  EXPECT_EQ(json.Number("uptime_s"), 2);
  EXPECT_TRUE(json.Bool("stopping"));
  EXPECT_EQ(json.Number("counters.requests_late"), 3);
  EXPECT_EQ(json.Number("counters.handlers_long"), 4);
  EXPECT_EQ(json.Number("all.limit"), 12);
  EXPECT_EQ(json.Text("options.max_connections"), "77");
  EXPECT_EQ(json.Number("rdma.upgrades"), 5);
  EXPECT_EQ(json.Number("methods.0.in_flight"), 1);
  EXPECT_EQ(json.Number("methods.0.calls"), 1);
  EXPECT_EQ(json.Number("methods.0.qps"), 0.5);
  EXPECT_EQ(json.Number("pool.max_bytes"), 32 << 20);
  EXPECT_EQ(json.Number("handler_threads"), 6);
  EXPECT_EQ(json.Number("waiting"), 0);
  EXPECT_FALSE(json.Bool("methods.0.on_pool"));
  EXPECT_EQ(json.Size("loops"), 1);
}

}  // namespace
}  // namespace farcall
