// SPDX-License-Identifier: Apache-2.0

#include "tools/node/testing/fixture.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace farcall::node {
namespace {

namespace fs = std::filesystem;

std::string TextOf(const fs::path& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

TEST(FixtureTest, UnfoldsFilesLinksAndDirectories) {
  const FixtureTree tree(
      "# a comment\n[sys/a]\nfile = some text = 1\nempty =\nlines = x\\ny\nlink -> ../b\ndir/\n"
      "[]\nsys/b/under = 7\n");
  const fs::path root = tree.root();
  EXPECT_EQ(TextOf(root / "sys/a/file"), "some text = 1\n");
  EXPECT_EQ(TextOf(root / "sys/a/empty"), "\n");
  EXPECT_EQ(TextOf(root / "sys/a/lines"), "x\ny\n");
  EXPECT_EQ(TextOf(root / "sys/a/link/under"), "7\n");
  EXPECT_TRUE(fs::is_directory(root / "sys/a/dir"));
}

TEST(FixtureTest, LaterLinesReplaceEarlierOnes) {
  const FixtureTree tree("sys/a = 1\nsys/link -> a\n");
  tree.Apply("[sys]\na = 2\nb = 3\nlink -> b\n");
  const fs::path root = tree.root();
  EXPECT_EQ(TextOf(root / "sys/a"), "2\n");
  EXPECT_EQ(TextOf(root / "sys/link"), "3\n");
  tree.Remove("sys/a");
  EXPECT_FALSE(fs::exists(root / "sys/a"));
}

TEST(FixtureTest, ItsDirectoryGoesWithIt) {
  std::string root;
  {
    FixtureTree first("sys/a = 1\n");
    const FixtureTree tree(std::move(first));
    root = tree.root();
    EXPECT_TRUE(fs::exists(root));
  }
  EXPECT_FALSE(fs::exists(root));
}

TEST(FixtureTest, AllNodesUnfold) {
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator("tools/node/testing/fixtures")) {
    files += entry.path().extension() == ".txt" ? 1 : 0;
  }
  EXPECT_EQ(files, std::size(kFixtures));
  for (const char* const name : kFixtures) {
    EXPECT_TRUE(fs::exists(FixtureTree::Named(name).root() + "/proc/sys/kernel/hostname")) << name;
  }
}

}  // namespace
}  // namespace farcall::node
