// SPDX-License-Identifier: Apache-2.0
//
// Topologies, and what is chosen on them.

#ifndef FARCALL_TRANSPORT_RDMA_CHOICE_ADAPTER_CHOICE_TESTING_H_
#define FARCALL_TRANSPORT_RDMA_CHOICE_ADAPTER_CHOICE_TESTING_H_

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/rdma/choice/adapter_choice.h"
#include "transport/testing/test_random.h"

namespace farcall {

constexpr uint32_t k400 = 400'000;
constexpr uint32_t k100 = 100'000;

inline std::array<uint8_t, 16> Ip(int net, int host) {
  return NameOf(Address::Ipv4({10, 0, static_cast<uint8_t>(net), static_cast<uint8_t>(host)}, 0));
}

inline OwnEnd Own(int number, std::array<uint8_t, 16> name, int node = -1, uint32_t rate = k400) {
  OwnEnd end;
  end.device = absl::StrCat("mlx5_", number);
  end.link_layer = LinkLayer::kRoce;
  end.name = name;
  end.rate = rate;
  end.connections = 0;
  end.prefix_bits = 120;
  end.numa_node = node;
  return end;
}

inline OfferedEnd Offered(int number, std::array<uint8_t, 16> name, uint32_t rate = k400) {
  OfferedEnd end;
  end.device = absl::StrCat("peer_", number);
  end.link_layer = LinkLayer::kRoce;
  end.name = name;
  end.rate = rate;
  end.connections = 0;
  end.turn = static_cast<uint32_t>(number);
  return end;
}

struct Topology {
  std::vector<OwnEnd> own;
  std::vector<OfferedEnd> offered;
};

// Of a host with two sockets and four adapters on each, all in one network.
inline Topology EightOnTwoNodes() {
  Topology topology;
  for (int i = 0; i < 8; ++i) {
    topology.own.push_back(Own(i, Ip(0, 10 + i), i / 4));
    topology.offered.push_back(Offered(i, Ip(0, 110 + i)));
  }
  return topology;
}

// The same adapters, each in a network of its own.
inline Topology Rails(int rails) {
  Topology topology;
  for (int i = 0; i < rails; ++i) {
    topology.own.push_back(Own(i, Ip(i, 1)));
    topology.offered.push_back(Offered(i, Ip(i, 2)));
  }
  return topology;
}

inline void MakeGid(PortEnd& end, GidType type, LinkLayer link_layer) {
  end.gid = type;
  end.link_layer = link_layer;
}

class AdapterChoiceTest : public testing::Test {
 protected:
  using Texts = std::vector<std::string>;

  std::vector<AdapterPair> Choose(const Topology& topology) {
    return ChooseAdapters(topology.own, topology.offered,
                          {.loop_node = loop_node_,
                           .seed = seed_,
                           .failures = [this](const OwnEnd* own, const OfferedEnd& offered) {
                             return failures_[{own == nullptr ? "" : own->device, offered.device}];
                           }});
  }
  // "mlx5_0-peer_1", in order.
  std::vector<std::string> Names(const Topology& topology) {
    std::vector<std::string> names;
    for (const AdapterPair& pair : Choose(topology)) {
      names.push_back(absl::StrCat(pair.own ? topology.own[*pair.own].device : "routes", "-",
                                   topology.offered[pair.offered].device));
    }
    return names;
  }
  std::string First(const Topology& topology) {
    const std::vector<std::string> names = Names(topology);
    return names.empty() ? "" : names.front();
  }
  // So many connections one after the other: how many each own and each offered device has.
  std::map<std::string, int> Connect(Topology& topology, int times) {
    std::map<std::string, int> counts;
    for (int i = 0; i < times; ++i) {
      const AdapterPair first = Choose(topology).front();
      OwnEnd& own = topology.own[*first.own];
      OfferedEnd& offered = topology.offered[first.offered];
      ++*own.connections;
      ++*offered.connections;
      ++counts[own.device];
      ++counts[offered.device];
      ++seed_;
    }
    return counts;
  }

  int loop_node_ = -1;
  uint64_t seed_ = 1;
  std::map<std::pair<std::string, std::string>, uint32_t> failures_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CHOICE_ADAPTER_CHOICE_TESTING_H_
