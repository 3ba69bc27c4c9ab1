// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/status_fields.h"

#include <string>

#include "gtest/gtest.h"
#include "rpc/status/json_testing.h"
#include "rpc/status/status_testing.h"

namespace farcall {
namespace {

ParsedJson Parsed(const ServerStatus& status) { return ParsedJson(StatusJson(status)); }

TEST(StatusJsonTest, AnEmptyStatusIsAnObject) {
  const ParsedJson json = Parsed(ServerStatus());
  EXPECT_EQ(json.Number("format"), 1);
  EXPECT_EQ(json.Size("methods"), 0);
}

TEST(StatusJsonTest, TellsOfTheServer) {
  const ParsedJson json = Parsed(SampleStatus());
  EXPECT_EQ(json.Text("version"), "1.2.3");
  EXPECT_EQ(json.Text("listen"), "127.0.0.1:8002");
  EXPECT_EQ(json.Number("uptime_s"), 123.5);
  EXPECT_EQ(json.Number("unanswered"), 3);
  EXPECT_EQ(json.Number("running"), 2);
  EXPECT_EQ(json.Number("handler_threads"), 4);
  EXPECT_EQ(json.Number("waiting"), 9);
  EXPECT_EQ(json.Number("loops_taken_over"), 21);
  EXPECT_EQ(json.Number("loops_held_up"), 22);
  EXPECT_EQ(json.Number("counters.handlers_long"), 23);
  EXPECT_FALSE(json.Bool("stopping"));
  EXPECT_EQ(json.Text("options.use_rdma"), "true");
  EXPECT_EQ(json.Number("counters.requests_not_found"), 4);
  EXPECT_EQ(json.Number("process.open_fds"), 12);
  EXPECT_EQ(json.Number("pool.used_bytes"), 65536);
}

TEST(StatusJsonTest, TellsOfMethods) {
  const ParsedJson json = Parsed(SampleStatus());
  EXPECT_EQ(json.Text("methods.0.service"), "test.EchoService");
  EXPECT_EQ(json.Text("methods.0.method"), "Echo");
  EXPECT_EQ(json.Number("methods.0.qps"), 10.5);
  EXPECT_TRUE(json.Bool("methods.0.on_pool"));
  EXPECT_FALSE(json.Bool("methods.1.on_pool"));
  EXPECT_EQ(json.Number("methods.0.calls"), 10'000);
  EXPECT_EQ(json.Number("methods.0.errors"), 15);
  EXPECT_EQ(json.Number("methods.0.refused"), 5);
  EXPECT_EQ(json.Number("methods.0.in_flight"), 3);
  EXPECT_EQ(json.Number("methods.0.limit"), 8);
  EXPECT_FALSE(json.Bool("methods.0.limit_auto"));
  EXPECT_EQ(json.Size("methods.0.codes"), 3);
  EXPECT_EQ(json.Number("methods.0.codes.OK"), 9990);
  EXPECT_EQ(json.Number("methods.0.codes.EINTERNAL"), 10);
  EXPECT_EQ(json.Number("methods.0.codes.ELIMIT"), 5);
  EXPECT_EQ(json.Number("methods.0.latency.window_s"), 60);
  EXPECT_EQ(json.Number("methods.0.latency.calls"), 600);
  EXPECT_EQ(json.Number("methods.0.latency.mean_us"), 200);
  for (const char* quantile : {"p50_us", "p90_us", "p99_us", "p999_us"}) {
    EXPECT_NEAR(json.Number(std::string("methods.0.latency.") + quantile), 200, 7) << quantile;
  }
  EXPECT_TRUE(json.IsNull("methods.1.limit"));
  EXPECT_EQ(json.Number("methods.1.calls"), 0);
}

TEST(StatusJsonTest, AddsMethodsUp) {
  ServerStatus status = SampleStatus();
  status.methods[1] = status.methods[0];
  const ParsedJson json = Parsed(status);
  EXPECT_EQ(json.Number("all.qps"), 21);
  EXPECT_EQ(json.Number("all.calls"), 20'000);
  EXPECT_EQ(json.Number("all.limit"), 64);
  EXPECT_TRUE(json.Bool("all.limit_auto"));
  EXPECT_EQ(json.Number("all.latency.calls"), 1200);
}

TEST(StatusJsonTest, TellsOfConnectionsWithTheReason) {
  const ParsedJson json = Parsed(SampleStatus());
  EXPECT_EQ(json.Number("connections.open"), 2);
  EXPECT_EQ(json.Number("connections.rdma"), 1);
  EXPECT_EQ(json.Number("connections.shown"), 2);
  const std::string tcp = "connections.list.0.";
  EXPECT_EQ(json.Text(tcp + "peer"), "127.0.0.1:40000");
  EXPECT_EQ(json.Text(tcp + "transport"), "tcp");
  EXPECT_EQ(json.Text(tcp + "why_not_rdma"), "no_device");
  EXPECT_EQ(json.Text(tcp + "why_text"), std::string(Explain(WhyNotRdma::kNoDevice)));
  EXPECT_EQ(json.Text(tcp + "why_detail"), "none of mlx5_0");
  EXPECT_EQ(json.Text(tcp + "tls"), "TLSv1.3 TLS_AES_256_GCM_SHA384");
  EXPECT_EQ(json.Text(tcp + "tls_peer"), "/CN=client");
  EXPECT_EQ(json.Text(tcp + "protocol"), "baidu_std");
  EXPECT_EQ(json.Text(tcp + "user"), "alice");
  EXPECT_EQ(json.Number(tcp + "requests"), 42);
  EXPECT_EQ(json.Number(tcp + "bytes_in"), 1000);
  EXPECT_EQ(json.Number(tcp + "bytes_out"), 2000);
  EXPECT_EQ(json.Number(tcp + "in_flight"), 1);
  EXPECT_EQ(json.Text("connections.list.1.transport"), "rdma");
  EXPECT_EQ(json.Text("connections.list.1.device"), "mlx5_0");
  EXPECT_EQ(json.Number("rdma.upgrades"), 1);
  EXPECT_EQ(json.Size("rdma.fallbacks"), 1);
  EXPECT_EQ(json.Number("rdma.fallbacks.no_device"), 7);
}

TEST(StatusJsonTest, TellsOfRdmaDevices) {
  const ParsedJson json = Parsed(SampleStatus());
  EXPECT_TRUE(json.Bool("rdma.answered"));
  EXPECT_EQ(json.Text("rdma.why_not"), "in_use");
  EXPECT_EQ(json.Number("rdma.setups"), 3);
  EXPECT_EQ(json.Number("rdma.stalls"), 3);
  EXPECT_EQ(json.Number("rdma.stalled"), 2);
  EXPECT_EQ(json.Size("rdma.devices"), 2);
  const std::string used = "rdma.devices.0.";
  EXPECT_EQ(json.Text(used + "name"), "mlx5_0");
  EXPECT_EQ(json.Text(used + "link_layer"), "RoCE");
  EXPECT_TRUE(json.Bool(used + "open"));
  EXPECT_EQ(json.Number(used + "ports.0.mtu_bytes"), 4096);
  EXPECT_EQ(json.Text(used + "addresses.0"), "192.0.2.7");
  EXPECT_EQ(json.Number(used + "connections_ever"), 11);
  EXPECT_EQ(json.Number(used + "breaks.retry_exc_err"), 4);
  EXPECT_EQ(json.Text(used + "reads"), "measuring");
  EXPECT_EQ(json.Text("rdma.devices.1.reads"), "never");
  EXPECT_EQ(json.Number(used + "async_events.port_err"), 1);
  EXPECT_EQ(json.Number(used + "credit_waits"), 7);
  EXPECT_EQ(json.Number(used + "receives_posted"), 500);
  EXPECT_EQ(json.Text("rdma.devices.1.why_not"), "no_active_port");
  EXPECT_EQ(json.Text("rdma.devices.1.why_text"), std::string(Explain(WhyNotRdma::kNoActivePort)));
  EXPECT_EQ(json.Number("rdma.memory.failures"), 1);
  EXPECT_EQ(json.Number("rdma.copied_bytes.sent_small"), 77);
}

TEST(StatusJsonTest, TellsOfTheRdmaUnderAConnection) {
  const ParsedJson json = Parsed(SampleStatus());
  const std::string rdma = "connections.list.1.rdma.";
  EXPECT_EQ(json.Number(rdma + "generation"), 2);
  EXPECT_EQ(json.Number(rdma + "credits"), 60);
  EXPECT_EQ(json.Number(rdma + "upgrades"), 2);
  EXPECT_EQ(json.Number(rdma + "fallbacks"), 1);
  EXPECT_EQ(json.Text(rdma + "last_fallback"), "broken");
  EXPECT_EQ(json.Number(rdma + "messages_out"), 31);
  EXPECT_EQ(json.Text(rdma + "reads.why"), "sends_are_faster");
  EXPECT_EQ(json.Text(rdma + "reads.detail"),
            "no: sends are faster; sends carried 19 GB/s, RDMA READ 2.7 GB/s");
  EXPECT_EQ(json.Number(rdma + "reads.send_bytes_per_s"), 19e9);
  EXPECT_EQ(json.Number(rdma + "reads.read_bytes_per_s"), 2.7e9);
  EXPECT_EQ(json.Number(rdma + "fetched"), 70'000);
  EXPECT_EQ(json.Number(rdma + "rails.1.generation"), 4);
  EXPECT_EQ(json.Text(rdma + "rails.1.device"), "mlx5_1");
  EXPECT_EQ(json.Number(rdma + "rails.1.port"), 2);
  EXPECT_EQ(json.Number(rdma + "rails.1.bytes_out"), 100);
  EXPECT_EQ(json.Number(rdma + "rails.0.share"), 0.75);
  EXPECT_EQ(json.Number(rdma + "credit_waits"), 5);
  EXPECT_EQ(json.Number("connections.list.0.rdma.generation"), 0);
  EXPECT_EQ(json.Text("connections.list.0.rdma.last_fallback"), "");
}

TEST(StatusJsonTest, TellsOfEventsAndLimits) {
  const ParsedJson json = Parsed(SampleStatus());
  EXPECT_EQ(json.Size("rdma.events"), 2);
  EXPECT_EQ(json.Number("rdma.events.1.times"), 3);
  EXPECT_EQ(json.Number("rdma.events.1.last_unix_s"), 43201);
  EXPECT_EQ(json.Text("rdma.events.1.text"), "a travels over TCP: broken");
  EXPECT_EQ(json.Number("rdma.events_forgotten"), 5);
  EXPECT_EQ(json.Text("runtime_options.event_loops"), "default");
  EXPECT_EQ(json.Text("runtime_options_from.event_loops"), "default");
  EXPECT_EQ(json.Number("process.memlock_bytes"), 8 << 20);
  ServerStatus status = SampleStatus();
  status.process.memlock_bytes = ProcessStatus::kUnlimited;
  EXPECT_TRUE(Parsed(status).IsNull("process.memlock_bytes"));
}

TEST(StatusJsonTest, TellsOfLoopsAndOfThoseThatDidNotAnswer) {
  const ParsedJson json = Parsed(SampleStatus());
  EXPECT_TRUE(json.Bool("loops.0.answered"));
  EXPECT_EQ(json.Number("loops.0.turns"), 1000);
  EXPECT_FALSE(json.Bool("loops.1.answered"));
}

TEST(StatusJsonTest, TheHistoryHasRates) {
  const ParsedJson json = Parsed(SampleStatus());
  EXPECT_EQ(json.Size("history"), 3);
  EXPECT_EQ(json.Number("history.0.ago_s"), 2);
  EXPECT_EQ(json.Number("history.0.qps"), 10);
  EXPECT_EQ(json.Number("history.0.errors_per_s"), 1);
  EXPECT_EQ(json.Number("history.0.mean_us"), 1000);
}

TEST(StatusJsonTest, TheClientOfAUnixSocketHasNoPeer) {
  ServerStatus status = SampleStatus();
  status.connections.some[0].info.peer = Address();
  EXPECT_EQ(Parsed(status).Text("connections.list.0.peer"), "");
}

TEST(StatusJsonTest, WhatComesFromOutsideCannotBreakOut) {
  ServerStatus status = SampleStatus();
  const std::string evil = "</script><img src=x onerror=alert(1)>\"\\\n\x01\xFF";
  status.connections.some[0].user = evil;
  status.connections.some[0].info.why_detail = evil;
  status.methods[0].service = evil;
  const std::string json = StatusJson(status);
  EXPECT_EQ(json.find('<'), std::string::npos);
  EXPECT_EQ(json.find('\n'), std::string::npos);
  EXPECT_EQ(ParsedJson(json).Text("connections.list.0.user"),
            "</script><img src=x onerror=alert(1)>\"\\\n\x01\xEF\xBF\xBD");
}

}  // namespace
}  // namespace farcall
