// SPDX-License-Identifier: Apache-2.0

#include "rpc/settings/variables.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/runtime_options.h"

namespace farcall {
namespace {

std::string Found(const std::vector<absl::string_view>& variables) {
  RuntimeOptions options;
  std::string all;
  for (const Setting& one : SettingsOf(variables, Fields(options))) {
    absl::StrAppend(&all, one.from, " ", one.name, "=", one.value, "\n");
  }
  return all;
}

TEST(VariablesTest, EachFieldHasOneOfItsOwn) {
  EXPECT_EQ(VariableOf("rdma.ack_timeout"), "FARCALL_RDMA_ACK_TIMEOUT");
  RuntimeOptions options;
  std::set<std::string> all;
  for (const OptionField& field : Fields(options)) {
    EXPECT_TRUE(all.insert(VariableOf(field.name)).second) << field.name;
  }
}

TEST(VariablesTest, AreFoundByTheirNames) {
  EXPECT_EQ(Found({"HOME=/root", "FARCALL_RDMA_ACK_TIMEOUT=18", "FARCALL_CPUS=1,2=3"}),
            "FARCALL_RDMA_ACK_TIMEOUT rdma.ack_timeout=18\n"
            "FARCALL_CPUS cpus=1,2=3\n");
}

TEST(VariablesTest, OnesThatAreNoFieldAreKeptToBeRefused) {
  EXPECT_EQ(Found({"FARCALL_RDMA_ACK_TIMOUT=18", "FARCALLX=1", "FARCALL_x=1"}),
            "FARCALL_RDMA_ACK_TIMOUT FARCALL_RDMA_ACK_TIMOUT=18\n"
            "FARCALL_x FARCALL_x=1\n");
}

TEST(VariablesTest, TheEmptyOnesAndTheFilesNameAreNoSettings) {
  EXPECT_EQ(Found({"FARCALL_TRAFFIC_CLASS=", "FARCALL_CONFIG=/etc/f.yaml", "FARCALL_CPUS"}), "");
}

TEST(VariablesTest, TheFormerNameOfTheNetworkStatusIsStillKnown) {
  EXPECT_EQ(Found({"FARCALL_NETWORK_STATUS=/f"}),
            "FARCALL_NETWORK_STATUS rdma.network_status=/f\n");
  EXPECT_EQ(Found({"FARCALL_RDMA_NETWORK_STATUS=/f"}),
            "FARCALL_RDMA_NETWORK_STATUS rdma.network_status=/f\n");
}

// As a pod of a namespace gets them that has the Services "farcall" and "farcall-rdma-listen".
TEST(VariablesTest, WhatKubernetesSaysOfServicesIsLeftOut) {
  EXPECT_EQ(Found({"FARCALL_SERVICE_HOST=10.96.0.17", "FARCALL_SERVICE_PORT=8002",
                   "FARCALL_SERVICE_PORT_RPC=8002", "FARCALL_PORT=tcp://10.96.0.17:8002",
                   "FARCALL_PORT_8002_TCP=tcp://10.96.0.17:8002", "FARCALL_PORT_8002_TCP_PROTO=tcp",
                   "FARCALL_PORT_8002_TCP_PORT=8002", "FARCALL_PORT_8002_TCP_ADDR=10.96.0.17",
                   "FARCALL_RDMA_LISTEN_PORT=udp://10.96.0.18:4791",
                   "FARCALL_RDMA_LISTEN_SERVICE_HOST=10.96.0.18"}),
            "");
  EXPECT_EQ(Found({"FARCALL_RDMA_ADDRESSES=tcp://10.0.0.1"}),
            "FARCALL_RDMA_ADDRESSES rdma.addresses=tcp://10.0.0.1\n");
  EXPECT_EQ(Found({"FARCALL_RDMA_LISTEN_PORT=4000"}),
            "FARCALL_RDMA_LISTEN_PORT rdma.listen_port=4000\n");
}

}  // namespace
}  // namespace farcall
