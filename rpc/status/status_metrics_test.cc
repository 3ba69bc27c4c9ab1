// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/status_metrics.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "rpc/status/status_testing.h"

namespace farcall {
namespace {

// Samples by "name{labels}", as the text has them. What the library makes of them is its own
// matter; that a family has a sentence as its help, and its name by the conventions, is ours.
class Exposition {
 public:
  explicit Exposition(const ServerStatus& status) {
    for (const prometheus::MetricFamily& family : StatusMetrics(status)) {
      SCOPED_TRACE(family.name);
      const bool counter = family.type == prometheus::MetricType::Counter;
      EXPECT_TRUE(absl::EndsWith(family.help, ".")) << "a sentence";
      EXPECT_EQ(counter, absl::EndsWith(family.name, "_total")) << "by the conventions";
      EXPECT_TRUE(types_.emplace(family.name, family.type).second) << "twice";
      EXPECT_FALSE(family.metric.empty());
      for (const prometheus::ClientMetric& metric : family.metric) {
        Add(family.name, metric, counter ? metric.counter.value : metric.gauge.value);
      }
    }
  }

  double At(const std::string& sample) const {
    const auto found = samples_.find(sample);
    EXPECT_NE(found, samples_.end()) << sample;
    return found == samples_.end() ? -1 : found->second;
  }
  bool Has(const std::string& sample) const { return samples_.count(sample) != 0; }
  const std::map<std::string, prometheus::MetricType>& types() const { return types_; }

 private:
  void Add(const std::string& name, const prometheus::ClientMetric& metric, double value) {
    std::vector<std::string> labels;
    for (const auto& label : metric.label) {
      labels.push_back(absl::StrCat(label.name, "=\"", label.value, "\""));
    }
    const auto add = [&](const char* part, double sample) {
      const std::string all = absl::StrJoin(labels, ",");
      const std::string full =
          absl::StrCat(name, part, all.empty() ? "" : absl::StrCat("{", all, "}"));
      EXPECT_GE(sample, 0);
      EXPECT_TRUE(samples_.emplace(full, sample).second) << full << " twice";
    };
    if (types_[name] != prometheus::MetricType::Histogram) return add("", value);
    add("_count", static_cast<double>(metric.histogram.sample_count));
    add("_sum", metric.histogram.sample_sum);
    for (const auto& bucket : metric.histogram.bucket) {
      labels.push_back(absl::StrCat("le=\"", bucket.upper_bound, "\""));
      add("_bucket", static_cast<double>(bucket.cumulative_count));
      labels.pop_back();
    }
  }

