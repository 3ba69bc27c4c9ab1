// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/setup/network_status_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace farcall {
namespace {

constexpr char kNet1[] = R"([{"name":"pod","ips":["10.1.1.1"],"default":true},)"
                         R"({"name":"default/roce","interface":"net1","ips":["10.9.0.2"]}])";

LocalIp Ip(const char* address, const char* interface) {
  return {*Address::Parse(absl::StrCat(address, ":0")), interface, 1};
}

class NetworkStatusFileTest : public ::testing::Test {
 protected:
  ~NetworkStatusFileTest() override { std::remove(path_.c_str()); }

  void Write(const std::string& text) { std::ofstream(path_) << text; }
  bool Second() const { return file_.IsOfSecondNetwork(Ip("10.9.0.2", "net1")); }

  const std::string path_ = absl::StrCat(::testing::TempDir(), "/network-status");
  std::vector<std::string> logged_;
  const EpisodeLog::Sink log_ = [this](absl::string_view line) { logged_.emplace_back(line); };
  NetworkStatusFile file_{path_, log_};
};

TEST_F(NetworkStatusFileTest, NoPathIsNoFileAndNothingIsSaid) {
  NetworkStatusFile none("", log_);
  none.Read();
  EXPECT_FALSE(none.IsOfSecondNetwork(Ip("10.9.0.2", "net1")));
  EXPECT_TRUE(logged_.empty());
}

TEST_F(NetworkStatusFileTest, TellsWhatItChoseOnce) {
  Write(kNet1);
  file_.Read();
  file_.Read();
  EXPECT_TRUE(Second());
  EXPECT_FALSE(file_.IsOfSecondNetwork(Ip("10.1.1.1", "eth0")));
  ASSERT_EQ(logged_.size(), 1u);
  EXPECT_EQ(logged_[0],
            absl::StrCat("network status ", path_, ": preferred for RDMA: net1 (default/roce); ",
                         "all that have a device if none of these has"))
      << "whether net1 has a device is not known here";
}

TEST_F(NetworkStatusFileTest, IsEmptyUntilThePodIsAnnotated) {
  file_.Read();
  file_.Read();
  ASSERT_EQ(logged_.size(), 1u);
  EXPECT_TRUE(absl::StrContains(logged_[0], "No such file")) << logged_[0];
  Write("");
  file_.Read();
  file_.Read();
  ASSERT_EQ(logged_.size(), 2u);
  EXPECT_TRUE(absl::StrContains(logged_[1], "it is empty")) << logged_[1];
  EXPECT_FALSE(Second());
  Write(kNet1);
  file_.Read();
  EXPECT_TRUE(Second());
  EXPECT_EQ(logged_.size(), 3u);
}

TEST_F(NetworkStatusFileTest, WhatWasUnderstoodLastStays) {
  Write(kNet1);
  file_.Read();
  for (const char* const bad : {"", "{}", "[{\"ips\":[\"x\"]}]"}) {
    Write(bad);
    file_.Read();
    EXPECT_TRUE(Second()) << bad;
  }
  std::remove(path_.c_str());
  file_.Read();
  EXPECT_TRUE(Second());
  EXPECT_EQ(logged_.size(), 5u);
  Write("[]");
  file_.Read();
  EXPECT_FALSE(Second());
  EXPECT_TRUE(absl::EndsWith(logged_.back(), "no network beside the default one"));
}

TEST_F(NetworkStatusFileTest, WhatIsNoFileOrTooLongIsATroubleToo) {
  NetworkStatusFile directory(::testing::TempDir(), log_);
  directory.Read();
  ASSERT_EQ(logged_.size(), 1u);
  EXPECT_TRUE(absl::StrContains(logged_[0], "directory")) << logged_[0];
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  file_.Read();
  EXPECT_EQ(logged_.size(), 2u);
  std::remove(path_.c_str());
  Write(std::string(kMaxNetworkStatus + 10, '['));
  file_.Read();
  ASSERT_EQ(logged_.size(), 3u);
  EXPECT_TRUE(absl::StrContains(logged_[2], "more than")) << logged_[2];
}

}  // namespace
}  // namespace farcall
