// SPDX-License-Identifier: Apache-2.0
//
// The benchmark of the store: gets, and gets of many keys, at a rate that does not wait for
// answers; over TCP, and over RDMA where there is some.

#include <chrono>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/common/figures/number_text.h"
#include "benchmarks/common/load_run.h"
#include "examples/kv/bench_calls.h"
#include "examples/kv/kv.pb.h"
#include "farcall/runtime.h"
#include "farcall/setting_flags.h"
#include "farcall/settled_connection.h"

ABSL_FLAG(std::string, server, "127.0.0.1:8005", "host:port, ip:port, [v6]:port or unix:PATH");
ABSL_FLAG(uint64_t, keys, 100'000, "how many");
ABSL_FLAG(uint64_t, value_bytes, 100, "of each value");
ABSL_FLAG(double, qps, 200'000, "gets per second; 0: as many as --in_flight allows");
ABSL_FLAG(int, multi_get, 30, "keys in one multi-get");
ABSL_FLAG(double, multi_get_qps, 10'000, "multi-gets per second; 0: as above");
ABSL_FLAG(double, seconds, 3, "measured, of each row");
ABSL_FLAG(double, warmup, 0.5, "seconds of load before that");
ABSL_FLAG(int, connections, 1, "to the server; each has a thread that begins calls");
ABSL_FLAG(int, in_flight, 1024, "calls under way at most, over all connections");
ABSL_FLAG(std::vector<std::string>, transports, (std::vector<std::string>{"tcp", "rdma"}),
          "what is to carry the calls, in turn");

namespace {

using farcall::Channel;
using farcall::bench::CallCounts;
using farcall::bench::CountText;
using farcall::bench::LoadOutcome;
using farcall::bench::LoadPlan;
using farcall::bench::MicrosText;
using farcall::bench::NumberText;

using Channels = std::vector<std::unique_ptr<Channel>>;

// kFailedPrecondition: `transport` cannot be had, and why.
absl::Status WaitFor(Channel& channel, const std::string& transport) {
  example::Kv_Stub stub(&channel);
  const auto connection = farcall::SettledConnection(
      [&stub](farcall::Controller& controller) {
        example::KvGetRequest request;
        example::KvGetResponse response;
        request.set_key("nothing");
        stub.Get(&controller, &request, &response, nullptr);
      },
      std::chrono::seconds(15));
  if (!connection.ok()) return connection.status();
  if (std::string(ToString((*connection)->transport)) == transport) return absl::OkStatus();
  return absl::FailedPreconditionError(Explain((*connection)->why_not_rdma));
}

absl::StatusOr<Channels> Connect(farcall::Runtime& runtime, const std::string& transport) {
  Channels channels;
  for (int i = 0; i < absl::GetFlag(FLAGS_connections); ++i) {
    farcall::ChannelOptions options;
    options.runtime = &runtime;
    options.use_rdma = transport == "rdma";
    options.timeout_ms = 30'000;
    options.connect_timeout_ms = 5000;
    options.max_retry = 0;
    auto channel = Channel::Create(absl::GetFlag(FLAGS_server), options);
    if (!channel.ok()) return channel.status();
    if (absl::Status status = WaitFor(**channel, transport); !status.ok()) return status;
    channels.push_back(*std::move(channel));
  }
  return channels;
}

// True: no call failed.
bool RunRow(const Channels& channels, const std::string& transport, const example::BenchData& data,
            int batch, double rate) {
  LoadPlan plan;
  plan.loads = static_cast<int>(channels.size());
  plan.slots = absl::GetFlag(FLAGS_in_flight);
  plan.rate = rate;
  plan.warmup = LoadPlan::Seconds(absl::GetFlag(FLAGS_warmup));
  plan.measured = LoadPlan::Seconds(absl::GetFlag(FLAGS_seconds));
  uint64_t seed = 1;
  plan.make = [&](int load, std::span<farcall::bench::CallTally> tallies) {
    return example::MakeGetSlot(*channels[static_cast<size_t>(load)], data, batch, seed++,
                                tallies.front());
  };
  const LoadOutcome outcome = RunLoad(plan);
  const CallCounts& counts = outcome.kinds.front();
  const farcall::bench::LatencyHistogram& latency = counts.latency;
  const double reached = static_cast<double>(latency.count()) / outcome.measured.count();
  std::printf("%s\n",
              absl::StrFormat("%-14s %-5s %10s %10s %10s %9s %9s %9s %9s %9s %8d",
                              batch == 1 ? "get" : absl::StrCat("multi-get ", batch), transport,
                              rate == 0 ? "-" : NumberText(rate), NumberText(reached),
                              NumberText(reached * batch), NumberText(latency.mean_ns() / 1e3),
                              MicrosText(latency.Quantile(0.5)), MicrosText(latency.Quantile(0.99)),
                              MicrosText(latency.Quantile(0.999)), MicrosText(latency.max()),
                              counts.failed())
                  .c_str());
  for (const auto& [code, failures] : counts.errors) {
    std::fprintf(stderr, "kv_bench: %d calls failed with %d: %s\n",
                 static_cast<int>(failures.calls), code, failures.first_text.c_str());
  }
  if (outcome.not_begun > 0) {
    std::fprintf(stderr, "kv_bench: %s calls that were due were not begun\n",
                 CountText(outcome.not_begun).c_str());
  }
  return counts.errors.empty();
}

absl::StatusOr<bool> RunAll() {
  farcall::RuntimeOptions runtime_options;
  runtime_options.event_loops = 1;  // unless --event_loops says otherwise
  runtime_options.log = [](farcall::LogSeverity, absl::string_view) {};
  const auto runtime = farcall::Runtime::Create(runtime_options);
  if (!runtime.ok()) return runtime.status();
  const example::BenchData data{absl::GetFlag(FLAGS_keys), absl::GetFlag(FLAGS_value_bytes)};

  {
    const auto channels = Connect(**runtime, "tcp");
    if (!channels.ok()) return channels.status();
    if (absl::Status status = Fill(*channels->front(), data); !status.ok()) return status;
  }
  std::printf("%s keys of 16 B with values of %s B at %s; %d connection(s), at most %d under way\n",
              CountText(data.keys).c_str(), CountText(data.value_bytes).c_str(),
              absl::GetFlag(FLAGS_server).c_str(), absl::GetFlag(FLAGS_connections),
              absl::GetFlag(FLAGS_in_flight));
  std::printf("%s\n",
              absl::StrFormat("%-14s %-5s %10s %10s %10s %9s %9s %9s %9s %9s %8s", "", "", "asked",
                              "reached", "", "mean", "p50", "p99", "p99.9", "max", "")
                  .c_str());
  std::printf("%s\n", absl::StrFormat("%-14s %-5s %10s %10s %10s %9s %9s %9s %9s %9s %8s", "load",
                                      "over", "calls/s", "calls/s", "keys/s", "us", "us", "us",
                                      "us", "us", "failed")
                          .c_str());
  bool well = true;
  for (const std::string& transport : absl::GetFlag(FLAGS_transports)) {
    const auto channels = Connect(**runtime, transport);
    if (absl::IsFailedPrecondition(channels.status())) {
      std::printf("%s is not here: %s\n", transport.c_str(),
                  std::string(channels.status().message()).c_str());
      continue;
    }
    if (!channels.ok()) return channels.status();
    well &= RunRow(*channels, transport, data, 1, absl::GetFlag(FLAGS_qps));
    well &= RunRow(*channels, transport, data, absl::GetFlag(FLAGS_multi_get),
                   absl::GetFlag(FLAGS_multi_get_qps));
  }
  return well;
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("puts load on example.Kv and prints a row for each kind of it");
  farcall::TakeSettingFlags(&argc, argv);
  absl::ParseCommandLine(argc, argv);
  const absl::StatusOr<bool> well = RunAll();
  if (!well.ok()) std::fprintf(stderr, "kv_bench: %s\n", well.status().ToString().c_str());
  return well.ok() && *well ? 0 : 1;
}
