// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/cluster/ask.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/doctor/cluster/cluster_report.h"
#include "tools/doctor/peer/doctor_server.h"

namespace farcall::doctor {
namespace {

constexpr double kSeconds = 0.02;

// Doctors on loopback, each with an address of its own and all on one port, as on hosts.
class AskTest : public testing::Test {
 protected:
  AskTest() : runtime_(QuietRuntime({"none"}).value()) {}

  Introduction MayMeasure(const std::string& name) {
    Introduction introduction{"no RDMA", {}, "no_device: none"};
    introduction.name = name;
    introduction.others = Networks::Parse("127.0.0.0/8").value();
    introduction.report = [] {
      ReportResponse report;
      report.set_status("no_rdma");
      report.set_summary("no RDMA, seen again\n");
      return report;
    };
    return introduction;
  }

  void Serve(Introduction introduction) {
    const std::string ip = "127.0.0." + std::to_string(servers_.size() + 2);
    const std::string port = servers_.empty() ? "0" : std::to_string(port_);
    auto server = DoctorServer::Start(*runtime_, ip + ":" + port, std::move(introduction), nullptr);
    ASSERT_TRUE(server.ok()) << server.status();
    const Address address = (*server)->server().listen_address();
    port_ = address.port();
    hosts_.push_back({"", address});
    servers_.push_back(*std::move(server));
  }

  Cluster Ask(size_t at_once = 2) {
    auto cluster = AskCluster(hosts_, kSeconds, at_once, [](absl::string_view) {});
    EXPECT_TRUE(cluster.ok()) << cluster.status();
    return *std::move(cluster);
  }

  const std::unique_ptr<Runtime> runtime_;
  std::vector<std::unique_ptr<DoctorServer>> servers_;
  std::vector<Host> hosts_;
  uint16_t port_ = 0;
};

TEST_F(AskTest, EachForItselfAndEachPathOverTcp) {
  for (const char* const name : {"n1", "n2", "n3"}) Serve(MayMeasure(name));
  const Cluster cluster = Ask();
  ASSERT_EQ(cluster.nodes.size(), 3u);
  EXPECT_EQ(cluster.nodes[1].name, "n2");
  EXPECT_EQ(cluster.nodes[1].report.status(), "no_rdma");
  EXPECT_EQ(cluster.nodes[1].summary, "no RDMA, seen again\\n") << "for a terminal";
  ASSERT_EQ(cluster.paths.size(), 6u);
  for (const PathResult& path : cluster.paths) {
    EXPECT_EQ(path.trouble, "");
    ASSERT_EQ(path.rows.size(), 3u);
    EXPECT_NE(path.rows[0].trouble, "") << "raw verbs: " << path.rows[0].what;
    EXPECT_NE(path.rows[1].trouble, "") << "RDMA: " << path.rows[1].what;
    EXPECT_EQ(path.rows[2].what, "farcall over tcp");
    EXPECT_EQ(path.rows[2].trouble, "");
    EXPECT_GT(path.rows[2].p50_us, 0);
    EXPECT_GT(path.rows[2].bytes_per_second, 0);
  }
  EXPECT_EQ(StateOf(cluster, MatricesOf(cluster)), kNoRdma);
}

TEST_F(AskTest, WhoDoesNotAnswerStopsNothing) {
  Serve(MayMeasure("n1"));
  hosts_.push_back({"dead", Address::Parse("127.0.0.99:1").value()});
  hosts_.push_back({"unknown", {}, {}, "unknown has no address"});
  Serve(MayMeasure("n2"));
  const Cluster cluster = Ask(1);
  ASSERT_EQ(cluster.nodes.size(), 4u);
  EXPECT_EQ(cluster.nodes[1].name, "dead");
  EXPECT_NE(cluster.nodes[1].trouble, "");
  EXPECT_EQ(cluster.nodes[2].trouble, "unknown has no address");
  ASSERT_EQ(cluster.paths.size(), 2u);
  EXPECT_EQ(cluster.paths[0].path, (Path{0, 3}));
  EXPECT_EQ(cluster.paths[0].rows.back().trouble, "");
}

TEST_F(AskTest, WhoMayNotMeasureIsMeasuredAgainst) {
  Serve(MayMeasure("n1"));
  Serve({"no RDMA", {}, "no_device: none"});
  const Cluster cluster = Ask();
  ASSERT_EQ(cluster.paths.size(), 2u);
  EXPECT_EQ(cluster.paths[0].trouble, "");
  EXPECT_NE(cluster.paths[1].trouble.find("started without --measure"), std::string::npos)
      << cluster.paths[1].trouble;
  EXPECT_EQ(cluster.nodes[1].report.status(), "");
  EXPECT_NE(cluster.nodes[1].summary.find("started without --measure"), std::string::npos)
      << cluster.nodes[1].summary;
}

// Of the ways over TCP from the first host to the second: the trouble of each.
std::map<std::string, std::string> TcpOf(const Cluster& cluster) {
  std::map<std::string, std::string> troubles;
  for (const ComparisonRow& row : cluster.paths[0].rows) {
    if (row.what == "farcall over tcp") troubles[row.rail] = row.trouble;
  }
  return troubles;
}

TEST_F(AskTest, TcpOverFurtherAddressesOfAHost) {
  // One doctor that has all addresses of loopback stands for both.
  servers_.push_back(DoctorServer::Start(*runtime_, "0.0.0.0:0", MayMeasure("n"), nullptr).value());
  const uint16_t port = servers_[0]->server().listen_address().port();
  hosts_ = {{"n1", Address::Ipv4({127, 0, 0, 2}, port)},
            {"n2", Address::Ipv4({127, 0, 0, 3}, port), {"127.0.0.4"}}};
  EXPECT_EQ(TcpOf(Ask()), (std::map<std::string, std::string>{{"", ""}, {"address 2", ""}}));
}

TEST_F(AskTest, AnAddressThatLeadsToAnotherHostIsNotMeasured) {
  Serve(MayMeasure("n1"));
  Serve(MayMeasure("n2"));
  hosts_[1].addresses = {"127.0.0.2"};
  auto ways = TcpOf(Ask());
  ASSERT_EQ(ways.size(), 2u);
  EXPECT_NE(ways["address 2"].find("leads to another host"), std::string::npos)
      << ways["address 2"];
}

}  // namespace
}  // namespace farcall::doctor
