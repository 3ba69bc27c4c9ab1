// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/peer/every_way.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/doctor/peer/networks.h"

namespace farcall::doctor {
namespace {

// Nobody looks on.
void Unseen(absl::string_view) {}

std::vector<Rail> RailsOf(const std::vector<Network>& own) {
  std::vector<Rail> rails;
  for (const Network& each : own) {
    const bool known = std::any_of(rails.begin(), rails.end(), [&](const Rail& rail) {
      return rail.device() == each.device();
    });
    if (!each.device().empty() && !known && rails.size() < kMaxWays) rails.push_back(each);
  }
  // One is what the library takes anyway; it is not named.
  if (rails.size() < 2) rails = {Rail()};
  return rails;
}

// Of the addresses that the other host told, those that may be gone to.
GreetResponse Within(const Networks& allowed, GreetResponse peer) {
  const auto elsewhere = [&](const std::string& ip) {
    const auto address = IpWithPort(ip, 0);
    return !address.ok() || !allowed.Contains(*address);
  };
  auto& addresses = *peer.mutable_rdma_addresses();
  addresses.erase(std::remove_if(addresses.begin(), addresses.end(), elsewhere), addresses.end());
  auto& networks = *peer.mutable_networks();
  networks.erase(std::remove_if(networks.begin(), networks.end(),
                                [&](const Network& each) { return elsewhere(each.address()); }),
                 networks.end());
  return peer;
}

// A network of the other host: its name, and its address there.
struct Target {
  std::string rail;
  Address address;
};

const Network* Find(const GreetResponse& peer, const Address& address) {
  for (const Network& each : peer.networks()) {
    const auto ip = IpWithPort(each.address(), address.port());
    if (ip.ok() && *ip == address) return &each;
  }
  return nullptr;
}

// Each interface once, but for the one at which it was reached; then what else was asked for.
std::vector<Target> TargetsOf(const GreetResponse& peer, const EveryWay& ways) {
  std::vector<Target> targets;
  const Network* const reached = Find(peer, ways.server);
  std::set<std::string> seen;
  if (reached != nullptr) seen.insert(reached->interface());
  const auto add = [&](const std::string& ip, const std::string& name) {
    const auto address = IpWithPort(ip, ways.server.port());
    if (!address.ok() || *address == ways.server || targets.size() == kMaxWays) return;
    if (seen.insert(name).second) targets.push_back({name, *address});
  };
  for (const Network& each : peer.networks()) add(each.address(), each.interface());
  for (size_t i = 0; i < ways.addresses.size(); ++i) {
    const auto address = IpWithPort(ways.addresses[i], ways.server.port());
    if (address.ok() && Find(peer, *address) != nullptr) continue;
    add(ways.addresses[i], absl::StrCat("address ", i + 2));
  }
  return targets;
}

ComparisonRow OverNetwork(Runtime& runtime, const Target& target, const std::string& instance,
                          Duration how_long) {
  ComparisonRow row;
  auto greeted = Greet(runtime, target.address.ToString());
  if (!greeted.ok()) {
    row.trouble = std::string(greeted.status().message());
  } else if (greeted->peer.instance() != instance) {
    row.trouble = absl::StrCat(target.address.ToString(), " leads to another host");
  } else {
    row = MeasureTcp(*greeted->caller, how_long, Unseen);
  }
  row.what = "farcall over tcp";
  row.rail = target.rail;
  return row;
}

}  // namespace

absl::StatusOr<std::vector<ComparisonRow>> MeasureEveryWay(const EveryWay& ways,
                                                           const std::atomic<bool>& stop) {
  auto runtime = QuietRuntime({});
  if (!runtime.ok()) return runtime.status();
  const std::string server = ways.server.ToString();
  auto greeted = Greet(**runtime, server);
  if (!greeted.ok()) return greeted.status();
  const GreetResponse peer = Within(ways.allowed, greeted->peer);
  std::vector<ComparisonRow> rows;
  const auto add = [&](const char* what, const std::string& rail, auto&& measure) {
    ComparisonRow row;
    row.trouble = "this doctor was asked to end";
    if (!stop) row = measure();
    row.what = what;
    if (row.rail.empty()) row.rail = rail;
    rows.push_back(std::move(row));
  };
  for (const Rail& rail : RailsOf(ways.own)) {
    add("raw verbs", rail.device(),
        [&] { return MeasureRaw(ways.api, *greeted->caller, peer, rail, ways.how_long, Unseen); });
    add("farcall over rdma", rail.device(), [&] {
      ComparisonRow row = MeasureRdma(server, rail, ways.how_long, Unseen).row;
      // rdma.devices comes before what is asked for: the numbers are of the one that carried it.
      if (!rail.device().empty()) row.rail = row.by;
      return row;
    });
  }
  add("farcall over tcp", "", [&] { return MeasureTcp(*greeted->caller, ways.how_long, Unseen); });
  for (const Target& target : TargetsOf(peer, ways)) {
    add("farcall over tcp", target.rail,
        [&] { return OverNetwork(**runtime, target, peer.instance(), ways.how_long); });
  }
  return rows;
}

}  // namespace farcall::doctor
