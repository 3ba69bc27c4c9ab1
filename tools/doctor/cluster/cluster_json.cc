// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "rpc/status/json_writer.h"
#include "rpc/version.h"
#include "tools/doctor/cluster/cluster_report.h"

namespace farcall::doctor {
namespace {

const char* NameOf(ClusterState state) {
  return state == ClusterState::kReady      ? "ready"
         : state == ClusterState::kDegraded ? "degraded"
                                            : "no_rdma";
}

void Write(const ClusterNode& node, JsonWriter& json) {
  json.BeginObject();
  json.Field("name", node.name);
  json.Field("server", node.server);
  json.Field("trouble", node.trouble);
  json.Field("status", node.report.status());
  json.Field("summary", node.summary);
  json.Key("findings");
  json.BeginArray();
  for (const ReportResponse::Finding& finding : node.report.findings()) {
    json.BeginObject();
    json.Field("check", finding.check());
    json.Field("subject", finding.subject());
    json.Field("verdict", finding.verdict());
    json.Field("finding", finding.finding());
    json.Field("cure", finding.cure());
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

void Write(const PathResult& path, JsonWriter& json) {
  json.BeginObject();
  json.Field("from", path.path.from);
  json.Field("to", path.path.to);
  json.Field("trouble", path.trouble);
  json.Key("rows");
  json.BeginArray();
  for (const ComparisonRow& row : path.rows) {
    json.BeginObject();
    WriteFields(row, json);
    json.Field("rail", row.rail);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

void Write(const Matrix& matrix, const Cluster& cluster, JsonWriter& json) {
  json.BeginObject();
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
  json.Key("nodes_amiss");
  json.BeginArray();
  for (const size_t node : NodesAmiss(matrix, cluster)) json.Value(node);
  json.EndArray();
  json.EndObject();
}

}  // namespace

ClusterState StateOf(const Cluster& cluster, const std::vector<Matrix>& matrices) {
  size_t over_rdma = 0;
  for (const PathResult& path : cluster.paths) {
    over_rdma += std::any_of(path.rows.begin(), path.rows.end(), [](const ComparisonRow& row) {
      return row.what == "farcall over rdma" && row.trouble.empty();
    });
  }
  if (over_rdma == 0) return ClusterState::kNoRdma;
  const bool nodes = std::all_of(cluster.nodes.begin(), cluster.nodes.end(), [](const auto& node) {
    return node.trouble.empty() &&
           (node.report.status().empty() || node.report.status() == "ready");
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
  return nodes && steady && whole ? ClusterState::kReady : ClusterState::kDegraded;
}

std::string ToJson(const Cluster& cluster) {
  const std::vector<Matrix> matrices = MatricesOf(cluster);
  JsonWriter json;
  json.BeginObject();
  json.Field("version", Version());
  json.Field("status", NameOf(StateOf(cluster, matrices)));
  json.Field("seconds", cluster.seconds);
  json.Key("nodes");
  json.BeginArray();
  for (const ClusterNode& node : cluster.nodes) Write(node, json);
  json.EndArray();
  json.Key("paths");
  json.BeginArray();
  for (const PathResult& path : cluster.paths) Write(path, json);
  json.EndArray();
  json.Key("matrices");
  json.BeginArray();
  for (const Matrix& matrix : matrices) Write(matrix, cluster, json);
  json.EndArray();
  json.EndObject();
  return json.Take() + "\n";
}

}  // namespace farcall::doctor
