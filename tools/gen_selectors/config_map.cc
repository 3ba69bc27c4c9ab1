// SPDX-License-Identifier: Apache-2.0

#include "tools/gen_selectors/config_map.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "rpc/status/json_writer.h"
#include "tools/gen_selectors/explain.h"

namespace farcall::selectors {
namespace {

std::string Quoted(absl::string_view text) {
  JsonWriter json;
  json.Value(text);
  return json.Take();
}

std::string QuotedList(const std::vector<std::string>& values) {
  std::vector<std::string> quoted;
  for (const std::string& value : values) quoted.push_back(Quoted(value));
  return absl::StrCat("[", absl::StrJoin(quoted, ", "), "]");
}

// The lines of a resource's selectors, without commas at their ends.
std::vector<std::string> SelectorLines(Plugin plugin, const Selectors& s) {
  std::vector<std::string> lines;
  const auto add = [&](absl::string_view key, const std::vector<std::string>& values) {
    if (!values.empty()) lines.push_back(absl::StrCat(Quoted(key), ": ", QuotedList(values)));
  };
  const bool shared = plugin == Plugin::kShared;
  add("vendors", s.vendors);
  add(shared ? "deviceIDs" : "devices", s.devices);
  add("drivers", s.drivers);
  add("ifNames", s.if_names);
  add("pfNames", s.pf_names);
  add("linkTypes", s.link_types);
  if (!shared) lines.push_back("\"isRdma\": true");
  return lines;
}

std::string ResourceJson(const ConfigMapOptions& options, Plugin plugin, const Resource& resource) {
  const bool shared = plugin == Plugin::kShared;
  std::string json = absl::StrCat("    {\n      \"resourcePrefix\": ", Quoted(options.prefix),
                                  ",\n      \"resourceName\": ", Quoted(resource.name), ",\n");
  if (shared) absl::StrAppend(&json, "      \"rdmaHcaMax\": ", options.hca_max, ",\n");
  const std::string indent = shared ? "        " : "          ";
  absl::StrAppend(&json, "      \"selectors\": ", shared ? "{\n" : "[\n        {\n", indent,
                  absl::StrJoin(SelectorLines(plugin, resource.selectors), ",\n" + indent), "\n",
                  shared ? "      }\n" : "        }\n      ]\n", "    }");
  return json;
}

std::string PluginJson(const ConfigMapOptions& options, const Plan& plan) {
  std::vector<std::string> resources;
  for (const Resource& resource : plan.resources) {
    resources.push_back(ResourceJson(options, plan.plugin, resource));
  }
  return absl::StrCat("{\n",
                      plan.plugin == Plugin::kShared
                          ? "  \"periodicUpdateInterval\": 60,\n  \"configList\": [\n"
                          : "  \"resourceList\": [\n",
                      absl::StrJoin(resources, ",\n"), "\n  ]\n}");
}

void AddSection(absl::string_view head, const std::vector<std::string>& lines, std::string& text) {
  if (lines.empty()) return;
  absl::StrAppend(&text, "#\n# ", head, "\n");
  for (const std::string& line : lines) absl::StrAppend(&text, "#   ", line, "\n");
}

std::string Comments(const ConfigMapOptions& options, const Plan& plan) {
  const bool shared = plan.plugin == Plugin::kShared;
  std::string text =
      absl::StrCat("# For ", shared ? "k8s-rdma-shared-dev-plugin" : "sriov-network-device-plugin",
                   ", by gen_selectors from ", ShortList(plan.nodes), ".\n",
                   "# Values of one selector are alternatives; all selectors must match.\n");
  if (shared) {
    absl::StrAppend(&text,
                    "# rdmaHcaMax is the number of pods at a time on a node, whatever the "
                    "number of devices.\n");
  }
  for (const Resource& resource : plan.resources) {
    AddSection(absl::StrCat(options.prefix, "/", resource.name, " selects"),
               ExplainResource(resource, plan), text);
  }
  AddSection("Left out", ExplainLeftOut(plan), text);
  AddSection("Warnings", plan.warnings, text);
  return text;
}

}  // namespace

std::string ConfigMap(const ConfigMapOptions& options, const Plan& plan) {
  std::string indented;
  for (const absl::string_view line : absl::StrSplit(PluginJson(options, plan), '\n')) {
    absl::StrAppend(&indented, "    ", line, "\n");
  }
  return absl::StrCat(Comments(options, plan), "\napiVersion: v1\nkind: ConfigMap\nmetadata:\n",
                      "  name: ", options.name, "\n  namespace: ", options.name_space,
                      "\ndata:\n  config.json: |\n", indented);
}

}  // namespace farcall::selectors
