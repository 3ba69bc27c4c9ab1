// SPDX-License-Identifier: Apache-2.0

#include "tools/gen_selectors/explain.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/farcall/text/text_table.h"

namespace farcall::selectors {
namespace {

constexpr size_t kShownNames = 3;

std::string OrDash(const std::string& text) { return text.empty() ? "-" : Printable(text); }

// Texts of nodes, in the order in which they first came, each with its nodes.
class ByText {
 public:
  void Add(const std::string& text, const std::string& node) {
    const auto [at, is_new] = place_.emplace(text, entries_.size());
    if (is_new) entries_.push_back({text, {}});
    entries_[at->second].second.push_back(node);
  }
  const std::vector<std::pair<std::string, std::vector<std::string>>>& entries() const {
    return entries_;
  }

 private:
  std::map<std::string, size_t> place_;
  std::vector<std::pair<std::string, std::vector<std::string>>> entries_;
};

std::string Rate(const Function& function) {
  return function.gbps > 0 ? absl::StrCat(function.gbps, " Gb/s") : "rate unknown";
}

}  // namespace

std::string ShortList(const std::vector<std::string>& names) {
  if (names.size() <= kShownNames + 1) return absl::StrJoin(names, ", ");
  return absl::StrCat(absl::StrJoin(names.begin(), names.begin() + kShownNames, ", "), " and ",
                      names.size() - kShownNames, " more");
}

std::vector<std::string> ExplainResource(const Resource& resource, const Plan& plan) {
  // The functions of one node are together.
  std::vector<std::pair<std::string, std::string>> of_nodes;
  for (const size_t member : resource.members) {
    const Function& function = plan.judged[member].function;
    if (of_nodes.empty() || of_nodes.back().first != function.node) {
      of_nodes.push_back({function.node, ""});
    }
    std::string& text = of_nodes.back().second;
    absl::StrAppend(&text, text.empty() ? "" : ", ", Describe(function), " ", Rate(function));
  }
  ByText by_text;
  for (const auto& [node, text] : of_nodes) by_text.Add(text, node);
  std::vector<std::string> lines;
  for (const auto& [text, nodes] : by_text.entries()) {
    lines.push_back(absl::StrCat(ShortList(nodes), ": ", text));
  }
  if (!resource.kept_out_by_name.empty()) {
    lines.push_back(absl::StrCat("by name, which keeps out ", resource.kept_out_by_name,
                                 ": another node needs the same names"));
  }
  return lines;
}

std::vector<std::string> ExplainLeftOut(const Plan& plan) {
  ByText by_text;
  for (const Judged& judged : plan.judged) {
    if (judged.chosen()) continue;
    by_text.Add(absl::StrCat(Describe(judged.function), ": ", judged.why_not),
                judged.function.node);
  }
  std::vector<std::string> lines;
  for (const auto& [text, nodes] : by_text.entries()) {
    lines.push_back(absl::StrCat(ShortList(nodes), ": ", text));
  }
  return lines;
}

std::string Table(const Plan& plan) {
  cli::TextTable table({0, 1, 2, 3, 4, 5, 6, 8, 9});
  table.Add(
      {"node", "rdma", "pci", "id", "driver", "interface", "link", "Gb/s", "state", "selected"});
  for (size_t i = 0; i < plan.judged.size(); ++i) {
    const Function& f = plan.judged[i].function;
    const std::string selected = plan.judged[i].chosen()
                                     ? absl::StrCat("rail ", RailName(*plan.rails.rail[i]))
                                     : absl::StrCat("no: ", plan.judged[i].why_not);
    table.Add({f.node, f.rdma, OrDash(f.pci),
               f.vendor.empty() ? "-" : absl::StrCat(f.vendor, ":", f.device), OrDash(f.driver),
               OrDash(f.if_name), OrDash(f.link), f.gbps > 0 ? absl::StrCat(f.gbps) : "-",
               OrDash(f.port_state), selected});
  }
  return table.empty() ? "no node has an RDMA device\n" : table.ToString();
}

}  // namespace farcall::selectors
