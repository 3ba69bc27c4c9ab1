// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/cm/port_set_up.h"

#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "transport/rdma/cm/port_set_up.pb.h"
#include "transport/upgrade.h"

namespace farcall {
namespace {

PortSetUp Connect() {
  PortSetUp message;
  message.data = std::string(255, 'd');
  message.gid.fill(0xfe);
  message.lid = 0xffff;
  message.number = message.first_packet = 0xffffff;
  message.mtu = 4096;
  message.answers = message.begins = 255;
  message.traffic_class = 255;
  message.service_level = 15;
  message.to.fill(0xff);
  return message;
}

TEST(PortSetUpTest, WhatIsWrittenIsRead) {
  PortSetUp accept = Connect();
  accept.kind = PortSetUp::Kind::kAccept;
  accept.to = {};
  const PortSetUp ready{.kind = PortSetUp::Kind::kReady, .data = {}};
  const PortSetUp reject{.kind = PortSetUp::Kind::kReject, .data = "why"};
  for (const PortSetUp& message : {Connect(), accept, ready, reject}) {
    const std::string bytes = EncodePortSetUp(message);
    EXPECT_LE(bytes.size(), kMaxSetUpBytes);
    const auto read = ParsePortSetUp(bytes);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, message);
  }
}

TEST(PortSetUpTest, EachBoundIsHeldAndNamed) {
  const struct {
    void (*spoil)(rdma::PortSetUp&);
    const char* says;
  } kCases[] = {
      {[](auto& message) { message.set_kind(0); }, "kind 0"},
      {[](auto& message) { message.set_kind(5); }, "kind 5"},
      {[](auto& message) { message.set_data(std::string(256, 'd')); }, "over 255 bytes"},
      {[](auto& message) { message.set_gid("short"); }, "GID has not 16 bytes"},
      {[](auto& message) { message.set_lid(0x10000); }, "LID 65536"},
      {[](auto& message) { message.set_number(1 << 24); }, "queue pair 16777216"},
      {[](auto& message) { message.set_first_packet(1 << 24); }, "over 24 bits"},
      {[](auto& message) { message.set_mtu(1500); }, "MTU of 1500"},
      {[](auto& message) { message.set_mtu(0); }, "MTU of 0"},
      {[](auto& message) { message.set_answers(256); }, "255 RDMA READs"},
      {[](auto& message) { message.set_begins(256); }, "255 RDMA READs"},
      {[](auto& message) { message.set_traffic_class(256); }, "traffic class above 255"},
      {[](auto& message) { message.set_service_level(16); }, "service level above 15"},
      {[](auto& message) { message.clear_to(); }, "the GID offered"},
  };
  for (const auto& one : kCases) {
    rdma::PortSetUp message;
    ASSERT_TRUE(message.ParseFromString(EncodePortSetUp(Connect())));
    one.spoil(message);
    const auto read = ParsePortSetUp(message.SerializeAsString());
    ASSERT_FALSE(read.ok()) << one.says;
    EXPECT_TRUE(absl::StrContains(read.status().message(), one.says)) << read.status();
  }
  EXPECT_FALSE(ParsePortSetUp("\xff\xff").ok());
}

}  // namespace
}  // namespace farcall
