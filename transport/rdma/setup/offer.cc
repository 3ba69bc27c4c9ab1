// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/setup/offer.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "transport/rdma/choice/adapter_choice.h"

namespace farcall {

std::optional<OfferedPlace> Describe(const RdmaHost& host, const EventLoop& loop,
                                     UpgradeAddress place, PortCounts::Port port) {
  for (const DeviceSet::ActivePort& active : host.ActivePorts()) {
    if (active.context != port.first) continue;
    if (port.second != 0 && active.port.number != port.second) continue;
    const PortCounts::Port found{active.context, active.port.number};
    place.rate = active.port.rate;
    place.connections = host.port_counts().Of(found);
    place.partition = active.port.partition;
    const bool far = IsFar(active.device.numa_node, host.NodeOf(loop));
    const double share = ShareOf(std::max(place.rate, 1u), *place.connections, far);
    return OfferedPlace{std::move(place), found, share};
  }
  return std::nullopt;
}

void PutInOrder(std::vector<OfferedPlace>& offer) {
  // The first place of a port, its second, and so on.
  struct Ranked {
    bool over_tcp;
    int number;
    OfferedPlace offered;
  };
  std::map<std::pair<bool, PortCounts::Port>, int> numbers;
  std::vector<Ranked> ranked;
  for (OfferedPlace& one : offer) {
    const bool over_tcp = one.place.port.has_value();
    const int number = numbers[{over_tcp, one.port}]++;
    ranked.push_back({over_tcp, number, std::move(one)});
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked& one, const Ranked& other) {
    return std::make_tuple(one.over_tcp, one.number, -one.offered.share) <
           std::make_tuple(other.over_tcp, other.number, -other.offered.share);
  });
  const auto ports = static_cast<size_t>(
      std::count_if(ranked.begin(), ranked.end(), [](const Ranked& one) { return one.over_tcp; }));
  size_t addresses_left = kMaxOffered - std::min(ports, kMaxOffered / 2);
  offer.clear();
  for (Ranked& one : ranked) {
    if (offer.size() == kMaxOffered) break;
    if (!one.over_tcp && addresses_left == 0) continue;
    if (!one.over_tcp) --addresses_left;
    offer.push_back(std::move(one.offered));
  }
}

}  // namespace farcall
