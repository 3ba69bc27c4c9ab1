// SPDX-License-Identifier: Apache-2.0
//
// The choice of adapters, transport/rdma/choice, between hosts as they were written down.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/doctor/checks/checks_testing.h"
#include "tools/node/inventory.h"
#include "transport/rdma/choice/adapter_choice.h"

namespace farcall::doctor {
namespace {

LinkLayer LinkOf(const node::Device& device, const node::Port& port) {
  if (node::IsIwarp(device)) return LinkLayer::kIwarp;
  return node::IsEthernet(port) ? LinkLayer::kRoce : LinkLayer::kInfiniBand;
}

std::array<uint8_t, 16> BytesOf(const std::string& gid) {
  std::array<uint8_t, 16> bytes{};
  size_t at = 0;
  for (const absl::string_view word : absl::StrSplit(gid, ':')) {
    uint32_t number = 0;
    EXPECT_TRUE(absl::SimpleHexAtoi(word, &number) && at < bytes.size()) << gid;
    bytes[at++] = static_cast<uint8_t>(number >> 8);
    bytes[at++] = static_cast<uint8_t>(number);
  }
  return bytes;
}

// Its ends for set-up over TCP, of RoCE by v2; those with an IPv4 address before others.
std::vector<OwnEnd> EndsOf(const char* fixture) {
  std::vector<OwnEnd> ends;
  const node::Inventory inventory = Read(fixture);
  for (const node::Device& device : inventory.devices()) {
    for (const node::Port& port : device.ports()) {
      for (const node::Gid& gid : port.gids()) {
        OwnEnd end;
        end.link_layer = LinkOf(device, port);
        if (end.link_layer == LinkLayer::kIwarp) continue;
        const bool ethernet = end.link_layer == LinkLayer::kRoce;
        if (ethernet && gid.type() != "RoCE v2") continue;
        end.device = device.name();
        end.port = static_cast<uint8_t>(port.number());
        end.gid = ethernet ? GidType::kRoceV2 : GidType::kInfiniBand;
        end.name = BytesOf(gid.gid());
        const bool v4 = end.name[0] == 0;
        end.prefix_bits = v4 ? 120 : 64;
        end.preference = v4 ? 0 : 1;
        end.partition = 0xffff;
        end.rate = static_cast<uint32_t>(std::lround(1000 * port.rate_gbps()));
        end.connections = 0;
        end.numa_node = device.pci().has_numa_node() ? device.pci().numa_node() : -1;
        end.usable = node::IsActive(port);
        ends.push_back(end);
      }
    }
  }
  return ends;
}

// As another host of that kind: it has other addresses.
std::vector<OfferedEnd> OfferOf(const char* fixture) {
  std::vector<OfferedEnd> offer;
  for (const OwnEnd& end : EndsOf(fixture)) {
    if (!end.usable) continue;
    OfferedEnd offered;
    static_cast<PortEnd&>(offered) = end;
    offered.device = absl::StrCat("other_", end.device);
    offered.name[15] ^= 0x80;
    offered.turn = static_cast<uint32_t>(offer.size());
    offer.push_back(offered);
  }
  return offer;
}

struct Host {
  std::vector<OwnEnd> own;
  std::vector<OfferedEnd> offer;
  std::vector<AdapterPair> Choose(int loop_node, uint64_t seed = 1) const {
    const auto none = [](const OwnEnd*, const OfferedEnd&) { return 0u; };
    return ChooseAdapters(own, offer, {.loop_node = loop_node, .seed = seed, .failures = none});
  }
  // "mlx5_0 other_mlx5_1"
  std::string NamesOf(const AdapterPair& pair) const {
    return absl::StrCat(pair.own ? own[*pair.own].device : "none", " ", offer[pair.offered].device);
  }
};

Host Between(const char* client, const char* server) { return {EndsOf(client), OfferOf(server)}; }

// The devices that are first for one seed or another.
std::set<std::string> FirstOf(const Host& host, int loop_node) {
  std::set<std::string> devices;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto pairs = host.Choose(loop_node, seed);
    if (!pairs.empty() && pairs[0].own) devices.insert(host.own[*pairs[0].own].device);
  }
  return devices;
}

TEST(RecordedChoiceTest, OfEightAdaptersThoseOfTheLoopsNodeAreFirst) {
  const Host host = Between("cx7_eight", "cx7_eight");
  using Names = std::set<std::string>;
  EXPECT_EQ(FirstOf(host, 0), (Names{"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"}));
  EXPECT_EQ(FirstOf(host, 1), (Names{"mlx5_4", "mlx5_5", "mlx5_6", "mlx5_7"}));
  EXPECT_EQ(FirstOf(host, -1).size(), 8u) << "all are equally near";
}

TEST(RecordedChoiceTest, EachOfEightGetsItsShareAsConnectionsCome) {
  Host host = Between("cx7_eight", "cx7_eight");
  const auto count = [&host](const std::string& device) {
    for (const OwnEnd& end : host.own) {
      if (end.device == device) return end.connections.value();
    }
    return 0u;
  };
  for (uint64_t seed = 0; seed < 24; ++seed) {
    const AdapterPair pair = host.Choose(/*loop_node=*/1, seed)[0];
    const std::string here = host.own[pair.own.value()].device;
    const std::string there = host.offer[pair.offered].device;
    for (OwnEnd& end : host.own) *end.connections += end.device == here ? 1 : 0;
    for (OfferedEnd& end : host.offer) *end.connections += end.device == there ? 1 : 0;
  }
  for (int i = 0; i < 4; ++i) EXPECT_EQ(count(absl::StrCat("mlx5_", i)), 2u) << i << ", far";
  for (int i = 4; i < 8; ++i) EXPECT_EQ(count(absl::StrCat("mlx5_", i)), 4u) << i << ", near";
}

TEST(RecordedChoiceTest, PortsOfOneNetworkMeet) {
  const Host host = Between("cx7_roce", "cx7_roce_other");
  std::set<std::string> networks;
  for (const AdapterPair& pair : host.Choose(0)) {
    if (host.offer[pair.offered].name[0] == 0) networks.insert(host.NamesOf(pair));
  }
  EXPECT_EQ(networks, (std::set<std::string>{"mlx5_0 other_mlx5_0", "mlx5_1 other_mlx5_1"}));
}

TEST(RecordedChoiceTest, OnAMixedHostTheFabricDecides) {
  const Host infiniband = Between("mixed_fabric", "cx7_infiniband");
  EXPECT_EQ(FirstOf(infiniband, 1), std::set<std::string>{"mlx5_0"})
      << "the one of node 1 has no cable";
  EXPECT_EQ(FirstOf(Between("mixed_fabric", "bond"), 0), std::set<std::string>{"mlx5_2"})
      << "200 Gb/s before 25";
}

TEST(RecordedChoiceTest, NoPairOfHostsMeetsWhereItCannot) {
  for (const char* const client : node::kFixtures) {
    for (const char* const server : node::kFixtures) {
      const Host host = Between(client, server);
      std::set<size_t> offered;
      for (const AdapterPair& pair : host.Choose(0)) {
        const std::string what = absl::StrCat(client, " to ", server, ": ", host.NamesOf(pair));
        EXPECT_TRUE(offered.insert(pair.offered).second) << what << " twice";
        ASSERT_TRUE(pair.own.has_value()) << what;
        const OwnEnd& own = host.own[*pair.own];
        EXPECT_TRUE(own.usable) << what;
        EXPECT_EQ(own.link_layer, host.offer[pair.offered].link_layer) << what;
        EXPECT_EQ(own.name[0] == 0, host.offer[pair.offered].name[0] == 0) << what;
      }
      const auto active = [&](LinkLayer link_layer) {
        return std::any_of(host.own.begin(), host.own.end(), [&](const OwnEnd& end) {
          return end.usable && end.link_layer == link_layer;
        });
      };
      for (size_t i = 0; i < host.offer.size(); ++i) {
        if (offered.count(i) > 0) continue;
        EXPECT_FALSE(active(host.offer[i].link_layer) && host.offer[i].name[0] != 0)
            << client << " to " << server << ": " << host.offer[i].device << " is left out";
      }
    }
  }
}

}  // namespace
}  // namespace farcall::doctor
