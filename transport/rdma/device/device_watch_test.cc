// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/device/device_watch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace farcall {
namespace {

class DeviceWatchTest : public ::testing::Test {
 protected:
  DeviceWatchTest() { std::filesystem::create_directories(directory_); }
  ~DeviceWatchTest() override { std::filesystem::remove_all(root_); }

  void Plug(const std::string& name) { std::filesystem::create_directory(directory_ + "/" + name); }
  void Unplug(const std::string& name) { std::filesystem::remove(directory_ + "/" + name); }

  const std::string root_ =
      ::testing::TempDir() + "/" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string directory_ = root_ + "/infiniband_verbs";
  DeviceWatch watch_{root_};
};

TEST_F(DeviceWatchTest, DevicesComeAndGo) {
  EXPECT_FALSE(watch_.Changed());
  Plug("uverbs0");
  EXPECT_TRUE(watch_.Changed());
  EXPECT_FALSE(watch_.Changed());
  Plug("uverbs1");
  EXPECT_TRUE(watch_.Changed());
  Unplug("uverbs0");
  EXPECT_TRUE(watch_.Changed());
  EXPECT_FALSE(watch_.Changed());
  Unplug("uverbs1");
  EXPECT_TRUE(watch_.Changed());
  EXPECT_FALSE(watch_.Changed());
}

TEST_F(DeviceWatchTest, WhatIsThereAtTheFirstLookIsAChange) {
  Plug("uverbs0");
  EXPECT_TRUE(watch_.Changed());
}

TEST_F(DeviceWatchTest, AnotherOneWithTheSameNameIsAChange) {
  Plug("uverbs0");
  EXPECT_TRUE(watch_.Changed());
  // While the first has its number still.
  std::filesystem::rename(directory_ + "/uverbs0", root_ + "/former");
  Plug("uverbs0");
  EXPECT_TRUE(watch_.Changed());
  EXPECT_FALSE(watch_.Changed());
}

TEST_F(DeviceWatchTest, WithoutTheDirectoryThereIsNone) {
  DeviceWatch watch(root_ + "/none");
  EXPECT_FALSE(watch.Changed());
  EXPECT_FALSE(watch.Changed());
}

}  // namespace
}  // namespace farcall
