// SPDX-License-Identifier: Apache-2.0

#include "tools/gen_selectors/plan.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/gen_selectors/fit.h"

namespace farcall::selectors {
namespace {

bool HasModule(const node::Inventory& inventory, absl::string_view module) {
  return std::find(inventory.modules().begin(), inventory.modules().end(), module) !=
         inventory.modules().end();
}

bool HasDeviceNode(const node::Inventory& inventory, absl::string_view name) {
  return std::any_of(inventory.device_nodes().begin(), inventory.device_nodes().end(),
                     [&](const node::DeviceNode& node) { return node.name() == name; });
}

// What the shared plugin needs of a node beside the devices.
void WarnOfNode(const node::Inventory& inventory, const std::string& name,
                std::vector<std::string>& warnings) {
  if (inventory.rdma_netns_mode() == "exclusive") {
    warnings.push_back(absl::StrCat(name,
                                    ": RDMA devices are exclusive to network namespaces, and "
                                    "the plugin ends at its start: rdma system set netns "
                                    "shared, or --format sriov"));
  }
  if (!HasModule(inventory, "rdma_ucm") && !HasDeviceNode(inventory, "rdma_cm")) {
    warnings.push_back(absl::StrCat(name,
                                    ": no rdma_cm, so the plugin takes no device: modprobe "
                                    "rdma_ucm"));
  }
}

void WarnOfNodes(const std::vector<node::Inventory>& nodes, Plan& plan) {
  std::set<std::string> with_chosen;
  for (const Judged& judged : plan.judged) {
    if (judged.chosen()) with_chosen.insert(judged.function.node);
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string& cut : nodes[i].cut()) {
      plan.warnings.push_back(absl::StrCat(plan.nodes[i], ": not all was read: ", Printable(cut)));
    }
    if (with_chosen.count(plan.nodes[i]) == 0) {
      plan.warnings.push_back(absl::StrCat(plan.nodes[i], ": nothing to select"));
    } else if (plan.plugin == Plugin::kShared) {
      WarnOfNode(nodes[i], plan.nodes[i], plan.warnings);
    }
  }
  for (const Judged& judged : plan.judged) {
    if (!judged.chosen() || judged.function.has_umad || plan.plugin != Plugin::kShared) continue;
    plan.warnings.push_back(absl::StrCat(judged.function.node, ": no umad for ",
                                         judged.function.rdma,
                                         ", so the plugin does not take it: modprobe ib_umad"));
  }
}

void WarnOfMix(const Resource& resource, Plan& plan) {
  std::set<std::string> links;
  for (const size_t member : resource.members) links.insert(plan.judged[member].function.link);
  if (links.size() < 2) return;
  plan.warnings.push_back(absl::StrCat(
      "resource ", resource.name, " has ", absl::StrJoin(links, " and "),
      " devices, which do not reach each other: --link infiniband or --link ethernet"));
}

absl::Status NothingChosen(const Plan& plan) {
  if (plan.nodes.empty()) {
    return absl::FailedPreconditionError("there is no node in the input");
  }
  if (plan.judged.empty()) {
    return absl::FailedPreconditionError(
        "no node has an RDMA device: is the driver loaded (lsmod, dmesg), and was the host's /sys "
        "read?");
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "no RDMA device is left to select",
      plan.plugin == Plugin::kSriov ? " (the SR-IOV plugin gives virtual functions to pods)" : "",
      ": see what was left out, and why"));
}

// One for each rail, or one.
std::vector<Resource> ResourcesOf(const PlanOptions& options, const Plan& plan) {
  std::vector<Resource> resources(options.per_rail ? plan.rails.count : 1);
  for (size_t rail = 0; rail < resources.size(); ++rail) {
    resources[rail].name =
        options.per_rail ? absl::StrCat(options.name, "_", RailName(rail)) : options.name;
  }
  for (size_t i = 0; i < plan.judged.size(); ++i) {
    if (!plan.judged[i].chosen()) continue;
    resources[options.per_rail ? *plan.rails.rail[i] : 0].members.push_back(i);
  }
  return resources;
}

std::string KeptOutByName(Plugin plugin, const std::vector<Function>& functions,
                          const std::vector<bool>& wanted, Selectors selectors) {
  selectors.if_names.clear();
  selectors.pf_names.clear();
  for (size_t i = 0; i < functions.size(); ++i) {
    if (wanted[i] || !Selects(plugin, selectors, functions[i])) continue;
    return absl::StrCat(Describe(functions[i]), " of ", functions[i].node);
  }
  return "";
}

// What to do about the function that is selected against the wish.
std::string CureOf(const Plan& plan, size_t in_the_way) {
  const bool left_out = in_the_way < plan.judged.size() && !plan.judged[in_the_way].chosen();
  return absl::StrCat(
      left_out ? absl::StrCat(" It was left out: ", plan.judged[in_the_way].why_not, ".") : "",
      " Or give the interfaces of a rail one name on all nodes (systemd.link), or take one group "
      "of "
      "nodes at a time (--from) and deploy a plugin with a nodeSelector for each.");
}

absl::Status FitResource(const Plan& plan, const std::vector<Function>& functions,
                         Resource& resource) {
  std::vector<bool> wanted(functions.size());
  for (const size_t member : resource.members) wanted[member] = true;
  size_t in_the_way = 0;
  const absl::StatusOr<Selectors> selectors = Fit(plan.plugin, functions, wanted, &in_the_way);
  if (!selectors.ok()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "no selectors select resource ", resource.name,
        " and nothing else: ", selectors.status().message(), ".", CureOf(plan, in_the_way)));
  }
  resource.selectors = *selectors;
  resource.kept_out_by_name = KeptOutByName(plan.plugin, functions, wanted, *selectors);
  return absl::OkStatus();
}

absl::Status NameNodes(const std::vector<node::Inventory>& nodes, Plan& plan) {
  std::set<std::string> seen;
  for (size_t i = 0; i < nodes.size(); ++i) {
    plan.nodes.push_back(NodeName(nodes[i], i));
    if (seen.insert(plan.nodes.back()).second) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "node ", plan.nodes.back(), " is in the input twice: give each node's object once"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status MakePlan(const PlanOptions& options, const std::vector<node::Inventory>& nodes,
                      Plan& plan) {
  plan.plugin = options.wish.plugin;
  if (const absl::Status named = NameNodes(nodes, plan); !named.ok()) return named;
  std::vector<Function> functions;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::vector<Function> of_node = FunctionsOf(nodes[i], i, options.wish.include_software);
    functions.insert(functions.end(), of_node.begin(), of_node.end());
  }
  plan.judged = Choose(options.wish, functions);
  plan.rails = FindRails(plan.judged);
  if (options.per_rail) plan.warnings = plan.rails.warnings;
  for (const std::string& name : UnknownNames(options.wish, functions)) {
    plan.warnings.push_back(absl::StrCat("--exclude ", Printable(name), ": no node has it"));
  }
  WarnOfNodes(nodes, plan);
  if (plan.rails.count == 0) return NothingChosen(plan);
  plan.resources = ResourcesOf(options, plan);
  for (Resource& resource : plan.resources) {
    WarnOfMix(resource, plan);
    const absl::Status fitted = FitResource(plan, functions, resource);
    if (!fitted.ok()) return fitted;
  }
  return absl::OkStatus();
}

}  // namespace farcall::selectors
