// SPDX-License-Identifier: Apache-2.0

#include "rpc/naming/naming_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "rpc/naming/naming_list.h"
#include "rpc/naming/naming_testing.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class NamingFileTest : public ::testing::Test {
 protected:
  void Start(Duration interval = seconds(5)) {
    world_.Start([&](Naming::OnNodes on_nodes) {
      return StartFileNaming(world_.parts, *world_.loop, files_.Path("servers"), interval,
                             std::move(on_nodes));
    });
    world_.Run();
  }
  std::string AfterInterval() {
    world_.Advance(seconds(5));
    return world_.TakePublished();
  }

  TestDirectory files_;
  NamingWorld world_;
};

TEST_F(NamingFileTest, TheServersAreToldAndToldAgainWhenTheyChange) {
  files_.Write("servers", "10.0.0.1:80\nb:80 2 tag\n");
  Start();
  EXPECT_EQ(world_.TakePublished(), "10.0.0.1:80,b:80 2 tag");
  EXPECT_EQ(AfterInterval(), "") << "nothing changed";
  files_.Write("servers", "10.0.0.2:80\n");
  world_.Advance(seconds(4));
  EXPECT_EQ(world_.TakePublished(), "") << "the interval is not over";
  world_.Advance(seconds(1));
  EXPECT_EQ(world_.TakePublished(), "10.0.0.2:80");
  files_.Write("servers", "10.0.0.2:80 # the same\n");
  EXPECT_EQ(AfterInterval(), "");
}

TEST_F(NamingFileTest, AFileIsReplacedByRename) {
  files_.Write("servers", "10.0.0.1:80\n");
  Start();
  EXPECT_EQ(world_.TakePublished(), "10.0.0.1:80");
  files_.Write("new", "10.0.0.2:80\n");
  files_.Rename("new", "servers");
  EXPECT_EQ(AfterInterval(), "10.0.0.2:80");
}

// As Kubernetes mounts a ConfigMap: servers -> ..data/servers, ..data -> ..1, and ..data is
// replaced by a link to ..2.
TEST_F(NamingFileTest, ALinkOnTheWayIsSwapped) {
  for (const std::string version : {"1", "2"}) {
    files_.MakeDirectory(version);
    files_.Write(absl::StrCat(version, "/servers"), absl::StrCat("10.0.0.", version, ":80\n"));
  }
  files_.Link("1", "data");
  files_.Link("data/servers", "servers");
  Start();
  EXPECT_EQ(world_.TakePublished(), "10.0.0.1:80");
  files_.Link("2", "data_tmp");
  files_.Rename("data_tmp", "data");
  EXPECT_EQ(AfterInterval(), "10.0.0.2:80");
}

TEST_F(NamingFileTest, AFileThatWasNeverGoodIsAnErrorUntilItIs) {
  Start();
  const std::string first = world_.TakePublished();
  EXPECT_TRUE(absl::StartsWith(first, "NOT_FOUND: file://")) << first;
  EXPECT_TRUE(absl::StrContains(first, "/servers: No such file or directory")) << first;
  world_.Advance(seconds(1));
  EXPECT_EQ(world_.TakePublished(), first) << "and tried again sooner than after the interval";
  files_.Write("servers", "a:1\nb:2 what is this\n");
  world_.Advance(seconds(2));
  const std::string garbled = world_.TakePublished();
  EXPECT_TRUE(absl::StrContains(garbled, "servers: line 2: \"is\" is too much")) << garbled;
  files_.Write("servers", "a:1\nb:2\n");
  world_.Advance(seconds(4));
  EXPECT_EQ(world_.TakePublished(), "a:1,b:2");
  EXPECT_TRUE(world_.log.empty());
}

TEST_F(NamingFileTest, TheLastGoodServersStayAndTheLogTellsWhyOnceAnEpisode) {
  files_.Write("servers", "a:1\nb:2\n");
  Start();
  EXPECT_EQ(world_.TakePublished(), "a:1,b:2");
  files_.Remove("servers");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(AfterInterval(), "");
  files_.Write("servers", "a:1\nc:");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(AfterInterval(), "");
  files_.Write("servers", "");
  EXPECT_EQ(AfterInterval(), "");
  EXPECT_EQ(world_.Logged("servers: No such file or directory; its 2 servers stay"), 1);
  EXPECT_EQ(world_.log.size(), 1u);

  files_.Write("servers", "a:1\nb:2\n");
  EXPECT_EQ(AfterInterval(), "") << "as before";
  files_.Write("servers", "a:1\nc:");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(AfterInterval(), "");
  EXPECT_EQ(world_.Logged("line 2: target \"c:\" has no good port"), 1);
  EXPECT_EQ(world_.log.size(), 2u);
  files_.Write("servers", "a:1\nc:3\n");
  EXPECT_EQ(AfterInterval(), "a:1,c:3");
}

TEST_F(NamingFileTest, RefreshLooksWithoutWaitingForTheInterval) {
  files_.Write("servers", "a:1\n");
  Start(std::chrono::hours(1));
  EXPECT_EQ(world_.TakePublished(), "a:1");
  files_.Write("servers", "b:1\n");
  world_.Advance(seconds(30));
  EXPECT_EQ(world_.TakePublished(), "");
  world_.Refresh();
  EXPECT_EQ(world_.TakePublished(), "b:1");
  files_.Write("servers", "c:1\n");
  world_.Refresh();
  EXPECT_EQ(world_.TakePublished(), "") << "at most once a second";
  world_.Advance(seconds(1));
  EXPECT_EQ(world_.TakePublished(), "c:1");
}

TEST_F(NamingFileTest, WhatIsNoFileOrTooLargeIsToldSo) {
  files_.MakeDirectory("servers");
  Start();
  EXPECT_TRUE(absl::StrContains(world_.TakePublished(), "it is no regular file"));
  files_.Remove("servers");
  ASSERT_EQ(::mkfifo(files_.Path("servers").c_str(), 0600), 0);
  EXPECT_TRUE(absl::StrContains(AfterInterval(), "it is no regular file"))
      << "no process writes to it";
  files_.Remove("servers");
  files_.Write("servers", std::string(kMaxServerListBytes + 1, '#'));
  EXPECT_TRUE(absl::StrContains(AfterInterval(), "more than 1048576 bytes"));
}

TEST_F(NamingFileTest, WhereTooMuchWaitsItIsTriedAgain) {
  files_.Write("servers", "a:1\n");
  world_.refuse_blocking = true;
  Start();
  EXPECT_EQ(world_.TakePublished(), "");
  world_.refuse_blocking = false;
  EXPECT_EQ(AfterInterval(), "a:1");
}

TEST_F(NamingFileTest, NothingIsToldAfterTheEnd) {
  files_.Write("servers", "a:1\n");
  world_.Start([&](Naming::OnNodes on_nodes) {
    return StartFileNaming(world_.parts, *world_.loop, files_.Path("servers"), seconds(5),
                           std::move(on_nodes));
  });
  world_.loop->RunOnce();
  ASSERT_EQ(world_.blocking.size(), 1u) << "a look is under way";
  world_.Stop();
  world_.Run();
  EXPECT_EQ(world_.TakePublished(), "");
}

TEST_F(NamingFileTest, ItMayBeDestroyedWhileItTells) {
  files_.Write("servers", "a:1\n");
  world_.on_published = [this] { world_.naming.reset(); };
  Start();
  EXPECT_EQ(world_.TakePublished(), "a:1");
  EXPECT_EQ(AfterInterval(), "");
}

}  // namespace
}  // namespace farcall
