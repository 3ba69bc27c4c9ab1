// SPDX-License-Identifier: Apache-2.0

#include "rpc/settings/flags.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "rpc/runtime_options.h"

namespace farcall {
namespace {

struct Taken {
  std::string settings;  // "name=value, ..."
  std::string left;
};

Taken Take(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  RuntimeOptions options;
  Taken taken;
  std::vector<std::string> settings;
  for (const Setting& one : TakeFlags(&argc, argv.data(), Fields(options))) {
    settings.push_back(absl::StrCat(one.name, "=", one.value));
    EXPECT_EQ(one.from, "--" + one.name);
    EXPECT_TRUE(one.wins);
  }
  taken.settings = absl::StrJoin(settings, ", ");
  EXPECT_EQ(argv.at(static_cast<size_t>(argc)), nullptr);
  argv.resize(static_cast<size_t>(argc));
  taken.left = absl::StrJoin(argv, " ");
  return taken;
}

TEST(SettingFlagsTest, SettingsAreTakenOutAndTheRestKeepsItsOrder) {
  const Taken taken = Take({"echo_bench", "--inproc", "--rdma.rails=2", "--threads", "4",
                            "--link.peer_timeout", "20 s", "word", "--rdma.devices=a,b"});
  EXPECT_EQ(taken.settings, "rdma.rails=2, link.peer_timeout=20 s, rdma.devices=a,b");
  EXPECT_EQ(taken.left, "echo_bench --inproc --threads 4 word");
}

TEST(SettingFlagsTest, EachFieldIsOne) {
  RuntimeOptions options;
  for (const OptionField& field : Fields(options)) {
    EXPECT_EQ(Take({"program", absl::StrCat("--", field.name, "=", Text(field))}).settings,
              absl::StrCat(field.name, "=", Text(field)));
  }
}

TEST(SettingFlagsTest, WhatIsNoneIsLeftToTheProgram) {
  for (const char* const word : {"--rdma.rail=2", "-rdma.rails=2", "rdma.rails=2", "--rdma.rails2",
                                 "---rdma.rails=2", "--", "-", "", "--=", "=", "--rdma"}) {
    const Taken taken = Take({"program", word, "end"});
    EXPECT_EQ(taken.settings, "") << word;
    EXPECT_EQ(taken.left, absl::StrCat("program ", word, " end"));
  }
}

TEST(SettingFlagsTest, NothingIsTakenBehindTwoDashes) {
  const Taken taken = Take({"program", "--event_loops=2", "--", "--event_loops=3", "--"});
  EXPECT_EQ(taken.settings, "event_loops=2");
  EXPECT_EQ(taken.left, "program -- --event_loops=3 --");
}

TEST(SettingFlagsTest, OneWithoutAValueHasAnEmptyOne) {
  EXPECT_EQ(Take({"program", "--event_loops"}).settings, "event_loops=");
  EXPECT_EQ(Take({"program", "--event_loops="}).settings, "event_loops=");
  EXPECT_EQ(Take({"program"}).left, "program");
  EXPECT_EQ(Take({}).left, "");
}

}  // namespace
}  // namespace farcall
