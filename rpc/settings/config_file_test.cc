// SPDX-License-Identifier: Apache-2.0

#include "rpc/settings/config_file.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace farcall {
namespace {

std::string Parsed(absl::string_view text) {
  const auto settings = ParseConfig(text, "f.yaml");
  if (!settings.ok()) return std::string(settings.status().message());
  std::string all;
  for (const Setting& one : *settings) {
    absl::StrAppend(&all, one.from, " ", one.name, "=", one.value, "\n");
  }
  return all;
}

TEST(ConfigFileTest, NestedNamesAreJoinedByDots) {
  EXPECT_EQ(Parsed("event_loops: 4\n"
                   "# a remark\n"
                   "rdma:\n"
                   "  ack_timeout: 18\n"
                   "  devices: [mlx5_0, mlx5_1]\n"
                   "link.peer_timeout: 20 s\n"),
            "f.yaml:1 event_loops=4\n"
            "f.yaml:4 rdma.ack_timeout=18\n"
            "f.yaml:5 rdma.devices=mlx5_0,mlx5_1\n"
            "f.yaml:6 link.peer_timeout=20 s\n");
}

TEST(ConfigFileTest, JsonIsYamlToo) {
  EXPECT_EQ(Parsed("{\"rdma\": {\"read_at_least\": \"64 KiB\"}}"),
            "f.yaml:1 rdma.read_at_least=64 KiB\n");
}

TEST(ConfigFileTest, WhatHasNoValueIsLeftOut) {
  EXPECT_EQ(Parsed(""), "");
  EXPECT_EQ(Parsed("# nothing\n"), "");
  EXPECT_EQ(Parsed("rdma:\n  # ack_timeout: 18\nevent_loops: ~\n"), "");
  EXPECT_EQ(Parsed("cpus: []\n"), "f.yaml:1 cpus=\n") << "an empty list is a value";
}

TEST(ConfigFileTest, ErrorsNameTheLine) {
  EXPECT_EQ(Parsed("a: 1\nb: 2\na: 3\n"), "f.yaml:3: a was set before, at f.yaml:1");
  EXPECT_EQ(Parsed("r:\n  a: 1\nr.a: 2\n"), "f.yaml:3: r.a was set before, at f.yaml:2");
  EXPECT_EQ(Parsed("a: 1\nb: [1, [2]]\n"), "f.yaml:2: the list b may have texts and numbers only");
  EXPECT_EQ(Parsed("just a text"),
            "f.yaml:1: names and values are expected, as in \"event_loops: 4\"");
  EXPECT_EQ(Parsed("a:\n b:\n  c:\n   d:\n    e: 1\n"), "f.yaml:5: maps are nested too deep");
  EXPECT_EQ(Parsed("? [a]\n: 1\n"), "f.yaml:1: a name is expected here");
  EXPECT_TRUE(absl::StartsWith(Parsed("a: 1\nb: [1\nc: 2\n"), "f.yaml:"));
  EXPECT_TRUE(absl::StrContains(Parsed("a: 1\n\tb: 2\n"), ":2: no YAML: "));
  EXPECT_TRUE(absl::StrContains(Parsed("a: *nothing\n"), "no YAML"));
}

TEST(ConfigFileTest, WhatWouldBeLeftOutSilentlyIsAnError) {
  EXPECT_EQ(Parsed("a: 1\n---\nb: 2\n"), "f.yaml:3: a second document (---) begins; one is read");
  EXPECT_EQ(Parsed("---\na: 1\n"), "f.yaml:2 a=1\n");
  EXPECT_EQ(Parsed("devices: [\"\"]\n"), "f.yaml:1: the list devices has an empty text")
      << "which would mean all";
}

TEST(ConfigFileTest, ALargeFileIsRefused) {
  EXPECT_EQ(Parsed("#" + std::string(kMaxConfigBytes, 'x')),
            "f.yaml: it has more than 1048576 bytes");
}

TEST(ConfigFileTest, IsReadFromItsPath) {
  EXPECT_EQ(ReadConfig("/nowhere/f.yaml").status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(
      absl::StrContains(ReadConfig("/nowhere/f.yaml").status().message(), "/nowhere/f.yaml"));
  EXPECT_FALSE(ReadConfig("/").ok()) << "a directory";
  const std::string path = absl::StrCat(std::getenv("TEST_TMPDIR"), "/f.yaml");
  FILE* const file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs("event_loops: 2\n", file);
  ASSERT_EQ(std::fclose(file), 0);
  const auto settings = ReadConfig(path);
  ASSERT_TRUE(settings.ok()) << settings.status();
  ASSERT_EQ(settings->size(), 1u);
  EXPECT_EQ(settings->front().from, path + ":1");
}

}  // namespace
}  // namespace farcall
