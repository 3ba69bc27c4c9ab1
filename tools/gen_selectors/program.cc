// SPDX-License-Identifier: Apache-2.0

#include "tools/gen_selectors/program.h"

#include <algorithm>
#include <fstream>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "tools/farcall/text/arguments.h"
#include "tools/gen_selectors/config_map.h"
#include "tools/gen_selectors/explain.h"
#include "tools/gen_selectors/plan.h"
#include "tools/node/inventory.h"

namespace farcall::selectors {
namespace {

constexpr size_t kMaxInputBytes = size_t{256} << 20;

constexpr char kHelp[] =
    R"(usage: gen_selectors [--root DIR | --from FILE ...] [--format FORMAT] [OPTION ...]

Reads which RDMA devices the nodes have, and prints the configuration of a Kubernetes device
plugin that selects them: a ConfigMap for "kubectl apply -f -", with comments that say what each
resource selects, and what was left out and why. Before it prints, it applies the selectors to
every node as the plugin would: they select what the comments say and nothing else.

This node:             gen_selectors
In a pod with the host's /sys, /proc and /dev below /host:
                       gen_selectors --root /host
Many nodes: collect one JSON object of each, then
                       gen_selectors --from nodes.json

)";

constexpr char kExits[] =
    R"(
exit codes: 0 printed; 1 there is nothing to select, or no selectors select just that;
2 an argument is wrong, or the input cannot be read
)";

const std::vector<cli::Option>& Options() {
  static const std::vector<cli::Option>* const options = new std::vector<cli::Option>{
      {"--format", "FORMAT",
       "shared: for k8s-rdma-shared-dev-plugin (default)\n"
       "sriov: for sriov-network-device-plugin, which gives virtual functions\n"
       "table: all devices, for people\n"
       "json: the nodes as one JSON object on each line, for --from"},
      {"--from", "FILE",
       "nodes as JSON: an object on each line, or an array; -: standard input;\n"
       "may be given many times"},
      {"--root", "DIR", "read the node whose files lie below DIR (default /)"},
      {"--node-name", "NAME", "of the node that is read: in a pod the kernel tells the pod's name"},
      {"--per-rail", "",
       "a resource for each rail, NAME_a, NAME_b, ...: ports with the same\n"
       "interface name on all nodes, else in the order of PCI addresses"},
      {"--link", "KIND", "only infiniband, or only ethernet"},
      {"--min-rate", "GBPS", "leave out what is slower (default: a quarter of the fastest)"},
      {"--include-down", "", "keep devices without a link"},
      {"--include-software", "", "keep rxe, where its driver puts it below a PCI function"},
      {"--exclude", "NAME",
       "leave out an RDMA device, interface or PCI address; may be given\n"
       "many times"},
      {"--resource", "NAME",
       "of the resource (default hca_shared_devices_a, rdma_vf), or before\n"
       "_a, _b of rails (default hca_shared_devices, rdma_vf)"},
      {"--prefix", "DOMAIN", "before the resource (default rdma, nvidia.com)"},
      {"--max", "COUNT", "rdmaHcaMax: pods at a time on a node (default 128)"},
      {"--name", "NAME", "of the ConfigMap (default rdma-devices, sriovdp-config)"},
      {"--namespace", "NAME", "of the ConfigMap (default kube-system)"},
  };
  return *options;
}

struct Settings {
  std::string format;
  PlanOptions plan;
  ConfigMapOptions config_map;
};

// What Kubernetes and the plugins take: `extra` beside letters and digits.
absl::Status CheckName(absl::string_view option, const std::string& name, absl::string_view extra) {
  const bool ok =
      !name.empty() && name.size() <= 253 && std::all_of(name.begin(), name.end(), [&](char c) {
        return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
               extra.find(c) != absl::string_view::npos;
      });
  if (ok) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(option, ": letters, digits and ", extra, " only, not \"", name, "\""));
}

absl::Status ReadWish(const cli::Arguments& arguments, Wish& wish) {
  const std::string link = arguments.Text("--link", "");
  if (link == "infiniband") wish.link = "InfiniBand";
  if (link == "ethernet") wish.link = "Ethernet";
  if (arguments.Has("--link") && !wish.link) {
    return absl::InvalidArgumentError("--link: infiniband or ethernet");
  }
  if (arguments.Has("--min-rate")) {
    const auto rate = arguments.Number("--min-rate", 0, 0, 1e6);
    if (!rate.ok()) return rate.status();
    wish.min_gbps = *rate;
  }
  wish.include_down = arguments.Has("--include-down");
  wish.include_software = arguments.Has("--include-software");
  wish.exclude = arguments.All("--exclude");
  return absl::OkStatus();
}

