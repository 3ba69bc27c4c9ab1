// SPDX-License-Identifier: Apache-2.0
//
// How connections spread, over many seeds.

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/rdma/choice/adapter_choice.h"
#include "transport/testing/seeds_here.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

const uint64_t kSeeds = SeedsHere(60);
constexpr int kAdapters = 8;

uint32_t NoFailures(const OwnEnd*, const OfferedEnd&) { return 0; }

template <typename End>
End Make(int number, int host) {
  End end;
  end.device = absl::StrCat("rdma", number);
  end.link_layer = LinkLayer::kRoce;
  end.name =
      NameOf(Address::Ipv4({10, 0, static_cast<uint8_t>(host), static_cast<uint8_t>(number)}, 0));
  end.rate = 400'000;
  end.connections = 0;
  return end;
}

std::vector<OwnEnd> Client(int host) {
  std::vector<OwnEnd> own;
  for (int i = 0; i < kAdapters; ++i) {
    own.push_back(Make<OwnEnd>(i, host));
    own.back().prefix_bits = 96 + 16;
  }
  return own;
}

std::vector<OfferedEnd> Server() {
  std::vector<OfferedEnd> offered;
  for (int i = 0; i < kAdapters; ++i) {
    offered.push_back(Make<OfferedEnd>(i, 200));
    offered.back().turn = static_cast<uint32_t>(i);
  }
  return offered;
}

// As UpgradeListener orders: the least loaded first.
void Order(std::vector<OfferedEnd>& offered) {
  std::vector<OfferedEnd*> order;
  for (OfferedEnd& end : offered) order.push_back(&end);
  std::stable_sort(order.begin(), order.end(), [](const OfferedEnd* one, const OfferedEnd* other) {
    return std::tie(*one->connections, one->device) < std::tie(*other->connections, other->device);
  });
  for (size_t i = 0; i < order.size(); ++i) order[i]->turn = static_cast<uint32_t>(i);
}

int Most(const std::map<std::string, int>& counts) {
  int most = 0;
  for (const auto& [device, count] : counts) most = std::max(most, count);
  return most;
}

TEST(AdapterSpreadTest, ManyClientsUseAllOfAServer) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    TestRandom random(seed);
    std::vector<OfferedEnd> offered = Server();
    std::map<std::string, int> counts;
    for (int client = 0; client < 64; ++client) {
      Order(offered);
      const auto pairs =
          ChooseAdapters(Client(client), offered, {.seed = random.Next(), .failures = NoFailures});
      OfferedEnd& taken = offered[pairs.front().offered];
      ++*taken.connections;
      ++counts[taken.device];
    }
    EXPECT_LE(Most(counts), 64 / kAdapters + 1) << seed;
    EXPECT_EQ(counts.size(), size_t{kAdapters});
  }
}

// All are answered before any has connected: the server counts whom it expects where.
TEST(AdapterSpreadTest, ManyClientsAtOnceUseAllOfAServer) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    TestRandom random(seed);
    std::vector<OfferedEnd> expected = Server();
    std::map<std::string, int> counts;
    for (int client = 0; client < 64; ++client) {
      Order(expected);
      const std::vector<OfferedEnd> ends = expected;
      std::min_element(expected.begin(), expected.end(), [](const auto& one, const auto& other) {
        return one.turn < other.turn;
      })->connections.value()++;
      const auto pairs =
          ChooseAdapters(Client(client), ends, {.seed = random.Next(), .failures = NoFailures});
      ++counts[ends[pairs.front().offered].device];
    }
    EXPECT_LE(Most(counts), 64 / kAdapters + 1) << seed;
  }
}

