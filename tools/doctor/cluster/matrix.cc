// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/cluster/matrix.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"

namespace farcall::doctor {
namespace {

constexpr std::array<const char*, 3> kKinds = {"raw verbs", "farcall over rdma",
                                               "farcall over tcp"};

std::string WayOf(const ComparisonRow& row) {
  return row.rail.empty() ? row.what : absl::StrCat(row.what, ", ", row.rail);
}

// By kind, and of a kind as they were measured.
std::vector<std::string> WaysOf(const Cluster& cluster) {
  std::vector<std::string> ways;
  for (const char* const kind : kKinds) {
    for (const PathResult& path : cluster.paths) {
      for (const ComparisonRow& row : path.rows) {
        if (row.what != kind || !row.trouble.empty()) continue;
        const std::string way = WayOf(row);
        if (std::find(ways.begin(), ways.end(), way) == ways.end()) ways.push_back(way);
      }
    }
  }
  return ways;
}

Matrix MatrixOf(const Cluster& cluster, const std::string& way, Better better) {
  const size_t nodes = cluster.nodes.size();
  std::vector<std::optional<double>> values(nodes * nodes);
  for (const PathResult& path : cluster.paths) {
    for (const ComparisonRow& row : path.rows) {
      if (!row.trouble.empty() || WayOf(row) != way) continue;
      values[path.path.from * nodes + path.path.to] =
          better == Better::kLess ? row.p50_us : row.bytes_per_second;
    }
  }
  const Outliers outliers = OutliersOf(values, better);
  Matrix matrix{way, better, outliers.expected, {}};
  for (size_t from = 0; from < nodes; ++from) {
    std::vector<Cell>& cells = matrix.cells.emplace_back();
    for (size_t to = 0; to < nodes; ++to) {
      const size_t at = from * nodes + to;
      cells.push_back({values[at], outliers.is[at]});
    }
  }
  return matrix;
}

}  // namespace

std::vector<Matrix> MatricesOf(const Cluster& cluster) {
  std::vector<Matrix> matrices;
  for (const std::string& way : WaysOf(cluster)) {
    matrices.push_back(MatrixOf(cluster, way, Better::kLess));
    matrices.push_back(MatrixOf(cluster, way, Better::kMore));
  }
  return matrices;
}

std::vector<size_t> NodesAmiss(const Matrix& matrix, const Cluster& cluster) {
  std::vector<size_t> paths(cluster.nodes.size());
  std::vector<size_t> amiss(cluster.nodes.size());
  for (const PathResult& each : cluster.paths) {
    const Cell& cell = matrix.cells[each.path.from][each.path.to];
    for (const size_t node : {each.path.from, each.path.to}) {
      ++paths[node];
      if (cell.outlier || !cell.value.has_value()) ++amiss[node];
    }
  }
  std::vector<size_t> nodes;
  for (size_t node = 0; node < paths.size(); ++node) {
    if (2 * amiss[node] > paths[node]) nodes.push_back(node);
  }
  // Where all are, nobody is amiss more than the others.
  if (nodes.size() == cluster.nodes.size()) nodes.clear();
  return nodes;
}

std::vector<Trouble> TroublesOf(const Cluster& cluster) {
  std::vector<Trouble> troubles;
  const auto add = [&](const std::string& text, const Path& path) {
    const auto same = std::find_if(troubles.begin(), troubles.end(),
                                   [&](const Trouble& each) { return each.text == text; });
    if (same == troubles.end()) return troubles.push_back({text, {path}});
    same->paths.push_back(path);
  };
  for (const PathResult& each : cluster.paths) {
    if (!each.trouble.empty()) add(each.trouble, each.path);
    for (const ComparisonRow& row : each.rows) {
      if (!row.trouble.empty()) add(absl::StrCat(WayOf(row), ": ", row.trouble), each.path);
    }
  }
  return troubles;
}

}  // namespace farcall::doctor
