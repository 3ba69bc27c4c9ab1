// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/setup/ways.h"

#include <algorithm>
#include <map>
#include <utility>

#include "transport/rdma/choice/adapter_choice.h"
#include "transport/rdma/device/device_place.h"

namespace farcall {
namespace {

constexpr int kIpv4Begins = 96;  // bits, in a name

// An own end, and what it is to this host.
struct Known {
  PortCounts::Port port{};
  std::optional<LocalPort> local;
  Address address;
};

class OwnEnds {
 public:
  explicit OwnEnds(RdmaHost& host)
      : host_(host),
        active_(host.ActivePorts()),
        addresses_(host.view().addresses().value_or(std::vector<LocalIp>())) {
    for (const LocalIp& local : addresses_) AddAddress(local);
    for (const LocalPort& local : host.Ports()) AddPort(local);
  }

  const std::vector<OwnEnd>& ends() const { return ends_; }
  const Known& known(size_t end) const { return known_[end]; }

 private:
  static int PrefixBits(const LocalIp& local) {
    const bool v4 = local.address.family() == AddressFamily::kIpv4;
    return local.prefix_bits == 0 ? 0 : local.prefix_bits + (v4 ? kIpv4Begins : 0);
  }

  OwnEnd EndOf(const DeviceSet::ActivePort& active) const {
    OwnEnd end;
    end.device = active.device.name;
    end.link_layer = active.port.link_layer;
    end.port = active.port.number;
    end.rate = active.port.rate;
    end.connections = host_.port_counts().Of({active.context, active.port.number});
    end.numa_node = active.device.numa_node;
    return end;
  }

  void AddAddress(const LocalIp& local) {
    OwnEnd end;
    end.usable = false;
    PortCounts::Port port{};
    for (const DeviceSet::ActivePort& active : active_) {
      if (PortWith(active.device, local) != active.port.number) continue;
      end = EndOf(active);
      port = {active.context, active.port.number};
      break;
    }
    end.name = NameOf(local.address);
    end.prefix_bits = PrefixBits(local);
    ends_.push_back(std::move(end));
    known_.push_back({port, std::nullopt, local.address});
  }

  // Those of one port come with the best first.
  void AddPort(const LocalPort& local) {
    const auto active = std::find_if(active_.begin(), active_.end(), [&](const auto& one) {
      return one.context == local.context && one.port.number == local.number;
    });
    if (active == active_.end()) return;
    OwnEnd end = EndOf(*active);
    end.gid = local.port.type;
    end.name = local.port.gid;
    end.partition = active->port.partition;
    end.preference = seen_[{local.context, local.number}]++;
    for (const LocalIp& ip : addresses_) {
      if (ip.address == local.address) end.prefix_bits = PrefixBits(ip);
    }
    ends_.push_back(std::move(end));
    known_.push_back({{local.context, local.number}, local, local.address});
  }

  RdmaHost& host_;
  const std::vector<DeviceSet::ActivePort> active_;
  const std::vector<LocalIp> addresses_;
  std::map<PortCounts::Port, uint32_t> seen_;
  std::vector<OwnEnd> ends_;
  std::vector<Known> known_;  // of each end
};

OfferedEnd EndOf(const UpgradeAddress& place, size_t turn) {
  OfferedEnd end;
  end.device = place.device;
  end.link_layer = place.link_layer;
  end.rate = place.rate;
  end.connections = place.connections;
  end.turn = static_cast<uint32_t>(turn);
  end.name = NameOf(place.address);
  if (place.port) {
    end.gid = place.port->type;
    end.name = place.port->gid;
    end.partition = place.partition;
  }
  return end;
}

}  // namespace

std::vector<Way> WaysTo(RdmaHost& host, const EventLoop& loop,
                        const std::vector<UpgradeAddress>& offer,
                        const OfferConnectOptions& options) {
  const OwnEnds own(host);
  std::vector<OfferedEnd> offered;
  for (const UpgradeAddress& place : offer) offered.push_back(EndOf(place, offered.size()));
  const TimePoint now = host.parts().control.now();
  const auto failures = [&](const OwnEnd* from, const OfferedEnd& to) {
    return host.past_failures().Count(from, to, now);
  };
  std::vector<Way> ways;
  const bool no_rdma_cm = host.parts().options.set_up == RdmaSetUp::kOverTcp;
  for (AdapterPair& pair : ChooseAdapters(own.ends(), offered,
                                          {.loop_node = host.NodeOf(loop),
                                          .seed = host.NextSeed(),
                                          .failures = failures,
                                          .rails = options.rails,
                                          .apart = options.apart})) {
    if (no_rdma_cm && !offer[pair.offered].port) continue;
    Way way{pair.offered, offered[pair.offered], {}, {}, {}, {}, pair.fabric, std::move(pair.why)};
    if (pair.own) {
      const Known& known = own.known(*pair.own);
      way.from = own.ends()[*pair.own];
      way.port = known.port;
      way.local = known.local;
      if (!known.local) way.source = known.address;
    }
    ways.push_back(std::move(way));
  }
  return ways;
}

}  // namespace farcall
