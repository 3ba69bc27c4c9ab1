// SPDX-License-Identifier: Apache-2.0

#include "tools/node/sys_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "absl/strings/str_cat.h"
#include "tools/node/testing/fixture.h"

namespace farcall::node {
namespace {

TEST(SysFilesTest, ReadsWithoutTheLineEnd) {
  const FixtureTree tree("sys/a =  some text\nsys/lines = x\\ny\nsys/empty =\n");
  const SysFiles files(tree.root());
  EXPECT_EQ(files.Read("sys/a"), std::string("some text"));
  EXPECT_EQ(files.Read("sys/lines"), std::string("x\ny"));
  EXPECT_EQ(files.Read("sys/empty"), std::string());
}

TEST(SysFilesTest, WhatCannotBeReadIsNothing) {
  const FixtureTree tree("sys/dir/\nsys/loop -> loop\nsys/nowhere -> gone\n");
  const SysFiles files(tree.root());
  for (const char* const path : {"sys/gone", "sys/dir", "sys/loop", "sys/nowhere"}) {
    EXPECT_EQ(files.Read(path), absl::nullopt) << path;
  }
  EXPECT_TRUE(files.List("sys/gone").empty());
  EXPECT_TRUE(files.List("sys/loop").empty());
  EXPECT_EQ(files.LinkName("sys/dir"), absl::nullopt);
  EXPECT_FALSE(files.Stat("sys/nowhere"));
}

TEST(SysFilesTest, AFifoDoesNotHoldUpTheReader) {
  const FixtureTree tree("sys/\n");
  ASSERT_EQ(mkfifo((tree.root() + "/sys/fifo").c_str(), 0600), 0);
  EXPECT_EQ(SysFiles(tree.root()).Read("sys/fifo"), std::string());
}

TEST(SysFilesTest, LargeFilesAreCut) {
  const FixtureTree tree(absl::StrCat("a = ", std::string(SysFiles::kMaxFileBytes + 10, 'x')));
  EXPECT_EQ(SysFiles(tree.root()).Read("a")->size(), SysFiles::kMaxFileBytes);
}

TEST(SysFilesTest, LinksTellTheirLastName) {
  const FixtureTree tree("sys/a/device -> ../../../0000:17:00.0\nsys/a/short -> b\n");
  const SysFiles files(tree.root());
  EXPECT_EQ(files.LinkName("sys/a/device"), std::string("0000:17:00.0"));
  EXPECT_EQ(files.LinkName("sys/a/short"), std::string("b"));
}

TEST(SysFilesTest, DirectoriesAreListedByName) {
  const FixtureTree tree("d/b = 1\nd/a = 2\nd/c/\n");
  EXPECT_EQ(SysFiles(tree.root()).List("d"), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(SysFilesTest, StatTellsThePermissions) {
  const FixtureTree tree("dev/uverbs0 =\n");
  ASSERT_EQ(chmod((tree.root() + "/dev/uverbs0").c_str(), 0666), 0);
  const auto node = SysFiles(tree.root()).Stat("dev/uverbs0");
  ASSERT_TRUE(node);
  EXPECT_EQ(node->mode, 0666u);
  EXPECT_EQ(node->uid, getuid());
  EXPECT_TRUE(node->may_open);
}

}  // namespace
}  // namespace farcall::node
