// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/why_no_device.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "transport/base/check.h"
#include "transport/rdma/verbs/testing/scripted_verbs.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

// /sys/class and /dev/infiniband, below a directory of the test's own.
class WhyNoDeviceTest : public testing::Test {
 protected:
  WhyNoDeviceTest() {
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    root_ = testing::TempDir() + "/" + name;
    std::filesystem::remove_all(root_);
    host_.sys_class = root_ + "/class";
    host_.dev_directory = root_ + "/dev";
    std::filesystem::create_directories(host_.dev_directory);
  }
  ~WhyNoDeviceTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream file(path);
    file << text;
    Check(file.good(), "a file can be written");
  }
  void AddToSys(const std::string& device, const std::string& uverbs) {
    std::filesystem::create_directories(host_.sys_class + "/infiniband/" + device);
    Write(host_.sys_class + "/infiniband_verbs/" + uverbs + "/ibdev", device + "\n");
  }
  void Expect(WhyNotRdma why, const std::string& detail) {
    const absl::Status status = WhyNoDevice(verbs_.api(), host_);
    EXPECT_EQ(Name(ReasonOf(status)), Name(why));
    EXPECT_NE(status.message().find(detail), absl::string_view::npos) << status;
  }

  ScriptedVerbs verbs_;
  std::string root_;
  HostView host_;
};

TEST_F(WhyNoDeviceTest, NothingInSysMeansNoDevice) {
  Expect(WhyNotRdma::kNoDevice, "nothing in " + root_ + "/class/infiniband");
}

TEST_F(WhyNoDeviceTest, AFileThatIsMissingIsNamed) {
  AddToSys("mlx5_1", "uverbs7");
  AddToSys("mlx5_0", "uverbs3");
  Write(host_.dev_directory + "/rdma_cm", "");
  Write(host_.dev_directory + "/uverbs3", "");
  Expect(WhyNotRdma::kDeviceNotPermitted,
         "(mlx5_1: " + root_ + "/dev/uverbs7: No such file or directory)");
}

TEST_F(WhyNoDeviceTest, TheFileOfTheConnectionManagerIsNamedToo) {
  AddToSys("mlx5_0", "uverbs0");
  Write(host_.dev_directory + "/uverbs0", "");
  Expect(WhyNotRdma::kDeviceNotPermitted, "(" + root_ + "/dev/rdma_cm: No such file");
}

TEST_F(WhyNoDeviceTest, ADeviceThatCannotBeOpenedIsNamedWithItsFile) {
  ScriptedDevice& device = verbs_.AddDevice("mlx5_0");
  device.closed_to_us = true;
  absl::string_view("uverbs0").copy(device.device.dev_name, 7);
  Expect(WhyNotRdma::kDeviceNotPermitted, "mlx5_0: " + root_ + "/dev/uverbs0: No such file");
  // The file is all right, so it is libibverbs that speaks.
  Write(host_.dev_directory + "/uverbs0", "");
  Expect(WhyNotRdma::kDeviceNotPermitted, "mlx5_0: " + root_ + "/dev/uverbs0: Permission denied");
}

TEST_F(WhyNoDeviceTest, ADeviceWithoutProviderIsNamed) {
  AddToSys("new_0", "uverbs0");
  Write(host_.dev_directory + "/rdma_cm", "");
  Write(host_.dev_directory + "/uverbs0", "");
  Expect(WhyNotRdma::kNoDevice, "no provider of libibverbs knows new_0");
}

}  // namespace
}  // namespace farcall