// To servers of the first release too, which tell nothing.
TEST(AdapterSpreadTest, ManyChannelsUseAllOfAClient) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    TestRandom random(seed);
    std::vector<OwnEnd> own = Client(1);
    std::vector<OfferedEnd> offered = Server();
    for (OfferedEnd& end : offered) end.connections.reset();
    std::map<std::string, int> counts;
    for (int channel = 0; channel < 64; ++channel) {
      const auto pairs =
          ChooseAdapters(own, offered, {.seed = random.Next(), .failures = NoFailures});
      OwnEnd& taken = own[*pairs.front().own];
      ++*taken.connections;
      ++counts[taken.device];
    }
    EXPECT_EQ(Most(counts), 64 / kAdapters) << seed;
  }
}

// Random hosts: ports, rates, networks, loads, nodes, failures.
class RandomHosts {
 public:
  explicit RandomHosts(uint64_t seed) : random_(seed) {
    for (int i = Number(9); i > 0; --i) own_.push_back(Own(i));
    for (int i = Number(17); i > 0; --i) offered_.push_back(Offered(i));
    seed_ = random_.Next();
    loop_node_ = Number(3) - 1;
  }

  void Shuffle() {
    random_.Shuffle(own_);
    random_.Shuffle(offered_);
  }

  using Way = std::tuple<std::string, std::string, std::string>;
  std::vector<Way> Choose() const {
    std::vector<Way> ways;
    const auto failures = [](const OwnEnd* own, const OfferedEnd& offered) {
      return own != nullptr && own->name[15] == offered.name[15] ? 1u : 0u;
    };
    for (const AdapterPair& pair : ChooseAdapters(
             own_, offered_, {.loop_node = loop_node_, .seed = seed_, .failures = failures})) {
      ways.emplace_back(pair.own ? Text(own_[*pair.own]) : "", Text(offered_[pair.offered]),
                        pair.why);
    }
    return ways;
  }
  size_t offered() const { return offered_.size(); }

 private:
  static std::string Text(const PortEnd& end) {
    return absl::StrCat(end.device, end.gid ? " gid " : " ip ",
                        std::string(end.name.begin(), end.name.end()));
  }
  int Number(uint64_t end) { return static_cast<int>(random_.Below(end)); }
  template <typename End>
  End Any(int number) {
    End end = Make<End>(number, 1 + Number(3));
    end.device = absl::StrCat("rdma", Number(5));
    if (random_.Chance(0.3)) end.gid = GidType::kRoceV2;
    if (random_.Chance(0.1)) end.link_layer = LinkLayer::kIwarp;
    end.rate = static_cast<uint32_t>(Number(3)) * 100'000;
    end.connections.reset();
    if (random_.Chance(0.8)) end.connections = static_cast<uint32_t>(Number(3));
    return end;
  }
  OwnEnd Own(int number) {
    auto end = Any<OwnEnd>(number);
    end.usable = random_.Chance(0.9);
    end.numa_node = Number(3) - 1;
    return end;
  }
  OfferedEnd Offered(int number) {
    auto end = Any<OfferedEnd>(100 + number);
    end.turn = static_cast<uint32_t>(number);
    return end;
  }

  TestRandom random_;
  std::vector<OwnEnd> own_;
  std::vector<OfferedEnd> offered_;
  uint64_t seed_ = 0;
  int loop_node_ = -1;
};

TEST(AdapterSpreadTest, TheOrderOfWhatIsGivenDoesNotMatter) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    RandomHosts hosts(seed);
    const auto ways = hosts.Choose();
    for (int i = 0; i < 5; ++i) {
      hosts.Shuffle();
      EXPECT_EQ(hosts.Choose(), ways) << seed;
    }
  }
}

TEST(AdapterSpreadTest, EachPlaceComesOnceAndOneMoreByRoutes) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const RandomHosts hosts(seed);
    const auto ways = hosts.Choose();
    std::multiset<std::string> places;
    for (const auto& [own, offered, why] : ways) places.insert(offered);
    EXPECT_LE(ways.size(), hosts.offered() + 1);
    int twice = 0;
    for (const std::string& place : std::set<std::string>(places.begin(), places.end())) {
      twice += static_cast<int>(places.count(place)) - 1;
    }
    EXPECT_LE(twice, 1) << seed;
  }
}

}  // namespace
}  // namespace farcall
