// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "rpc/status/json_writer.h"
#include "rpc/version.h"
#include "tools/doctor/cluster/cluster_report.h"

namespace farcall::doctor {
namespace {

void Write(const ClusterNode& node, JsonWriter& json) {
  json.Field("name", node.name);
  json.Field("server", node.server);
  json.Field("trouble", node.trouble);
  json.Field("status", node.report.status());
  json.Field("summary", node.summary);
  json.Objects("findings", node.report.findings(), [&](const ReportResponse::Finding& finding) {
    json.Field("check", finding.check());
    json.Field("subject", finding.subject());
    json.Field("verdict", finding.verdict());
    json.Field("finding", finding.finding());
    json.Field("cure", finding.cure());
  });
}

void Write(const PathResult& path, JsonWriter& json) {
  json.Field("from", path.path.from);
  json.Field("to", path.path.to);
  json.Field("trouble", path.trouble);
  json.Objects("rows", path.rows, [&](const ComparisonRow& row) {
    WriteFields(row, json);
    json.Field("rail", row.rail);
  });
}

void Write(const Matrix& matrix, const Cluster& cluster, JsonWriter& json) {
  json.Field("what", matrix.what);
  json.Field("unit", matrix.better == Better::kLess ? "p50_us" : "bytes_per_second");
  json.Field("expected", matrix.expected);
  json.Key("values");
  json.BeginArray();
  for (const auto& row : matrix.cells) {
    json.BeginArray();
    for (const Cell& cell : row) {
      if (cell.value.has_value()) {
        json.Value(*cell.value);
      } else {
        json.Null();
      }
    }
    json.EndArray();
  }
  json.EndArray();
  json.Key("outliers");
  json.BeginArray();
  for (size_t from = 0; from < matrix.cells.size(); ++from) {
    for (size_t to = 0; to < matrix.cells.size(); ++to) {
      if (!matrix.cells[from][to].outlier) continue;
      json.BeginArray();
      json.Value(from);
      json.Value(to);
      json.EndArray();
    }
  }
  json.EndArray();
  json.Values("nodes_amiss", NodesAmiss(matrix, cluster));
}

}  // namespace

ExitCode StateOf(const Cluster& cluster, const std::vector<Matrix>& matrices) {
  size_t over_rdma = 0;
  for (const PathResult& path : cluster.paths) {
    over_rdma += std::any_of(path.rows.begin(), path.rows.end(), [](const ComparisonRow& row) {
      return row.what == "farcall over rdma" && row.trouble.empty();
    });
  }
  if (over_rdma == 0) return kNoRdma;
  const bool nodes = std::all_of(cluster.nodes.begin(), cluster.nodes.end(), [](const auto& node) {
    return node.trouble.empty() && node.report.status() == "ready";
  });
  const bool steady = std::none_of(matrices.begin(), matrices.end(), [](const Matrix& matrix) {
    return std::any_of(matrix.cells.begin(), matrix.cells.end(), [](const auto& row) {
      return std::any_of(row.begin(), row.end(), [](const Cell& cell) { return cell.outlier; });
    });
  });
  // Raw verbs need an address of the adapter, which pods do without.
  const bool whole = std::none_of(cluster.paths.begin(), cluster.paths.end(), [](const auto& path) {
    return !path.trouble.empty() ||
           std::any_of(path.rows.begin(), path.rows.end(), [](const ComparisonRow& row) {
             return row.what != "raw verbs" && !row.trouble.empty();
           });
  });
  return nodes && steady && whole ? kReady : kDegraded;
}

std::string ToJson(const Cluster& cluster) {
  const std::vector<Matrix> matrices = MatricesOf(cluster);
  JsonWriter json;
  json.BeginObject();
  json.Field("version", Version());
  json.Field("status", StatusOf(StateOf(cluster, matrices)));
  json.Field("seconds", cluster.seconds);
  json.Objects("nodes", cluster.nodes, [&](const ClusterNode& node) { Write(node, json); });
  json.Objects("paths", cluster.paths, [&](const PathResult& path) { Write(path, json); });
  json.Objects("matrices", matrices, [&](const Matrix& each) { Write(each, cluster, json); });
  json.EndObject();
  return json.Take() + "\n";
}

}  // namespace farcall::doctor
