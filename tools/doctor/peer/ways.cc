// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/peer/ways.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "rpc/version.h"
#include "tools/doctor/checks/facts.h"
#include "tools/doctor/peer/networks.h"
#include "tools/doctor/peer/queue_counts.h"
#include "tools/doctor/raw/raw_ends.h"
#include "transport/why_not_rdma.h"

namespace farcall::doctor {
namespace {

// For each step of setting up, and no more addresses than so many are tried.
constexpr std::chrono::seconds kConnect{3};
constexpr size_t kMaxAddresses = 8;
constexpr int kMaxNetworks = 64;

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
                                                      const std::string& address,
                                                      const Rail& rail) {
  const auto port = caller.AskForRaw(address);
  if (!port.ok()) return port.status();
  const auto to = IpWithPort(address, *port);
  if (!to.ok()) return to.status();
  if (rail.address().empty()) return RawClient::Connect(api, *to, kConnect);
  const auto from = IpWithPort(rail.address(), 0);
  if (!from.ok()) return from.status();
  return RawClient::Connect(api, *to, kConnect, *from);
}

// Those first that the rail most likely leads to: of the device with its name.
std::vector<std::string> AddressesFor(const GreetResponse& peer, const Rail& rail) {
  std::vector<std::string> addresses(peer.rdma_addresses().begin(), peer.rdma_addresses().end());
  std::stable_partition(addresses.begin(), addresses.end(), [&](const std::string& address) {
    return std::any_of(peer.networks().begin(), peer.networks().end(), [&](const Network& each) {
      return !rail.device().empty() && each.device() == rail.device() && each.address() == address;
    });
  });
  if (addresses.size() > kMaxAddresses) addresses.resize(kMaxAddresses);
  return addresses;
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
  for (const Network& network : told.networks()) {
    if (shown.networks_size() == kMaxNetworks) break;
    Network& each = *shown.add_networks();
    each.set_address(escaped(network.address()));
    each.set_interface(escaped(network.interface()));
    each.set_device(escaped(network.device()));
  }
  shown.set_instance(escaped(told.instance()));
  return shown;
}

absl::StatusOr<Greeted> Greet(Runtime& runtime, const std::string& server) {
  auto caller = Caller::Connect(runtime, server, /*use_rdma=*/false);
  if (!caller.ok()) return caller.status();
  const auto told = (*caller)->Greet();
  if (!told.ok()) return told.status();
  GreetResponse peer = Printable(*told);
  if (peer.version() != std::string(Version())) {
    return absl::FailedPreconditionError(absl::StrCat(server, " runs a doctor of version ",
                                                      peer.version(), ", and this is ", Version()));
  }
  return Greeted{*std::move(caller), std::move(peer)};
}

ComparisonRow MeasureRaw(const VerbsApi* api, Caller& caller, const GreetResponse& peer,
                         const Rail& rail, Duration how_long, const Progress& progress) {
  ComparisonRow row;
  row.what = "raw verbs";
  row.trouble = api == nullptr ? "the RDMA libraries do not load here"
                               : "the peer tells no address: " + peer.rdma_trouble();
  if (api == nullptr) return row;
  std::vector<std::string> troubles;
  for (const std::string& address : AddressesFor(peer, rail)) {
    progress(absl::StrCat("raw verbs to ", address));
    auto client = ConnectRaw(*api, caller, address, rail);
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

RdmaRow MeasureRdma(const std::string& server, const Rail& rail, Duration how_long,
                    const Progress& progress) {
  constexpr const char* kWhat = "farcall over rdma";
  RdmaRow measured;
  ComparisonRow& row = measured.row;
  row.what = kWhat;
  std::vector<std::string> devices;
  if (!rail.device().empty()) devices.push_back(rail.device());
  // What was measured before is told all the same.
  const auto without = [&](absl::string_view why) {
    measured.reason = LibraryVerdict::kNotTold;
    measured.detail = std::string(why);
    row.trouble = measured.detail;
    return measured;
  };
  for (int tries = 0; tries < kTries; ++tries) {
    progress("setting up RDMA");
    auto runtime = QuietRuntime(devices);
    if (!runtime.ok()) return without(runtime.status().message());
    auto caller = Caller::Connect(**runtime, server, /*use_rdma=*/true);
    if (!caller.ok()) return without(caller.status().message());
    auto connection = (*caller)->Look();
    if (connection != nullptr && connection->why_not_rdma == WhyNotRdma::kInUse) {
      row = MeasureCalls(**caller, kWhat, how_long, progress);
      connection = (*caller)->Look();
    }
    if (connection == nullptr) return without(server + " is not there any more");
    measured.reason = std::string(Name(connection->why_not_rdma));
    measured.detail = connection->why_detail.empty()
                          ? std::string(Explain(connection->why_not_rdma))
                          : connection->why_detail;
    row.by = connection->device;
    if (!MayPass(measured.reason)) break;
  }
  if (measured.reason != "in_use") row.trouble = measured.reason + ": " + measured.detail;
  return measured;
}

ComparisonRow MeasureTcp(Caller& caller, Duration how_long, const Progress& progress) {
  ComparisonRow row = MeasureCalls(caller, "farcall over tcp", how_long, progress);
  row.by = "sockets";
  return row;
}

absl::StatusOr<Comparison> Compare(const std::string& server, const VerbsApi* api,
                                   Duration how_long, const Progress& progress) {
  auto runtime = QuietRuntime({});
  if (!runtime.ok()) return runtime.status();
  progress("reaching " + server);
  auto greeted = Greet(**runtime, server);
  if (!greeted.ok()) return greeted.status();
  Caller& over_tcp = *greeted->caller;
  Comparison comparison;
  const auto begun = std::chrono::steady_clock::now();
  const auto before = over_tcp.Count();
  comparison.host = greeted->peer.host();
  comparison.peer_summary = greeted->peer.summary();
  comparison.rows.push_back(MeasureRaw(api, over_tcp, greeted->peer, {}, how_long, progress));
  RdmaRow rdma = MeasureRdma(server, {}, how_long, progress);
  comparison.reason = std::move(rdma.reason);
  comparison.detail = std::move(rdma.detail);
  comparison.rows.push_back(std::move(rdma.row));
  comparison.rows.push_back(MeasureTcp(over_tcp, how_long, progress));
  const auto after = over_tcp.Count();
  // A peer that went away said so above.
  if (before.ok() && after.ok()) comparison.peers_queues = MovedOf(*before, *after);
  comparison.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return comparison;
}

}  // namespace farcall::doctor
