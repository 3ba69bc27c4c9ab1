// SPDX-License-Identifier: Apache-2.0
//
// Further rails of one connection: over which ports.

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/rdma/choice/adapter_choice.h"
#include "transport/testing/seeds_here.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

using Rails = std::vector<RailPorts>;

const uint64_t kSeeds = SeedsHere(60);

template <typename End>
End Make(absl::string_view prefix, int number, int net, int host) {
  End end;
  end.device = absl::StrCat(prefix, number);
  end.link_layer = LinkLayer::kRoce;
  end.name =
      NameOf(Address::Ipv4({10, 0, static_cast<uint8_t>(net), static_cast<uint8_t>(host)}, 0));
  end.rate = 100'000;
  end.connections = 0;
  return end;
}

OwnEnd Own(int number, int net) {
  OwnEnd end = Make<OwnEnd>("own", number, net, 1 + number);
  end.prefix_bits = 120;
  return end;
}

OfferedEnd Offered(int number, int net) {
  OfferedEnd end = Make<OfferedEnd>("peer", number, net, 101 + number);
  end.turn = static_cast<uint32_t>(number);
  return end;
}

struct Hosts {
  std::vector<OwnEnd> own;
  std::vector<OfferedEnd> offered;
  uint64_t seed = 1;
  std::string failing = "";  // own device
};

// "own0-peer1" and what it would use; or "" and nothing.
std::pair<std::string, RailPorts> First(const Hosts& hosts, const Rails& rails, bool apart) {
  const auto failures = [&](const OwnEnd* own, const OfferedEnd&) {
    return own != nullptr && own->device == hosts.failing ? 1u : 0u;
  };
  const auto pairs =
      ChooseAdapters(hosts.own, hosts.offered,
                     {.seed = hosts.seed, .failures = failures, .rails = rails, .apart = apart});
  if (pairs.empty()) return {};
  const std::string peer = hosts.offered[pairs[0].offered].device;
  if (!pairs[0].own) return {absl::StrCat("routes-", peer), {"", peer, pairs[0].fabric}};
  const OwnEnd& own = hosts.own[*pairs[0].own];
  return {absl::StrCat(own.device, "-", peer),
          {PortName(own.device, own.port), peer, pairs[0].fabric}};
}

// One after the other, up to `most`.
std::vector<std::string> All(const Hosts& hosts, size_t most, bool apart) {
  Rails rails;
  std::vector<std::string> names;
  while (names.size() < most) {
    auto [name, ports] = First(hosts, rails, apart);
    if (name.empty()) break;
    names.push_back(name);
    rails.push_back(ports);
  }
  return names;
}

TEST(AdapterRailsTest, EachGoesOverPortsThatNoneUsesAsLongAsThereAreSome) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    TestRandom random(seed);
    Hosts hosts;
    const int own = static_cast<int>(1 + random.Below(6));
    const int offered = static_cast<int>(1 + random.Below(6));
    for (int i = 0; i < own; ++i) hosts.own.push_back(Own(i, 0));
    for (int i = 0; i < offered; ++i) hosts.offered.push_back(Offered(i, 0));
    // What others have there must not lead a rail to a port that the connection uses.
    for (OwnEnd& end : hosts.own) end.connections = static_cast<uint32_t>(random.Below(50));
    for (OfferedEnd& end : hosts.offered) end.connections = static_cast<uint32_t>(random.Below(50));
    hosts.seed = random.Next();
    const auto fit = static_cast<size_t>(std::min(own, offered));
    EXPECT_EQ(All(hosts, 8, /*apart=*/true).size(), fit) << seed;
    EXPECT_EQ(All(hosts, 8, /*apart=*/false).size(), 8u) << seed;
    std::set<std::string> ports;
    Rails rails;
    for (size_t i = 0; i < fit; ++i) {
      rails.push_back(First(hosts, rails, /*apart=*/false).second);
      ports.insert(rails.back().own);
      ports.insert(rails.back().peer_device);
    }
    EXPECT_EQ(ports.size(), 2 * fit) << seed << ": also where they need not be apart";
  }
}

