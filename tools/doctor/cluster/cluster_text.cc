// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "benchmarks/common/figures/number_text.h"
#include "tools/doctor/cluster/cluster_report.h"
#include "tools/farcall/text/text_table.h"

namespace farcall::doctor {
namespace {

// Of a list of paths or findings that all say the same.
constexpr size_t kMaxNamed = 6;

const char* UnitOf(const Matrix& matrix) {
  return matrix.better == Better::kLess ? "us there and back" : "MB/s one way";
}

std::string NumberOf(const Matrix& matrix, double value) {
  return bench::NumberText(matrix.better == Better::kLess ? value : value / 1e6);
}

std::string NodesText(const Cluster& cluster) {
  cli::TextTable table({1, 2, 3});
  table.Add({"", "host", "status", "says"});
  for (size_t i = 0; i < cluster.nodes.size(); ++i) {
    const ClusterNode& node = cluster.nodes[i];
    const bool silent = !node.trouble.empty();
    const std::string& status = node.report.status();
    table.Add({absl::StrCat(i + 1), node.name,
               silent           ? "no answer"
               : status.empty() ? "only answers"
                                : status,
               silent ? node.trouble : node.summary});
  }
  return table.ToString();
}

// "a, b and 3 more", or `all` where it is all of them.
std::string Listed(const std::vector<std::string>& names, size_t of, const char* all) {
  if (names.size() == of && of > 1) return all;
  const size_t told = std::min(names.size(), kMaxNamed);
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(told);
  return absl::StrCat(
      absl::StrJoin(names.begin(), end, ", "),
      told == names.size() ? "" : absl::StrCat(" and ", names.size() - told, " more"));
}

// What several nodes say is there once.
std::string FindingsText(const Cluster& cluster) {
  std::vector<std::pair<std::string, std::vector<std::string>>> findings;
  for (const ClusterNode& node : cluster.nodes) {
    for (const ReportResponse::Finding& finding : node.report.findings()) {
      std::string text = absl::StrCat(finding.verdict(), ": ", finding.check(),
                                      finding.subject().empty() ? "" : " of " + finding.subject(),
                                      ": ", finding.finding(), "\n");
      if (!finding.cure().empty()) absl::StrAppend(&text, "  cure: ", finding.cure(), "\n");
      const auto same = std::find_if(findings.begin(), findings.end(),
                                     [&](const auto& each) { return each.first == text; });
      if (same == findings.end()) {
        findings.push_back({std::move(text), {node.name}});
      } else {
        same->second.push_back(node.name);
      }
    }
  }
  std::string all;
  for (const auto& [text, names] : findings) {
    absl::StrAppend(&all, Listed(names, cluster.nodes.size(), "all hosts"), ": ", text);
  }
  return all.empty() ? all : "\n" + all;
}

// Nodes by their numbers: names would make wide columns.
std::string MatrixText(const Matrix& matrix, const Cluster& cluster) {
  cli::TextTable table({1});
  std::vector<std::string> head = {"", "from, to"};
  for (size_t i = 0; i < cluster.nodes.size(); ++i) {
    if (cluster.nodes[i].trouble.empty()) head.push_back(absl::StrCat(i + 1));
  }
  table.Add(head);
  for (size_t from = 0; from < cluster.nodes.size(); ++from) {
    if (!cluster.nodes[from].trouble.empty()) continue;
    std::vector<std::string> row = {absl::StrCat(from + 1), cluster.nodes[from].name};
    for (size_t to = 0; to < cluster.nodes.size(); ++to) {
      if (!cluster.nodes[to].trouble.empty()) continue;
      const Cell& cell = matrix.cells[from][to];
      row.push_back(from == to ? ""
                    : cell.value.has_value()
                        ? absl::StrCat(cell.outlier ? "*" : "", NumberOf(matrix, *cell.value))
                        : "-");
    }
    table.Add(row);
  }
  return absl::StrCat("\n", matrix.what, ", ", UnitOf(matrix), "\n", table.ToString());
}

std::string NameOf(const Cluster& cluster, const Path& path) {
  return absl::StrCat(cluster.nodes[path.from].name, " -> ", cluster.nodes[path.to].name);
}

std::string NamesOf(const Cluster& cluster, const std::vector<Path>& paths) {
  std::vector<std::string> names;
  for (const Path& path : paths) names.push_back(NameOf(cluster, path));
  return Listed(names, cluster.paths.size(), "all paths");
}

std::string OutliersText(const Matrix& matrix, const Cluster& cluster) {
  std::string text;
  const std::vector<size_t> amiss = NodesAmiss(matrix, cluster);
  for (const size_t node : amiss) {
    absl::StrAppend(&text, cluster.nodes[node].name, ": ", matrix.what, ", ", UnitOf(matrix),
                    ": most of its paths are outliers, or have no number\n");
  }
  const auto told = [&](size_t node) {
    return std::find(amiss.begin(), amiss.end(), node) != amiss.end();
  };
  for (const PathResult& each : cluster.paths) {
    const Cell& cell = matrix.cells[each.path.from][each.path.to];
    if (!cell.outlier || told(each.path.from) || told(each.path.to)) continue;
    absl::StrAppend(&text, NameOf(cluster, each.path), ": ", matrix.what, ", ", UnitOf(matrix),
                    ": ", NumberOf(matrix, *cell.value), ", where a quarter of all reach ",
                    NumberOf(matrix, matrix.expected), "\n");
  }
  return text;
}

std::string Summary(const Cluster& cluster, const std::vector<Matrix>& matrices) {
  const auto silent = std::count_if(cluster.nodes.begin(), cluster.nodes.end(),
                                    [](const ClusterNode& node) { return !node.trouble.empty(); });
  const ExitCode state = StateOf(cluster, matrices);
  return absl::StrCat(state == kReady      ? "ready: every path goes over RDMA"
                      : state == kDegraded ? "degraded: see below"
                                           : "no RDMA: no path goes over it",
                      "; ", cluster.nodes.size() - static_cast<size_t>(silent), " of ",
                      cluster.nodes.size(), " hosts answer, ", cluster.paths.size(),
                      " paths measured in ", bench::NumberText(cluster.seconds), " s\n\n");
}

}  // namespace

std::string ToText(const Cluster& cluster) {
  const std::vector<Matrix> matrices = MatricesOf(cluster);
  std::string text = Summary(cluster, matrices) + NodesText(cluster) + FindingsText(cluster);
  std::string outliers;
  for (const Matrix& matrix : matrices) {
    absl::StrAppend(&text, MatrixText(matrix, cluster));
    absl::StrAppend(&outliers, OutliersText(matrix, cluster));
  }
  if (!outliers.empty()) absl::StrAppend(&text, "\noutliers (*):\n", outliers);
  std::string troubles;
  for (const Trouble& trouble : TroublesOf(cluster)) {
    absl::StrAppend(&troubles, trouble.text, "\n  ", NamesOf(cluster, trouble.paths), "\n");
  }
  if (!troubles.empty()) absl::StrAppend(&text, "\nnot measured:\n", troubles);
  return text;
}

}  // namespace farcall::doctor