  std::map<std::string, prometheus::MetricType> types_;
  std::map<std::string, double> samples_;
};

TEST(StatusMetricsTest, AnEmptyStatusIsWellFormed) {
  const Exposition metrics{ServerStatus()};
  EXPECT_EQ(metrics.At("farcall_server_uptime_seconds"), 0);
}

TEST(StatusMetricsTest, CountsCallsByCode) {
  const Exposition metrics(SampleStatus());
  const auto calls = [&](const char* method, const char* code) {
    return metrics.At(std::string("farcall_server_calls_total{service=\"test.EchoService\"") +
                      ",method=\"" + method + "\",code=\"" + code + "\"}");
  };
  EXPECT_EQ(calls("Echo", "OK"), 9990);
  EXPECT_EQ(calls("Echo", "EINTERNAL"), 10);
  EXPECT_EQ(calls("Echo", "ELIMIT"), 5);
  EXPECT_EQ(calls("Idle", "OK"), 0) << "a rate needs the zero";
  const std::string echo = "{service=\"test.EchoService\",method=\"Echo\"}";
  EXPECT_EQ(metrics.At("farcall_server_calls_in_flight" + echo), 3);
  EXPECT_EQ(metrics.At("farcall_server_method_concurrency_limit" + echo), 8);
}

TEST(StatusMetricsTest, TheHistogramIsCumulative) {
  ServerStatus status = SampleStatus();
  MethodSnapshot& total = status.methods[0].rates.total;
  total.latencies = {};
  const std::vector<std::pair<Duration, uint64_t>> spread = {
      {std::chrono::nanoseconds(10), 1},   {std::chrono::nanoseconds(2047), 2},
      {std::chrono::nanoseconds(2048), 4}, {std::chrono::microseconds(300), 8},
      {std::chrono::seconds(20), 16},
  };
  for (const auto& [latency, count] : spread) {
    total.latencies[LatencyBuckets::Of(latency)] += count;
  }
  const Exposition metrics(status);
  const std::string labels = "{service=\"test.EchoService\",method=\"Echo\"";
  const std::string name = "farcall_server_call_duration_seconds";
  EXPECT_EQ(metrics.At(name + "_bucket" + labels + ",le=\"2.048e-06\"}"), 3);
  EXPECT_EQ(metrics.At(name + "_bucket" + labels + ",le=\"4.096e-06\"}"), 7);
  EXPECT_EQ(metrics.At(name + "_count" + labels + "}"), 31);
  EXPECT_NEAR(metrics.At(name + "_sum" + labels + "}"), 1.0, 1e-9);
  EXPECT_EQ(metrics.types().at(name), prometheus::MetricType::Histogram);
}

TEST(StatusMetricsTest, TellsOfConnectionsAndReasons) {
  const Exposition metrics(SampleStatus());
  EXPECT_EQ(metrics.At("farcall_server_connections{transport=\"tcp\"}"), 1);
  EXPECT_EQ(metrics.At("farcall_server_connections{transport=\"rdma\"}"), 1);
  EXPECT_FALSE(metrics.Has("farcall_server_connections{transport=\"other\"}"));
  EXPECT_EQ(metrics.At("farcall_rdma_upgrades_total"), 1);
  EXPECT_EQ(metrics.At("farcall_rdma_fallbacks_total{reason=\"no_device\"}"), 7);
  EXPECT_EQ(metrics.At("farcall_server_requests_refused_total{reason=\"not_found\"}"), 4);
  EXPECT_EQ(metrics.At("farcall_server_connections_cut_total{reason=\"timed_out\"}"), 0);
}

TEST(StatusMetricsTest, TellsOfEachDevice) {
  const Exposition metrics(SampleStatus());
  const auto of = [&](const char* name) {
    return metrics.At(absl::StrCat("farcall_rdma_", name, "{device=\"mlx5_0\"}"));
  };
  EXPECT_EQ(metrics.At("farcall_rdma_device_info{device=\"mlx5_1\",link_layer=\"InfiniBand\","
                       "why_not=\"no_active_port\"}"),
            1);
  EXPECT_EQ(of("device_usable"), 1);
  EXPECT_EQ(metrics.At("farcall_rdma_device_usable{device=\"mlx5_1\"}"), 0);
  EXPECT_EQ(metrics.At("farcall_rdma_port_active{device=\"mlx5_1\",port=\"1\"}"), 0);
  const std::string losses = "farcall_rdma_port_losses_total{device=\"mlx5_0\",port=\"1\",counter=";
  EXPECT_EQ(metrics.At(losses + "\"out_of_sequence\"}"), 13);
  EXPECT_EQ(metrics.At(losses + "\"packet_seq_err\"}"), 0);
  EXPECT_EQ(of("connections"), 1);
  EXPECT_EQ(of("connections_opened_total"), 11);
  EXPECT_EQ(of("queue_pairs"), 2);
  EXPECT_EQ(of("queue_pairs_created_total"), 12);
  EXPECT_EQ(of("device_removals_total"), 1);
  EXPECT_EQ(of("received_bytes_total"), 100'000);
  EXPECT_EQ(of("sent_bytes_total"), 200'000);
  EXPECT_EQ(of("received_messages_total"), 50);
  EXPECT_EQ(of("sent_messages_total"), 60);
  EXPECT_EQ(of("doorbells_total"), 40);
  EXPECT_EQ(of("completions_total"), 90);
  EXPECT_EQ(of("receive_slots"), 512);
  EXPECT_EQ(of("receives_posted"), 500);
  EXPECT_EQ(of("receives_promised"), 64);
  EXPECT_EQ(of("receives_lost"), 3);
  EXPECT_EQ(of("silent_ends_total"), 2);
  const std::string device = "{device=\"mlx5_0\",";
  EXPECT_EQ(metrics.At("farcall_rdma_breaks_total" + device + "status=\"retry_exc_err\"}"), 4);
  EXPECT_EQ(metrics.At("farcall_rdma_async_events_total" + device + "type=\"port_err\"}"), 1);
  EXPECT_EQ(metrics.At("farcall_rdma_send_waits_total" + device + "wanted=\"credits\"}"), 7);
  EXPECT_EQ(metrics.At("farcall_rdma_send_waits_total" + device + "wanted=\"slots\"}"), 8);
  EXPECT_EQ(metrics.At("farcall_rdma_send_waits_total" + device + "wanted=\"memory\"}"), 9);
}

TEST(StatusMetricsTest, TellsOfRegisteredMemoryAndSetUps) {
  const Exposition metrics(SampleStatus());
  EXPECT_EQ(metrics.At("farcall_rdma_control_answered"), 1);
  EXPECT_EQ(metrics.At("farcall_rdma_setups"), 3);
  EXPECT_EQ(metrics.At("farcall_stalls_total"), 3);
  EXPECT_EQ(metrics.At("farcall_stalled_connections"), 2);
  EXPECT_EQ(metrics.At("farcall_rdma_incoming_setups"), 2);
  EXPECT_EQ(metrics.At("farcall_rdma_registered_bytes"), 24 << 20);
  EXPECT_EQ(metrics.At("farcall_rdma_registrations_total"), 3);
  EXPECT_EQ(metrics.At("farcall_rdma_registration_failures_total"), 1);
  EXPECT_EQ(metrics.At("farcall_rdma_registration_seconds_total"), 0.004);
  EXPECT_EQ(metrics.At("farcall_copied_bytes_total{cause=\"sent_small\"}"), 77);
  EXPECT_EQ(metrics.At("farcall_process_memlock_limit_bytes"), 8 << 20);
  EXPECT_EQ(metrics.At("farcall_process_pinned_bytes"), 24 << 20);
}

TEST(StatusMetricsTest, WhatIsNotKnownIsLeftOut) {
  ServerStatus status = SampleStatus();
  status.runtime.rdma = RdmaStatus();
  status.process.memlock_bytes = ProcessStatus::kUnlimited;
  const Exposition metrics(status);
  EXPECT_EQ(metrics.At("farcall_rdma_control_answered"), 0);
  EXPECT_FALSE(metrics.Has("farcall_rdma_setups"));
  EXPECT_FALSE(metrics.Has("farcall_process_memlock_limit_bytes"));
  EXPECT_EQ(metrics.types().count("farcall_rdma_connections"), 0u);
}

TEST(StatusMetricsTest, TellsOfTheMachine) {
  const Exposition metrics(SampleStatus());
  EXPECT_EQ(metrics.At("farcall_build_info{version=\"1.2.3\"}"), 1);
  EXPECT_EQ(metrics.At("farcall_pool_used_bytes"), 65536);
  EXPECT_EQ(metrics.At("farcall_pool_limit_bytes"), 1 << 30);
  EXPECT_EQ(metrics.At("farcall_loops"), 2);
  EXPECT_EQ(metrics.At("farcall_loop_turns_total{loop=\"0\"}"), 1000);
  EXPECT_FALSE(metrics.Has("farcall_loop_turns_total{loop=\"1\"}")) << "it did not answer";
  EXPECT_EQ(metrics.At("process_cpu_seconds_total"), 12.5);
  EXPECT_EQ(metrics.At("process_max_fds"), 1024);
}

TEST(StatusMetricsTest, TheTextIsThatOfTheFamilies) {
  const std::string text = MetricsText(SampleStatus());
  EXPECT_TRUE(absl::StrContains(text,
                                "# HELP farcall_build_info 1; the version is in the label.\n"
                                "# TYPE farcall_build_info gauge\n"
                                "farcall_build_info{version=\"1.2.3\"} 1\n"));
}

}  // namespace
}  // namespace farcall
