// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/device/port_losses.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace farcall {
namespace {

class PortLossesTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    const std::string folder = root_ + "/infiniband/mlx5_0/ports/1/hw_counters/";
    std::filesystem::create_directories(folder);
    std::ofstream(folder + name) << text;
  }

  std::string Read(int port = 1) const {
    std::string text;
    for (const NamedCount& one : ReadPortLosses(root_, "mlx5_0", port)) {
      text += one.name + " " + std::to_string(one.count) + ";";
    }
    return text;
  }

 private:
  const std::string root_ = testing::TempDir() + "/port-losses-" +
                            testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(PortLossesTest, ThoseThatTheDriverHasAreTold) {
  Write("out_of_sequence", "5\n");
  Write("packet_seq_err", "18446744073709551615\n");
  Write("duplicate_request", "0\n");
  Write("rx_write_requests", "7\n");
  EXPECT_EQ(Read(), "out_of_sequence 5;packet_seq_err 18446744073709551615;duplicate_request 0;")
      << "zero is where counting begins; what tells of no loss is left out";
}

TEST_F(PortLossesTest, NothingIsToldOfAPortThatTheKernelDoesNotShow) {
  Write("out_of_sequence", "5\n");
  EXPECT_EQ(Read(2), "");
}

TEST_F(PortLossesTest, WhatIsNoNumberIsLeftOut) {
  Write("out_of_sequence", "N/A (no PMA)\n");
  Write("packet_seq_err", "");
  EXPECT_EQ(Read(), "");
}

}  // namespace
}  // namespace farcall
