// SPDX-License-Identifier: Apache-2.0
//
// What is printed, read by other parsers, selects what the plan says: of any nodes.

#include "tools/gen_selectors/config_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "rpc/status/json_testing.h"
#include "transport/testing/test_random.h"

namespace farcall::selectors {
namespace {

using ::testing::HasSubstr;

std::string OneOf(TestRandom& random, const std::vector<std::string>& values) {
  return values[random.Below(values.size())];
}

// --- Any nodes ---

void AddNetdev(TestRandom& random, const node::Pci& pci, const std::string& name,
               node::Inventory& node) {
  node::Netdev& netdev = *node.add_netdevs();
  netdev.set_name(name);
  netdev.set_type(random.Below(3) == 0 ? 32 : 1);
  *netdev.mutable_pci() = pci;
  if (random.Below(12) == 0) netdev.set_default_route(true);
}

void AddDevice(TestRandom& random, int number, node::Inventory& node) {
  node::Device& device = *node.add_devices();
  device.set_name(absl::StrCat("mlx5_", number));
  device.set_umad(absl::StrCat("umad", number));
  if (random.Below(10) == 0) {
    device.set_software("rxe");
    return;
  }
  node::Pci& pci = *device.mutable_pci();
  pci.set_address(absl::StrCat("0000:1", number, ":00.0"));
  pci.set_pci_class(random.Below(15) == 0 ? "010000" : "020700");
  pci.set_vendor(OneOf(random, {"15b3", "15b3", "1425"}));
  pci.set_device(OneOf(random, {"1021", "1021", "1015"}));
  pci.set_driver(OneOf(random, {"mlx5_core", "mlx5_core", "vfio-pci"}));
  pci.set_sriov_totalvfs(8);
  const node::Device& first = node.devices(0);
  if (number > 0 && random.Below(3) == 0 && first.has_pci() && !first.pci().has_physfn()) {
    pci.set_physfn(first.pci().address());
    pci.set_device("101e");
    node.mutable_devices(0)->mutable_pci()->set_sriov_numvfs(4);
  }
  node::Port& port = *device.add_ports();
  port.set_state(random.Below(5) == 0 ? "DOWN" : "ACTIVE");
  port.set_link_layer(random.Below(3) == 0 ? "InfiniBand" : "Ethernet");
  port.set_rate_gbps(random.Below(4) == 0 ? 25 : 400);
  // Two nodes may give different names to the same place, and one name to different places.
  if (random.Below(8) == 0) return;
  const std::string name =
      absl::StrCat(OneOf(random, {"ib", "ens"}), number + random.Below(2) * 10);
  if (node::FindNetdev(node, name) != nullptr) return;
  device.add_netdevs(name);
  AddNetdev(random, pci, name, node);
}

std::vector<node::Inventory> RandomNodes(TestRandom& random) {
  std::vector<node::Inventory> nodes(1 + random.Below(3));
  for (size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].set_hostname(absl::StrCat("node-", i));
    const int devices = static_cast<int>(random.Below(5));
    for (int d = 0; d < devices; ++d) AddDevice(random, d, nodes[i]);
  }
  return nodes;
}

// --- The plugins once more, from what they document, on the JSON ---

std::string JsonOf(const std::string& yaml) {
  std::string json;
  const std::string head = "  config.json: |\n";
  for (const absl::string_view line :
       absl::StrSplit(yaml.substr(yaml.find(head) + head.size()), '\n', absl::SkipEmpty())) {
    EXPECT_TRUE(absl::StartsWith(line, "    ")) << line;
    absl::StrAppend(&json, line, "\n");
  }
  return json;
}

bool Takes(const ParsedJson& json, const std::string& list, const std::string& value,
           bool is_pattern = false) {
  if (!json.Has(list)) return true;
  for (int i = 0; i < json.Size(list); ++i) {
    const std::string item = json.Text(absl::StrCat(list, ".", i));
    if (item == value) return true;
    if (is_pattern && !value.empty() && std::regex_search(value, std::regex(item))) return true;
  }
  return false;
}

std::string PfNameOf(const node::Inventory& node, const node::Device& device) {
  for (const node::Netdev& netdev : node.netdevs()) {
    if (netdev.pci().address() == device.pci().physfn()) return netdev.name();
  }
  return "";
}

bool PluginTakes(const ParsedJson& json, Plugin plugin, const std::string& at,
                 const node::Inventory& node, const node::Device& device) {
  const node::Pci& pci = device.pci();
  if (!device.has_pci() || !absl::StartsWith(pci.pci_class(), "02")) return false;
  const std::string name = device.netdevs_size() > 0 ? device.netdevs(0) : "";
  const node::Netdev* const netdev = node::FindNetdev(node, name);
  const std::string type = netdev == nullptr ? "" : netdev->type() == 32 ? "infiniband" : "ether";
  const bool shared = plugin == Plugin::kShared;
  if (!shared && pci.sriov_numvfs() > 0) return false;
  if (!shared && netdev != nullptr && netdev->default_route()) return false;
  return Takes(json, at + "vendors", pci.vendor()) &&
         Takes(json, at + (shared ? "deviceIDs" : "devices"), pci.device()) &&
         Takes(json, at + "drivers", pci.driver()) && Takes(json, at + "linkTypes", type) &&
         Takes(json, at + "ifNames", name) &&
         Takes(json, at + "pfNames", pci.has_physfn() ? PfNameOf(node, device) : "", true);
}

using Chosen = std::set<std::pair<std::string, std::string>>;

Chosen MembersOf(const Plan& plan, const Resource& resource) {
  Chosen members;
  for (const size_t member : resource.members) {
    members.insert({plan.judged[member].function.node, plan.judged[member].function.rdma});
  }
  return members;
}

void CheckPrinted(const std::string& yaml, const Plan& plan,
                  const std::vector<node::Inventory>& nodes) {
  const ParsedJson json(JsonOf(yaml));
  const bool shared = plan.plugin == Plugin::kShared;
  const std::string list = shared ? "configList" : "resourceList";
  ASSERT_EQ(json.Size(list), static_cast<int>(plan.resources.size()));
  for (size_t r = 0; r < plan.resources.size(); ++r) {
    const std::string resource = absl::StrCat(list, ".", r, ".");
    EXPECT_EQ(json.Text(resource + "resourceName"), plan.resources[r].name);
    const std::string at = absl::StrCat(resource, "selectors.", shared ? "" : "0.");
    EXPECT_TRUE(shared || json.Bool(at + "isRdma"));
    Chosen taken;
    for (const node::Inventory& node : nodes) {
      for (const node::Device& device : node.devices()) {
        if (PluginTakes(json, plan.plugin, at, node, device)) {
          taken.insert({node.hostname(), device.name()});
        }
      }
    }
    EXPECT_EQ(taken, MembersOf(plan, plan.resources[r])) << yaml;
  }
}

const ConfigMapOptions kOptions{
    .name = "rdma-devices", .name_space = "kube-system", .prefix = "rdma", .hca_max = 64};

TEST(ConfigMapTest, WhatIsPrintedSelectsJustWhatThePlanSays) {
  int printed = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    TestRandom random(seed);
    const std::vector<node::Inventory> nodes = RandomNodes(random);
    PlanOptions options;
    options.wish.plugin = random.Below(2) == 0 ? Plugin::kShared : Plugin::kSriov;
    options.per_rail = random.Below(2) == 0;
    options.name = "hca";
    Plan plan;
    if (!MakePlan(options, nodes, plan).ok()) continue;
    ++printed;
    CheckPrinted(ConfigMap(kOptions, plan), plan, nodes);
    if (HasFailure()) return;
  }
  EXPECT_GT(printed, 100);
}

