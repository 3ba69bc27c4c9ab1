// SPDX-License-Identifier: Apache-2.0
//
// /status and /metrics of a server that answers calls.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/errors.h"
#include "rpc/status/json_testing.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/http_peer.h"
#include "rpc/testing/kept_answers.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "transport/base/host/cores.h"

namespace farcall {
namespace {

// Fails those who ask for it.
void EchoOrFail(Controller& controller, const test::EchoRequest& request,
                test::EchoResponse& response, google::protobuf::Closure* done) {
  if (request.message() == "fail") controller.SetFailed(kInternal, "as it was asked to");
  EchoBack(controller, request, response, done);
}

std::string Body(HttpPeer& peer, const std::string& path) {
  const auto answer = peer.Ask(HttpGet(path));
  EXPECT_TRUE(answer.has_value());
  if (!answer.has_value()) return "";
  EXPECT_EQ(answer->status, 200) << answer->head;
  return answer->body;
}

ParsedJson Status(HttpPeer& peer) { return ParsedJson(Body(peer, "/status?format=json")); }

// The value of a line of /metrics; -1: there is none.
double Metric(const std::string& metrics, const std::string& sample) {
  const size_t at = metrics.find("\n" + sample + " ");
  if (at == std::string::npos) return -1;
  return std::strtod(metrics.c_str() + at + sample.size() + 2, nullptr);
}

// What the page says once all loops have told their connections, so many: one whose thread gets no
// processor for half a second is left out of a look.
std::string WholeBody(HttpPeer& peer, const std::string& path, int connections) {
  std::string body;
  EXPECT_TRUE(Eventually([&] {
    body = Body(peer, path);
    return path == "/metrics"
               ? Metric(body, "farcall_server_connections{transport=\"tcp\"}") == connections
               : ParsedJson(body).Number("connections.tcp") == connections;
  })) << body;
  return body;
}

constexpr char kEcho[] = "service=\"farcall.test.TestService\",method=\"Echo\"";

class StatusTest : public testing::TestWithParam<int> {
 protected:
  static ServerOptions Options() {
    ServerOptions options;
    options.handler_threads = GetParam();
    options.handlers_on_pool = GetParam() > 0;
    return options;
  }
};

TEST_P(StatusTest, TellsOfCallsAndConnections) {
  TestServer server(EchoOrFail, Options());
  TestClient client(server.address());
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(TestCall().Call(client.channel()).Echoed());
  for (int i = 0; i < 3; ++i) TestCall("fail").Call(client.channel());
  HttpPeer browser(server.address());
  const ParsedJson json(WholeBody(browser, "/status?format=json", /*connections=*/2));
  EXPECT_EQ(json.Text("listen"), server.address());
  EXPECT_EQ(json.Text("methods.0.service"), "farcall.test.TestService");
  EXPECT_EQ(json.Text("methods.0.method"), "Echo");
  EXPECT_EQ(json.Number("methods.0.calls"), 23);
  EXPECT_EQ(json.Number("methods.0.errors"), 3);
  EXPECT_EQ(json.Number("methods.0.codes.OK"), 20);
  EXPECT_EQ(json.Number("methods.0.codes.EINTERNAL"), 3);
  EXPECT_EQ(json.Number("methods.0.latency.calls"), 23) << "all of them are recent";
  EXPECT_GT(json.Number("methods.0.latency.p50_us"), 0);
  EXPECT_GE(json.Number("methods.0.latency.p999_us"), json.Number("methods.0.latency.p50_us"));
  EXPECT_EQ(json.Number("handler_threads"),
            GetParam() < 0 ? std::max(4, 2 * UsableCores()) : GetParam());
  EXPECT_EQ(json.Number("connections.open"), 2);
  ASSERT_EQ(json.Size("connections.list"), 2);
  const bool first = json.Text("connections.list.0.protocol") == "baidu_std";
  const std::string rpc = first ? "connections.list.0." : "connections.list.1.";
  const std::string http = first ? "connections.list.1." : "connections.list.0.";
  EXPECT_EQ(json.Text(rpc + "protocol"), "baidu_std");
  EXPECT_EQ(json.Number(rpc + "requests"), 23);
  EXPECT_GT(json.Number(rpc + "bytes_in"), 0);
  EXPECT_GT(json.Number(rpc + "bytes_out"), 0);
  EXPECT_EQ(json.Text(rpc + "transport"), "tcp");
  EXPECT_EQ(json.Text(rpc + "local"), server.address());
  EXPECT_EQ(json.Text(http + "protocol"), "http/1.1");
  EXPECT_EQ(json.Number("process.pid"), getpid());
}

TEST_P(StatusTest, MetricsSayTheSame) {
  TestServer server(EchoOrFail, Options());
  TestClient client(server.address());
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(TestCall().Call(client.channel()).Echoed());
  TestCall("fail").Call(client.channel());
  HttpPeer scraper(server.address());
  const std::string metrics = WholeBody(scraper, "/metrics", /*connections=*/2);
  EXPECT_EQ(Metric(metrics, absl::StrCat("farcall_server_calls_total{", kEcho, ",code=\"OK\"}")),
            10);
  EXPECT_EQ(
      Metric(metrics, absl::StrCat("farcall_server_calls_total{", kEcho, ",code=\"EINTERNAL\"}")),
      1);
  EXPECT_EQ(
      Metric(metrics, absl::StrCat("farcall_server_call_duration_seconds_count{", kEcho, "}")), 11);
  EXPECT_GT(Metric(metrics, absl::StrCat("farcall_server_call_duration_seconds_sum{", kEcho, "}")),
            0);
  EXPECT_EQ(Metric(metrics, "farcall_server_connections_accepted_total"), 2);
  EXPECT_GT(Metric(metrics, "process_resident_memory_bytes"), 0);
}

INSTANTIATE_TEST_SUITE_P(WhereverHandlersRun, StatusTest, testing::Values(2, 0, -1));

TEST(StatusPageTest, CallsUnderWayAreSeen) {
  KeptAnswers kept;
  TestServer server(kept.Handler());
  TestClient client(server.address());
  TestCall one;
  TestCall two;
  one.Start(client.channel());
  two.Start(client.channel());
  HttpPeer browser(server.address());
  EXPECT_TRUE(Eventually([&] { return Status(browser).Number("methods.0.in_flight") == 2; }));
  EXPECT_EQ(Status(browser).Number("unanswered"), 2);
  kept.RunAll();
  ASSERT_TRUE(one.Wait() && two.Wait());
  EXPECT_EQ(Status(browser).Number("methods.0.in_flight"), 0);
}

TEST(StatusPageTest, RefusedCallsAreCountedByReason) {
  KeptAnswers kept;
  ServerOptions options;
  options.max_concurrency = 1;
  TestServer server(kept.Handler(), options);
  TestClient client(server.address());
  TestCall first;
  first.Start(client.channel());
  HttpPeer browser(server.address());
  EXPECT_TRUE(Eventually([&] { return Status(browser).Number("methods.0.in_flight") == 1; }));
  TestCall second;
  second.Call(client.channel());
  EXPECT_EQ(second.controller.ErrorCode(), kLimit) << second.Error();
  const ParsedJson json = Status(browser);
  EXPECT_GE(json.Number("methods.0.codes.ELIMIT"), 1);
  EXPECT_GE(json.Number("counters.requests_refused_limit"), 1);
  EXPECT_EQ(json.Number("all.limit"), 1);
  kept.RunAll();
  ASSERT_TRUE(first.Wait());
}

TEST(StatusPageTest, ThePageItselfIsHtml) {
  TestServer server;
  HttpPeer browser(server.address());
  const auto answer = browser.Ask(HttpGet("/status", "Accept: text/html\r\n"));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, 200);
  EXPECT_TRUE(absl::StrContains(answer->head, "text/html; charset=utf-8")) << answer->head;
  EXPECT_TRUE(absl::StrContains(answer->body, server.address()));
}

TEST(StatusPageTest, ManyConnectionsAreCountedAndSomeShown) {
  TestServer server;
  std::vector<std::unique_ptr<HttpPeer>> silent;
  for (int i = 0; i < 550; ++i) silent.push_back(std::make_unique<HttpPeer>(server.address()));
  HttpPeer browser(server.address());
  const ParsedJson json(WholeBody(browser, "/status?format=json", /*connections=*/551));
  EXPECT_EQ(json.Number("connections.open"), 551);
  EXPECT_EQ(json.Number("connections.shown"), 500);
  EXPECT_EQ(json.Size("connections.list"), 500);
}

TEST(StatusPageTest, ManyMayLookWhileCallsGoOnAndTheServerStops) {
  TestServer server;
  TestClient client(server.address());
  std::atomic<int> looks{0};
  std::vector<std::thread> lookers;
  for (int i = 0; i < 3; ++i) {
    lookers.emplace_back([&, i] {
      HttpPeer peer(server.address());
      while (peer.Ask(HttpGet(i == 0 ? "/metrics" : "/status?format=json"))) ++looks;
    });
  }
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(TestCall().Call(client.channel()).Echoed());
  EXPECT_TRUE(Eventually([&] { return looks >= 20; }));
  EXPECT_TRUE(server.server().Stop(kTestTimeout).ok());
  for (std::thread& looker : lookers) looker.join();
}

TEST(StatusPageTest, WithoutHttpThereIsNone) {
  ServerOptions options;
  options.http = false;
  TestServer server(EchoBack, options);
  TestClient client(server.address());
  EXPECT_TRUE(TestCall().Call(client.channel()).Echoed());
  HttpPeer browser(server.address());
  EXPECT_FALSE(browser.Ask(HttpGet("/status")).has_value());
}

}  // namespace
}  // namespace farcall
