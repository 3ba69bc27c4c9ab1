// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/balance/testing/shares.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"

namespace farcall {
namespace {

constexpr Duration kLatency = std::chrono::milliseconds(1);

std::map<ServerSet::ServerId, int> Ports(const std::vector<ServerSet::View>& views) {
  std::map<ServerSet::ServerId, int> ports;
  for (const ServerSet::View& view : views) ports[view.id] = view.node.address.port();
  return ports;
}

// How far a count may be from what is expected.
double Bound(const std::string& balancer, double expected, size_t servers) {
  if (balancer == "rr") return 1.01;
  // Each has its turns at its own distance; those of the others do not shift them.
  if (balancer == "wrr") return static_cast<double>(servers) + 1;
  // The points of a server vary as their number's root, which is 11 or more.
  if (balancer == "c_hash") return 0.6 * expected;
  // The same cost is the same to it up to a quarter.
  if (balancer == "la") return 0.5 * expected;
  return 6 * std::sqrt(expected) + 3;  // six sigma
}

std::vector<int> Owners(ServerSet& set, const std::map<ServerSet::ServerId, int>& ports, int codes,
                        TimePoint now) {
  std::vector<int> owners;
  for (int code = 0; code < codes; ++code) {
    owners.push_back(ports.at(*set.Pick(static_cast<uint64_t>(code), {}, now)));
  }
  return owners;
}

std::vector<int> OwnersOf(std::vector<ServerNode> nodes, const ChannelOptions& options, int codes,
                          TimePoint now) {
  ServerSet set(options, 4711);
  set.Update(std::move(nodes), now);
  return Owners(set, Ports(set.Views(now)), codes, now);
}

}  // namespace

std::map<int, int> CountCalls(ServerSet& set, const std::vector<ServerSet::View>& views, int calls,
                              TimePoint& now, Duration step) {
  const std::map<ServerSet::ServerId, int> ports = Ports(views);
  std::map<int, int> counts;
  for (int i = 0; i < calls; ++i) {
    now += step;
    const std::optional<ServerSet::ServerId> id = set.Pick(static_cast<uint64_t>(i), {}, now);
    set.OnStart(*id);
    set.OnEnd(*id, ServerSet::Outcome::kSuccess, kLatency, now);
    ++counts[ports.at(*id)];
  }
  return counts;
}

std::string CheckShares(ServerSet& set, const std::string& balancer, TimePoint& now) {
  const std::vector<ServerSet::View> views = set.Views(now);
  const bool weighted = balancer == "wrr" || balancer == "wr" || balancer == "c_hash";
  int weights = 0;
  for (const ServerSet::View& view : views) weights += weighted ? view.node.weight : 1;
  const int calls = 300 * static_cast<int>(views.size());
  std::map<int, int> counts = CountCalls(set, views, calls, now, std::chrono::microseconds(1));
  for (const ServerSet::View& view : views) {
    const double expected =
        static_cast<double>(calls) * (weighted ? view.node.weight : 1) / weights;
    const int count = counts[view.node.address.port()];
    if (std::abs(count - expected) <= Bound(balancer, expected, views.size())) continue;
    return absl::StrCat(balancer, ": server ", view.id, " got ", count, " of ", calls,
                        " calls rather than ", expected);
  }
  return "";
}

std::string CheckSameCodes(ServerSet& set, const ChannelOptions& options, TimePoint now) {
  constexpr int kCodes = 200;
  const std::vector<ServerSet::View> views = set.Views(now);
  const std::vector<int> owners = Owners(set, Ports(views), kCodes, now);
  std::vector<ServerNode> nodes;
  for (const ServerSet::View& view : views) nodes.push_back(view.node);
  std::reverse(nodes.begin(), nodes.end());
  if (OwnersOf(nodes, options, kCodes, now) != owners) return "another set has other codes";

  const int gone = nodes.back().address.port();
  nodes.pop_back();
  if (nodes.empty()) return "";
  const std::vector<int> left = OwnersOf(nodes, options, kCodes, now);
  for (size_t code = 0; code < owners.size(); ++code) {
    if (owners[code] != gone && owners[code] != left[code]) return "a code moved without need";
  }
  return "";
}

}  // namespace farcall