TEST(AdapterRailsTest, ThePortThatIsFreeAgainIsTaken) {
  Hosts hosts{{Own(0, 0), Own(1, 0)}, {Offered(0, 0), Offered(1, 0)}};
  for (int left = 0; left < 2; ++left) {
    const Rails rails = {
        {absl::StrCat("own", left, " port 1"), absl::StrCat("peer", 1 - left), kNoFabric}};
    EXPECT_EQ(First(hosts, rails, true).first, absl::StrCat("own", 1 - left, "-peer", left));
  }
  const Rails both = {{"own0 port 1", "peer0", kNoFabric}, {"own1 port 1", "peer1", kNoFabric}};
  EXPECT_EQ(First(hosts, both, true).first, "");
}

// One that rests is named without the other end.
TEST(AdapterRailsTest, AnOwnPortAloneIsLeftOut) {
  Hosts hosts{{Own(0, 0), Own(1, 0), Own(2, 0)}, {Offered(0, 0), Offered(1, 0)}};
  const Rails rails = {{"own0 port 1", "peer1", kNoFabric}, {"own1 port 1", "", kNoFabric}};
  EXPECT_EQ(First(hosts, rails, true).first, "own2-peer0");
  hosts.offered[0].device = "";
  EXPECT_EQ(First(hosts, rails, true).first, "own2-") << "an end without a name is of no rail";
}

// own1 is in a network that the other host may be reached from by routes, or may not.
TEST(AdapterRailsTest, ApartNothingIsConnectedThatTheNetworkMayNotHave) {
  Hosts hosts{{Own(0, 0), Own(1, 9)}, {Offered(0, 0), Offered(1, 5)}};
  EXPECT_EQ(All(hosts, 8, true), std::vector<std::string>{"own0-peer0"});
  hosts = {{Own(0, 0), Own(1, 9)}, {Offered(0, 3), Offered(1, 5)}};
  EXPECT_EQ(All(hosts, 8, true).size(), 2u) << "where all is routed, all is tried";
  // A server offers only what has the fewest rails.
  hosts = {{Own(0, 0), Own(1, 9)}, {Offered(0, 0)}};
  const Rails rails = {First(hosts, {}, true).second};
  hosts.offered = {Offered(1, 5)};
  EXPECT_EQ(First(hosts, rails, true).first, "");
}

TEST(AdapterRailsTest, ApartWhatFailedLatelyIsTriedWhereNothingElseIsLeft) {
  Hosts hosts{{Own(0, 0), Own(1, 0), Own(2, 0)}, {Offered(0, 0), Offered(1, 0), Offered(2, 0)}};
  hosts.failing = "own1";
  const std::vector<std::string> all = All(hosts, 8, true);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[2].substr(0, 4), "own1");
}

// Else both rails would be over one cable for good when the other one is back.
TEST(AdapterRailsTest, WhereARailBrokeAnotherIsMadeNotBesideOneThatIsThere) {
  Hosts hosts{{Own(0, 0), Own(1, 0)}, {Offered(0, 0)}};
  hosts.failing = "own0";
  EXPECT_EQ(First(hosts, {{"own1 port 1", "peer1", 1}}, false).first, "own0-peer0");
  EXPECT_EQ(First(hosts, {}, false).first, "own1-peer0") << "the first rail has to work";
}

TEST(AdapterRailsTest, ASharedPortComesBeforeOneThatOnlyRoutesMayJoin) {
  Hosts hosts{{Own(0, 0), Own(1, 9)}, {Offered(0, 0)}};
  EXPECT_EQ(First(hosts, {First(hosts, {}, false).second}, false).first, "own0-peer0");
}

// Both ends are this host's: the kernel chooses the device, which is that of the address.
TEST(AdapterRailsTest, ApartAHostHasARailWithItselfOverEachOfItsAdapters) {
  Hosts hosts{{Own(0, 0), Own(1, 0)}, {Offered(0, 0), Offered(1, 0)}};
  for (int i = 0; i < 2; ++i) hosts.offered[i].name = hosts.own[i].name;
  EXPECT_EQ(All(hosts, 8, true).size(), 2u);
}

// Without a port that is known to lead there it is unknown what shares one.
TEST(AdapterRailsTest, ApartThereIsOneWhereOnlyRoutesLead) {
  Hosts hosts{{}, {Offered(0, 0), Offered(1, 0)}};
  EXPECT_EQ(All(hosts, 8, true), std::vector<std::string>{"routes-peer0"});
}

}  // namespace
}  // namespace farcall