absl::StatusOr<Settings> ReadSettings(const cli::Arguments& arguments) {
  Settings settings;
  settings.format = arguments.Text("--format", "shared");
  const std::vector<std::string> formats = {"shared", "sriov", "table", "json"};
  if (std::find(formats.begin(), formats.end(), settings.format) == formats.end()) {
    return absl::InvalidArgumentError("--format: shared, sriov, table or json");
  }
  if (!arguments.words().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("what is \"", arguments.words()[0], "\"? Files are given by --from"));
  }
  if (arguments.Has("--from") && (arguments.Has("--root") || arguments.Has("--node-name"))) {
    return absl::InvalidArgumentError(
        "--from takes nodes that were read; --root and --node-name are for reading one");
  }
  const bool sriov = settings.format == "sriov";
  const bool per_rail = arguments.Has("--per-rail");
  settings.plan.wish.plugin = sriov ? Plugin::kSriov : Plugin::kShared;
  settings.plan.per_rail = per_rail;
  settings.plan.name = arguments.Text("--resource", sriov      ? "rdma_vf"
                                                    : per_rail ? "hca_shared_devices"
                                                               : "hca_shared_devices_a");
  settings.config_map.prefix = arguments.Text("--prefix", sriov ? "nvidia.com" : "rdma");
  settings.config_map.name = arguments.Text("--name", sriov ? "sriovdp-config" : "rdma-devices");
  settings.config_map.name_space = arguments.Text("--namespace", "kube-system");
  const auto max = arguments.Integer("--max", 128, 1, 100000);
  if (!max.ok()) return max.status();
  settings.config_map.hca_max = static_cast<int>(*max);
  for (const absl::Status& status :
       {ReadWish(arguments, settings.plan.wish), CheckName("--resource", settings.plan.name, "_"),
        CheckName("--prefix", settings.config_map.prefix, ".-"),
        CheckName("--name", settings.config_map.name, ".-"),
        CheckName("--namespace", settings.config_map.name_space, "-")}) {
    if (!status.ok()) return status;
  }
  return settings;
}

absl::StatusOr<std::vector<node::Inventory>> ReadNodesFrom(const std::string& file,
                                                           Streams& streams) {
  std::ifstream opened;
  if (file != "-") opened.open(file);
  if (!opened) {
    return absl::InvalidArgumentError(absl::StrCat("--from ", file, ": cannot be opened"));
  }
  std::istream& in = file == "-" ? streams.in : opened;
  std::string text;
  std::vector<char> chunk(1 << 16);
  while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())), in.gcount() > 0) {
    text.append(chunk.data(), static_cast<size_t>(in.gcount()));
    if (text.size() > kMaxInputBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("--from ", file, ": more than ", kMaxInputBytes >> 20, " MiB"));
    }
  }
  auto nodes = node::FromJson(text);
  if (nodes.ok()) return nodes;
  return absl::InvalidArgumentError(absl::StrCat("--from ", file, ": ", nodes.status().message()));
}

absl::StatusOr<std::vector<node::Inventory>> ReadNodes(const cli::Arguments& arguments,
                                                       Streams& streams) {
  if (!arguments.Has("--from")) {
    node::Inventory inventory =
        node::ReadInventory(arguments.Text("--root", "/"), {.counters = false});
    if (arguments.Has("--node-name")) inventory.set_hostname(arguments.Text("--node-name", ""));
    return std::vector<node::Inventory>{inventory};
  }
  std::vector<node::Inventory> nodes;
  for (const std::string& file : arguments.All("--from")) {
    const auto more = ReadNodesFrom(file, streams);
    if (!more.ok()) return more.status();
    nodes.insert(nodes.end(), more->begin(), more->end());
  }
  return nodes;
}

absl::Status PrintJson(const std::vector<node::Inventory>& nodes, std::ostream& out) {
  for (const node::Inventory& inventory : nodes) {
    const auto line = node::ToJsonLine(inventory);
    if (!line.ok()) return line.status();
    out << *line << "\n";
  }
  return absl::OkStatus();
}

absl::Status Print(const Settings& settings, const std::vector<node::Inventory>& nodes,
                   Streams& streams) {
  if (settings.format == "json") return PrintJson(nodes, streams.out);
  Plan plan;
  const absl::Status made = MakePlan(settings.plan, nodes, plan);
  for (const std::string& warning : plan.warnings) {
    streams.err << "gen_selectors: warning: " << warning << "\n";
  }
  if (settings.format == "table" && made.code() != absl::StatusCode::kInvalidArgument) {
    streams.out << Table(plan);
    return absl::OkStatus();
  }
  if (made.ok()) {
    streams.out << ConfigMap(settings.config_map, plan);
  } else if (plan.resources.empty()) {
    for (const std::string& line : ExplainLeftOut(plan)) {
      streams.err << "gen_selectors: left out: " << line << "\n";
    }
  }
  return made;
}

absl::Status Run(const std::vector<std::string>& words, Streams& streams) {
  const auto arguments = cli::Arguments::Parse(Options(), words);
  if (!arguments.ok()) return arguments.status();
  const auto settings = ReadSettings(*arguments);
  if (!settings.ok()) return settings.status();
  const auto nodes = ReadNodes(*arguments, streams);
  if (!nodes.ok()) return nodes.status();
  return Print(*settings, *nodes, streams);
}

}  // namespace

int RunProgram(const std::vector<std::string>& arguments, Streams& streams) {
  for (const std::string& word : arguments) {
    if (word != "--help" && word != "-h") continue;
    streams.out << kHelp << cli::HelpOf(Options()) << kExits;
    return kPrinted;
  }
  const absl::Status status = Run(arguments, streams);
  if (status.ok()) return kPrinted;
  streams.err << "gen_selectors: " << std::string(status.message()) << "\n";
  if (status.code() != absl::StatusCode::kInvalidArgument) return kCannotSelect;
  streams.err << "\"gen_selectors --help\" tells what it takes.\n";
  return kBadArguments;
}

}  // namespace farcall::selectors
