// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/cluster/matrix.h"

#include <gtest/gtest.h>

#include "tools/doctor/cluster/cluster_report.h"

namespace farcall::doctor {
namespace {

ComparisonRow Row(const char* what, double us, double bytes_per_second) {
  return {what, "", "", us, us, bytes_per_second};
}

ComparisonRow NoRow(const char* what, const char* trouble) { return {what, "", trouble}; }

// So many nodes that are all well, and all paths between them.
Cluster Whole(size_t nodes) {
  Cluster cluster;
  cluster.seconds = 12;
  for (size_t i = 0; i < nodes; ++i) {
    ClusterNode node{"n" + std::to_string(i + 1), "10.0.0." + std::to_string(i + 1) + ":18600"};
    node.summary = "ready: RDMA can be used";
    node.report.set_status("ready");
    cluster.nodes.push_back(node);
  }
  for (const Round& round : RoundsOf(nodes, 1)) {
    cluster.paths.push_back(
        {round[0], "", {Row("farcall over rdma", 10, 4e9), Row("farcall over tcp", 40, 1e9)}});
  }
  return cluster;
}

void Set(Cluster& cluster, const Path& path, size_t row, const ComparisonRow& to) {
  for (PathResult& each : cluster.paths) {
    if (each.path == path) each.rows[row] = to;
  }
}

ExitCode StateOf(const Cluster& cluster) {
  return farcall::doctor::StateOf(cluster, MatricesOf(cluster));
}

TEST(MatrixTest, AWholeClusterIsReady) {
  const Cluster cluster = Whole(4);
  const auto matrices = MatricesOf(cluster);
  ASSERT_EQ(matrices.size(), 4u);
  EXPECT_EQ(matrices[0].what, "farcall over rdma");
  EXPECT_EQ(matrices[0].cells[0][1].value, 10);
  EXPECT_EQ(matrices[1].cells[3][2].value, 4e9);
  EXPECT_FALSE(matrices[0].cells[2][2].value.has_value()) << "to itself";
  EXPECT_EQ(StateOf(cluster), kReady);
}

TEST(MatrixTest, ASlowPathIsAnOutlierAndItsNodesAreNot) {
  Cluster cluster = Whole(4);
  Set(cluster, {1, 3}, 0, Row("farcall over rdma", 100, 4e9));
  const auto matrices = MatricesOf(cluster);
  EXPECT_TRUE(matrices[0].cells[1][3].outlier);
  EXPECT_FALSE(matrices[0].cells[3][1].outlier);
  EXPECT_TRUE(NodesAmiss(matrices[0], cluster).empty());
  EXPECT_EQ(StateOf(cluster), kDegraded);
}

TEST(MatrixTest, ANodeWithABadCableIsNamedRatherThanItsPaths) {
  Cluster cluster = Whole(5);
  for (PathResult& each : cluster.paths) {
    if (each.path.from == 2 || each.path.to == 2) {
      each.rows[0] = Row("farcall over rdma", 10, 1e8);
    }
  }
  const auto matrices = MatricesOf(cluster);
  EXPECT_EQ(NodesAmiss(matrices[1], cluster), std::vector<size_t>{2});
  const std::string text = ToText(cluster);
  EXPECT_NE(text.find("n3: farcall over rdma, MB/s one way: most of its paths"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("n3 -> n1: farcall over rdma"), std::string::npos) << text;
}

TEST(MatrixTest, EachRailHasItsOwn) {
  Cluster cluster = Whole(2);
  for (PathResult& each : cluster.paths) {
    ComparisonRow second = Row("farcall over rdma", 9, 4e9);
    second.rail = "mlx5_1";
    each.rows.push_back(second);
  }
  const auto matrices = MatricesOf(cluster);
  ASSERT_EQ(matrices.size(), 6u);
  EXPECT_EQ(matrices[2].what, "farcall over rdma, mlx5_1");
  EXPECT_EQ(matrices[2].cells[1][0].value, 9);
}

TEST(MatrixTest, WhatHasNoNumberIsToldOnce) {
  Cluster cluster = Whole(3);
  for (PathResult& each : cluster.paths) {
    each.rows[0] = NoRow("farcall over rdma", "no_device: none");
  }
  cluster.paths[0].trouble = "it ended";
  cluster.paths[0].rows.clear();
  EXPECT_EQ(MatricesOf(cluster).size(), 2u) << "TCP";
  const auto troubles = TroublesOf(cluster);
  ASSERT_EQ(troubles.size(), 2u);
  EXPECT_EQ(troubles[0].text, "it ended");
  EXPECT_EQ(troubles[1].text, "farcall over rdma: no_device: none");
  EXPECT_EQ(troubles[1].paths.size(), 5u);
  EXPECT_EQ(StateOf(cluster), kNoRdma);
}

TEST(MatrixTest, RawVerbsMayBeMissing) {
  Cluster cluster = Whole(2);
  for (PathResult& each : cluster.paths) each.rows.push_back(NoRow("raw verbs", "no address"));
  EXPECT_EQ(StateOf(cluster), kReady);
}

TEST(MatrixTest, ANodeWithoutAReportIsNotReady) {
  Cluster cluster = Whole(2);
  cluster.nodes[0].report.clear_status();
  EXPECT_EQ(StateOf(cluster), kDegraded);
}

TEST(ClusterReportTest, Text) {
  Cluster cluster = Whole(4);
  Set(cluster, {1, 3}, 1, Row("farcall over tcp", 99, 1e9));
  cluster.nodes.push_back({"n5", "", "n5 has no address"});
  EXPECT_EQ(ToText(cluster).substr(0, ToText(cluster).find("farcall over rdma, MB/s")),
            "degraded: see below; 4 of 5 hosts answer, 12 paths measured in 12.0 s\n"
            "\n"
            "   host  status     says\n"
            "1  n1    ready      ready: RDMA can be used\n"
            "2  n2    ready      ready: RDMA can be used\n"
            "3  n3    ready      ready: RDMA can be used\n"
            "4  n4    ready      ready: RDMA can be used\n"
            "5  n5    no answer  n5 has no address\n"
            "\n"
            "farcall over rdma, us there and back\n"
            "   from, to     1     2     3     4\n"
            "1  n1              10.0  10.0  10.0\n"
            "2  n2        10.0        10.0  10.0\n"
            "3  n3        10.0  10.0        10.0\n"
            "4  n4        10.0  10.0  10.0\n"
            "\n");
  EXPECT_NE(ToText(cluster).find("2  n2        40.0        40.0  *99.0\n"), std::string::npos)
      << ToText(cluster);
  EXPECT_NE(ToText(cluster).find(
                "outliers (*):\nn2 -> n4: farcall over tcp, us there and back: 99.0, where a "
                "quarter of all reach 40.0\n"),
            std::string::npos);
}

TEST(ClusterReportTest, WhatManySayIsToldOnce) {
  Cluster cluster = Whole(8);
  for (size_t i = 0; i < 8; ++i) {
    ReportResponse::Finding& finding = *cluster.nodes[i].report.add_findings();
    finding.set_check(i == 0 ? "pci" : "memlock");
    finding.set_verdict("degraded");
    finding.set_finding("1");
    for (PathResult& each : cluster.paths) {
      each.rows[0] = NoRow("farcall over rdma", "no_device: none");
    }
  }
  const std::string text = ToText(cluster);
  for (const char* const part :
       {"\nn1: degraded: pci: 1\n", "\nn2, n3, n4, n5, n6, n7 and 1 more: degraded: memlock: 1\n",
        "farcall over rdma: no_device: none\n  all paths\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
}

TEST(ClusterReportTest, Json) {
  Cluster cluster = Whole(2);
  cluster.nodes[0].report.set_status("degraded");
  ReportResponse::Finding& finding = *cluster.nodes[0].report.add_findings();
  finding.set_check("memlock");
  finding.set_finding("1 MiB");
  const std::string json = ToJson(cluster);
  for (const char* const part :
       {"\"status\":\"degraded\"", "\"finding\":\"1 MiB\"",
        "{\"from\":0,\"to\":1,\"trouble\":\"\",\"rows\":[{\"what\":\"farcall over rdma\"",
        "\"unit\":\"p50_us\",\"expected\":10,\"values\":[[null,10],[10,null]],\"outliers\":[]"}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << " in " << json;
  }
}

}  // namespace
}  // namespace farcall::doctor
