// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/peer/compare.h"

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "rpc/version.h"
#include "tools/doctor/checks/facts.h"
#include "tools/doctor/peer/caller.h"
#include "tools/doctor/peer/queue_counts.h"
#include "tools/doctor/raw/raw_ends.h"
#include "transport/why_not_rdma.h"

namespace farcall::doctor {
namespace {

// For each step of setting up, and no more addresses than so many are tried.
constexpr std::chrono::seconds kConnect{3};
constexpr int kMostAddresses = 8;

double Micros(std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1e3; }

void Fill(const absl::StatusOr<bench::LatencyHistogram>& latency,
          const absl::StatusOr<double>& rate, ComparisonRow& row) {
  if (!latency.ok() || !rate.ok()) {
    row.trouble = std::string((latency.ok() ? rate.status() : latency.status()).message());
    return;
  }
  row.p50_us = Micros(latency->Quantile(0.5));
  row.p99_us = Micros(latency->Quantile(0.99));
  row.bytes_per_second = *rate;
}

ComparisonRow MeasureCalls(Caller& caller, const char* what, Duration how_long,
                           const Progress& progress) {
  ComparisonRow row;
  row.what = what;
  progress(absl::StrCat(what, ": latency"));
  const auto latency = caller.Ping(how_long);
  progress(absl::StrCat(what, ": bandwidth"));
  Fill(latency, caller.Stream(how_long), row);
  return row;
}

absl::StatusOr<std::unique_ptr<RawClient>> ConnectRaw(const VerbsApi& api, Caller& caller,
                                                      const std::string& address) {
  const auto port = caller.AskForRaw(address);
  if (!port.ok()) return port.status();
  const bool v6 = absl::StrContains(address, ":");
  const auto to = Address::Parse(v6 ? absl::StrCat("[", address, "]:", *port)
                                    : absl::StrCat(address, ":", *port));
  if (!to.ok()) return to.status();
  return RawClient::Connect(api, *to, kConnect);
}

ComparisonRow MeasureRaw(const VerbsApi* api, Caller& caller, const GreetResponse& peer,
                         Duration how_long, const Progress& progress) {
  ComparisonRow row;
  row.what = "raw verbs";
  row.trouble = api == nullptr ? "the RDMA libraries do not load here"
                               : "the peer tells no address: " + peer.rdma_trouble();
  if (api == nullptr) return row;
  int tried = 0;
  std::vector<std::string> troubles;
  for (const std::string& address : peer.rdma_addresses()) {
    if (++tried > kMostAddresses) break;
    progress(absl::StrCat("raw verbs to ", address));
    auto client = ConnectRaw(*api, caller, address);
    if (!client.ok()) {
      troubles.push_back(absl::StrCat(address, ": ", client.status().message()));
      row.trouble = absl::StrJoin(troubles, "; ");
      continue;
    }
    row.by = (*client)->device();
    row.trouble.clear();
    progress("raw verbs: latency");
    const auto latency = (*client)->Ping(how_long);
    progress("raw verbs: bandwidth");
    Fill(latency, (*client)->Stream(how_long), row);
    break;
  }
  return row;
}

// Also tells why it is not RDMA.
ComparisonRow MeasureRdma(const std::string& server, Duration how_long, const Progress& progress,
                          Comparison& comparison) {
  constexpr const char* kWhat = "farcall over rdma";
  ComparisonRow row;
  row.what = kWhat;
  // What was measured before is told all the same.
  const auto without = [&](absl::string_view why) {
    comparison.reason = LibraryVerdict::kNotTold;
    comparison.detail = std::string(why);
    row.trouble = comparison.detail;
    return row;
  };
  for (int tries = 0; tries < kTries; ++tries) {
    progress("setting up RDMA");
    auto runtime = QuietRuntime({});
    if (!runtime.ok()) return without(runtime.status().message());
    auto caller = Caller::Connect(**runtime, server, /*use_rdma=*/true);
    if (!caller.ok()) return without(caller.status().message());
    auto connection = (*caller)->Look();
    if (connection != nullptr && connection->why_not_rdma == WhyNotRdma::kInUse) {
      row = MeasureCalls(**caller, kWhat, how_long, progress);
      connection = (*caller)->Look();
    }
    if (connection == nullptr) return without(server + " is not there any more");
    comparison.reason = std::string(Name(connection->why_not_rdma));
    comparison.detail = connection->why_detail.empty()
                            ? std::string(Explain(connection->why_not_rdma))
                            : connection->why_detail;
    row.by = connection->device;
    if (!MayPass(comparison.reason)) break;
  }
  if (comparison.reason != "in_use") row.trouble = comparison.reason + ": " + comparison.detail;
  return row;
}

}  // namespace

GreetResponse Printable(const GreetResponse& told) {
  const auto escaped = [](const std::string& text) { return absl::Utf8SafeCHexEscape(text); };
  GreetResponse shown;
  shown.set_host(escaped(told.host()));
  shown.set_version(escaped(told.version()));
  shown.set_summary(escaped(told.summary()));
  for (const std::string& address : told.rdma_addresses()) {
    shown.add_rdma_addresses(escaped(address));
  }
  shown.set_rdma_trouble(escaped(told.rdma_trouble()));
  return shown;
}

absl::StatusOr<Comparison> Compare(const std::string& server, const VerbsApi* api,
                                   Duration how_long, const Progress& progress) {
  auto runtime = QuietRuntime({});
  if (!runtime.ok()) return runtime.status();
  progress("reaching " + server);
  auto over_tcp = Caller::Connect(**runtime, server, /*use_rdma=*/false);
  if (!over_tcp.ok()) return over_tcp.status();
  const auto told = (*over_tcp)->Greet();
  if (!told.ok()) return told.status();
  const GreetResponse peer = Printable(*told);
  if (peer.version() != std::string(Version())) {
    return absl::FailedPreconditionError(absl::StrCat(server, " runs a doctor of version ",
                                                      peer.version(), ", and this is ", Version()));
  }
  Comparison comparison;
  const auto begun = std::chrono::steady_clock::now();
  const auto before = (*over_tcp)->Count();
  comparison.host = peer.host();
  comparison.peer_summary = peer.summary();
  comparison.rows.push_back(MeasureRaw(api, **over_tcp, peer, how_long, progress));
  comparison.rows.push_back(MeasureRdma(server, how_long, progress, comparison));
  ComparisonRow tcp = MeasureCalls(**over_tcp, "farcall over tcp", how_long, progress);
  tcp.by = "sockets";
  comparison.rows.push_back(std::move(tcp));
  const auto after = (*over_tcp)->Count();
  // A peer that went away said so above.
  if (before.ok() && after.ok()) comparison.peers_queues = MovedOf(*before, *after);
  comparison.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return comparison;
}

}  // namespace farcall::doctor
