// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/device/why_no_device.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "transport/base/check.h"
#include "transport/rdma/verbs/testing/scripted_verbs.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

// /sys/class and /dev/infiniband, below a directory of the test's own.
class WhyNoDeviceTest : public ::testing::Test {
 protected:
  WhyNoDeviceTest() {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    root_ = ::testing::TempDir() + "/" + name;
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
    const absl::Status status = WhyNoDevice(verbs_.api(), host_, /*error=*/ENODEV);
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

TEST_F(WhyNoDeviceTest, NothingInSysMayBeTheModeOfNamespaces) {
  std::filesystem::create_directories(host_.sys_class);
  const std::string mode = root_ + "/module/ib_core/parameters/netns_mode";
  Write(mode, "N\n");
  Expect(WhyNotRdma::kNoDevice, "/class/infiniband; RDMA namespaces are exclusive");
  Write(mode, "Y\n");
  Expect(WhyNotRdma::kNoDevice, "nothing in " + root_ + "/class/infiniband)");
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

// libibverbs says ENOSYS of a kernel without RDMA.
TEST_F(WhyNoDeviceTest, AKernelWithoutRdmaIsNoDevice) {
  verbs_.Fail("ibv_get_device_list", ENOSYS);
  Expect(WhyNotRdma::kNoDevice, "nothing in " + root_ + "/class/infiniband");
}

TEST_F(WhyNoDeviceTest, AListThatFailsIsToldWithItsErrno) {
  AddToSys("mlx5_0", "uverbs0");
  Write(host_.dev_directory + "/rdma_cm", "");
  Write(host_.dev_directory + "/uverbs0", "");
  verbs_.Fail("ibv_get_device_list", ENOMEM);
  Expect(WhyNotRdma::kDeviceRefused, "ibv_get_device_list: Cannot allocate memory");
  verbs_.Fail("ibv_get_device_list", EMFILE);
  Expect(WhyNotRdma::kDeviceRefused,
         "ibv_get_device_list: Too many open files (raise RLIMIT_NOFILE, ulimit -n)");
  verbs_.Fail("ibv_get_device_list", EPERM);
  Expect(WhyNotRdma::kDeviceNotPermitted, "ibv_get_device_list: Operation not permitted");
  // There are devices, so it is not the kernel that has no RDMA.
  verbs_.Fail("ibv_get_device_list", ENOSYS);
  Expect(WhyNotRdma::kDeviceRefused, "ibv_get_device_list: Function not ");
}

TEST_F(WhyNoDeviceTest, ADirectoryThatCannotBeReadIsNotEmpty) {
  // A link to itself, since for root there is no directory that may not be read.
  std::filesystem::create_directories(host_.sys_class);
  std::filesystem::create_symlink(host_.sys_class + "/infiniband", host_.sys_class + "/infiniband");
  verbs_.Fail("ibv_get_device_list", ENOSYS);
  Expect(WhyNotRdma::kDeviceRefused, "/infiniband: Too many levels of symbolic links");
}

// All is well with what libibverbs sees, so it is librdmacm that has something against it.
TEST_F(WhyNoDeviceTest, WhatOnlyLibrdmacmRefusesIsToldWithItsErrno) {
  AddToSys("mlx5_0", "uverbs0");
  verbs_.AddDevice("mlx5_0");
  Write(host_.dev_directory + "/rdma_cm", "");
  Write(host_.dev_directory + "/uverbs0", "");
  Expect(WhyNotRdma::kDeviceRefused, "rdma_get_devices: No such device");
}

// As it is in a process that has used up its descriptors, when each of these fails.
TEST_F(WhyNoDeviceTest, TooManyOpenFilesAreNoMatterOfPermission) {
  AddToSys("mlx5_0", "uverbs0");
  ScriptedDevice& device = verbs_.AddDevice("mlx5_0");
  absl::string_view("uverbs0").copy(device.device.dev_name, 7);
  Write(host_.dev_directory + "/uverbs0", "");
  Write(host_.dev_directory + "/rdma_cm", "");
  rlimit former{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &former), 0);
  rlimit none = former;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  verbs_.Fail("ibv_get_device_list", ENOSYS);
  const absl::Status no_list = WhyNoDevice(verbs_.api(), host_, ENODEV);
  verbs_.Fail("ibv_get_device_list", 0);
  device.closed_to_us = true;
  const absl::Status no_device = WhyNoDevice(verbs_.api(), host_, ENODEV);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &former), 0);
  for (const absl::Status& status : {no_list, no_device}) {
    EXPECT_EQ(Name(ReasonOf(status)), Name(WhyNotRdma::kDeviceRefused)) << status;
    EXPECT_NE(status.message().find("Too many open files (raise RLIMIT_NOFILE"),
              absl::string_view::npos)
        << status;
  }
}

}  // namespace
}  // namespace farcall