TEST(ConfigMapTest, TextsOfNodesStayInTheirComments) {
  node::Inventory node;
  node.set_hostname("a\ndata: {}");
  node::Device& device = *node.add_devices();
  device.set_name("mlx5\n_0");
  device.set_umad("umad0");
  device.mutable_pci()->set_address("0000:17:00.0\nx: y");
  device.mutable_pci()->set_vendor("15b3");
  device.mutable_pci()->set_device("10\"21");
  device.add_netdevs("if\n\"0");
  node::Netdev& netdev = *node.add_netdevs();
  netdev.set_name("if\n\"0");
  netdev.set_type(1);
  device.add_ports()->set_state("ACTIVE");
  device.mutable_ports(0)->set_link_layer("Ether\nnet");
  PlanOptions options;
  options.name = "hca";
  options.wish.exclude = {"no\nbody"};
  Plan plan;
  ASSERT_TRUE(MakePlan(options, {node}, plan).ok());
  const std::string yaml = ConfigMap(kOptions, plan);
  const std::string comments = yaml.substr(0, yaml.find("\napiVersion"));
  for (const absl::string_view line : absl::StrSplit(comments, '\n', absl::SkipEmpty())) {
    EXPECT_TRUE(absl::StartsWith(line, "#")) << line;
  }
  CheckPrinted(yaml, plan, {[&] {
                 node::Inventory same = node;
                 same.set_hostname("a?data: {}");
                 same.mutable_devices(0)->set_name("mlx5?_0");
                 same.mutable_devices(0)->mutable_pci()->set_pci_class("020000");
                 return same;
               }()});
}

TEST(ConfigMapTest, ManyNodesOfAKindShareALine) {
  node::Inventory node;
  node::Device& device = *node.add_devices();
  device.set_name("mlx5_0");
  device.set_umad("umad0");
  device.mutable_pci()->set_address("0000:17:00.0");
  device.mutable_pci()->set_vendor("15b3");
  device.mutable_pci()->set_device("1021");
  device.add_ports()->set_state("ACTIVE");
  std::vector<node::Inventory> nodes(100, node);
  for (size_t i = 0; i < nodes.size(); ++i) nodes[i].set_hostname(absl::StrCat("n", i));
  PlanOptions options;
  options.name = "hca";
  Plan plan;
  ASSERT_TRUE(MakePlan(options, nodes, plan).ok());
  const std::string yaml = ConfigMap(kOptions, plan);
  EXPECT_THAT(yaml, HasSubstr("n0, n1, n2 and 97 more: mlx5_0 (0000:17:00.0) rate unknown\n"));
  EXPECT_THAT(yaml, HasSubstr("\"rdmaHcaMax\": 64,"));
}

}  // namespace
}  // namespace farcall::selectors
