// SPDX-License-Identifier: Apache-2.0

#include "rpc/settings/settings.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/base/option_field.h"

namespace farcall {
namespace {

std::map<std::string, OptionStatus> ByName(const absl::StatusOr<std::vector<OptionStatus>>& all) {
  EXPECT_TRUE(all.ok()) << all.status();
  std::map<std::string, OptionStatus> by_name;
  if (!all.ok()) return by_name;
  for (const OptionStatus& one : *all) {
    EXPECT_TRUE(by_name.emplace(one.name, one).second) << one.name;
    EXPECT_FALSE(one.value.empty()) << one.name;
  }
  return by_name;
}

std::string ErrorOf(const std::vector<Setting>& settings, RuntimeOptions options = {}) {
  const auto all = Apply(settings, &options);
  EXPECT_EQ(all.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(all.status().message());
}

TEST(SettingsTest, WithoutAnyAllIsAsTheProgramSaid) {
  RuntimeOptions options;
  options.rdma.ack_timeout = 20;
  auto all = ByName(Apply({}, &options));
  EXPECT_EQ(all["event_loops"].value, "default");
  EXPECT_EQ(all["event_loops"].from, "default");
  EXPECT_EQ(all["polling.mode"].value, "adaptive");
  EXPECT_EQ(all["polling.spin"].value, "50 us");
  EXPECT_EQ(all["pool.region_bytes"].value, "8 MiB");
  EXPECT_EQ(all["rdma.set_up"].value, "auto");
  EXPECT_EQ(all["rdma.read_at_least"].value, "never");
  EXPECT_EQ(all["rdma.ack_timeout"].value, "20");
  EXPECT_EQ(all["rdma.ack_timeout"].from, "program");
  EXPECT_EQ(all["link.peer_timeout"].value, "10 s");
  EXPECT_EQ(all["traffic_class"].value, "0");
}

TEST(SettingsTest, TheLaterWinsAndSaysWhereItIsFrom) {
  RuntimeOptions options;
  auto all = ByName(Apply({{"rdma.devices", "mlx5_0,mlx5_1", "f.yaml:1"},
                           {"link.peer_timeout", "20 s", "f.yaml:2"},
                           {"polling.mode", "busy", "f.yaml:3"},
                           {"rdma.set_up", "tcp", "f.yaml:4"},
                           {"traffic_class", "af31", "f.yaml:5"},
                           {"link.peer_timeout", "30 s", "FARCALL_LINK_PEER_TIMEOUT"}},
                          &options));
  EXPECT_EQ(options.rdma.devices, (std::vector<std::string>{"mlx5_0", "mlx5_1"}));
  EXPECT_EQ(options.link.stream.peer_timeout, std::chrono::seconds(30));
  EXPECT_EQ(options.polling.mode, PollingMode::kBusy);
  EXPECT_EQ(options.rdma.set_up, RdmaSetUp::kOverTcp);
  EXPECT_EQ(options.traffic_class, 104);
  EXPECT_EQ(all["link.peer_timeout"].from, "FARCALL_LINK_PEER_TIMEOUT");
  EXPECT_EQ(all["rdma.devices"].from, "f.yaml:1");
}

TEST(SettingsTest, WhatTheProgramSetStaysUnlessItLetsItBeOverridden) {
  const std::vector<Setting> settings = {{"rdma.ack_timeout", "18", "f.yaml:1"}};
  RuntimeOptions options;
  options.rdma.ack_timeout = 20;
  auto all = ByName(Apply(settings, &options));
  EXPECT_EQ(options.rdma.ack_timeout, 20);
  EXPECT_EQ(all["rdma.ack_timeout"].value, "20");
  EXPECT_EQ(all["rdma.ack_timeout"].from, "program (not f.yaml:1)");

  options.operator_settings = OperatorSettings::kOverride;
  all = ByName(Apply(settings, &options));
  EXPECT_EQ(options.rdma.ack_timeout, 18);
  EXPECT_EQ(all["rdma.ack_timeout"].from, "f.yaml:1");
}

TEST(SettingsTest, ErrorsNamePlaceFieldAndBounds) {
  EXPECT_EQ(ErrorOf({{"rdma.ack_timeout", "30", "f.yaml:7"}}),
            "f.yaml:7: rdma.ack_timeout is '30'; it must be from 8 to 22");
  EXPECT_EQ(ErrorOf({{"traffic_class", "gold", "FARCALL_TRAFFIC_CLASS"}}),
            "FARCALL_TRAFFIC_CLASS: traffic_class is 'gold'; it must be 0 to 255 (DSCP << 2), 0x0 "
            "to 0xff, or a name: cs0 to cs7, af11 to af43, ef");
  RuntimeOptions set;
  set.rdma.ack_timeout = 20;
  EXPECT_EQ(ErrorOf({{"rdma.ack_timeout", "30", "f.yaml:7"}}, set),
            "f.yaml:7: rdma.ack_timeout is '30'; it must be from 8 to 22")
      << "also where it would not be used";
}

TEST(SettingsTest, AnUnknownNameGetsTheNearestOne) {
  EXPECT_EQ(ErrorOf({{"rdma.ack_timout", "18", "f.yaml:7"}}),
            "f.yaml:7: rdma.ack_timout is no setting of farcall; do you mean rdma.ack_timeout? "
            "docs/settings.md has all names");
  EXPECT_EQ(ErrorOf({{"FARCALL_EVENT_LOOP", "18", "FARCALL_EVENT_LOOP"}}),
            "FARCALL_EVENT_LOOP: farcall has no such setting; do you mean FARCALL_EVENT_LOOPS? "
            "docs/settings.md has all names");
  EXPECT_EQ(ErrorOf({{"weather", "sun", "f.yaml:7"}}),
            "f.yaml:7: weather is no setting of farcall; docs/settings.md has all names");
  EXPECT_EQ(ErrorOf({{"registration_cache.min_bytes", "4096", "f.yaml:7"}}).substr(0, 65),
            "f.yaml:7: registration_cache.min_bytes is no setting of farcall; ")
      << "the program's promise";
  EXPECT_LT(ErrorOf({{std::string(1 << 20, 'x'), "", "f.yaml:7"}}).size(), 300u);
}

TEST(SettingsTest, ValuesThatDoNotGoTogetherNameTheirPlaces) {
  EXPECT_EQ(ErrorOf({{"link.ping_interval", "2 s", "FARCALL_LINK_PING_INTERVAL"}}),
            "link.progress_timeout is 300 ms; it must be more than link.ping_interval, 2000 ms "
            "(link.ping_interval is by FARCALL_LINK_PING_INTERVAL)");
}

TEST(SettingsTest, WhatTheProgramGotWrongIsSaidFirst) {
  RuntimeOptions options;
  options.event_loops = 300;
  EXPECT_EQ(Apply({}, &options).status().message(),
            "event_loops is 300; it must be from 1 to 256, or default (0)");
}

// What Text says, SetText takes: so that /status can be copied into a file.
TEST(SettingsTest, EachFieldTakesWhatItShows) {
  RuntimeOptions options;
  RuntimeOptions other;
  const std::vector<OptionField> fields = Fields(options);
  const std::vector<OptionField> others = Fields(other);
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::string text = Text(fields[i]);
    EXPECT_TRUE(SetText(others[i], text).ok()) << fields[i].name << " " << text;
    EXPECT_EQ(Text(others[i]), text) << fields[i].name;
    EXPECT_FALSE(fields[i].meaning.empty()) << fields[i].name;
    EXPECT_FALSE(Expected(fields[i]).empty()) << fields[i].name;
  }
}

TEST(SettingsTest, AFlagWinsOverTheProgram) {
  const std::vector<Setting> settings = {
      {"rdma.ack_timeout", "18", "f.yaml:1"},
      {"rdma.ack_timeout", "19", "--rdma.ack_timeout", /*wins=*/true}};
  RuntimeOptions options;
  options.rdma.ack_timeout = 20;
  auto all = ByName(Apply(settings, &options));
  EXPECT_EQ(options.rdma.ack_timeout, 19);
  EXPECT_EQ(all["rdma.ack_timeout"].value, "19");
  EXPECT_EQ(all["rdma.ack_timeout"].from, "--rdma.ack_timeout");
  EXPECT_EQ(ErrorOf({{"rdma.ack_timeout", "30", "--rdma.ack_timeout", /*wins=*/true}}),
            "--rdma.ack_timeout: rdma.ack_timeout is '30'; it must be from 8 to 22");
}

class EnvironmentTest : public testing::Test {
 protected:
  ~EnvironmentTest() override {
    KeepFlags({});
    for (const char* const name : {"FARCALL_CONFIG", "FARCALL_EVENT_LOOPS", "FARCALL_CPU"}) {
      EXPECT_EQ(unsetenv(name), 0);
    }
  }
  static void Set(const char* name, const std::string& value) {
    ASSERT_EQ(setenv(name, value.c_str(), 1), 0);
  }
  static std::string File(const std::string& text) {
    const std::string path = absl::StrCat(std::getenv("TEST_TMPDIR"), "/settings.yaml");
    FILE* const file = std::fopen(path.c_str(), "w");
    std::fputs(text.c_str(), file);
    EXPECT_EQ(std::fclose(file), 0);
    return path;
  }
};

TEST_F(EnvironmentTest, VariablesWinOverTheFile) {
  Set("FARCALL_CONFIG", File("event_loops: 2\nmax_blocked_threads: 7\n"));
  Set("FARCALL_EVENT_LOOPS", "3");
  RuntimeOptions options;
  auto all = ByName(ApplyOperatorSettings(&options));
  EXPECT_EQ(options.event_loops, 3);
  EXPECT_EQ(options.max_blocked_threads, 7);
  EXPECT_EQ(all["event_loops"].from, "FARCALL_EVENT_LOOPS");
  EXPECT_TRUE(absl::EndsWith(all["max_blocked_threads"].from, "/settings.yaml:2"));
}

TEST_F(EnvironmentTest, IsNotReadWhereTheProgramIgnoresIt) {
  Set("FARCALL_CONFIG", "/nowhere");
  Set("FARCALL_CPU", "wrong");
  RuntimeOptions options;
  options.operator_settings = OperatorSettings::kIgnore;
  EXPECT_TRUE(ApplyOperatorSettings(&options).ok());
}

TEST_F(EnvironmentTest, FlagsWinOverVariablesAndAreNeverIgnored) {
  Set("FARCALL_EVENT_LOOPS", "3");
  KeepFlags({{"event_loops", "4", "--event_loops", /*wins=*/true}});
  for (const OperatorSettings mode :
       {OperatorSettings::kFillIn, OperatorSettings::kOverride, OperatorSettings::kIgnore}) {
    RuntimeOptions options;
    options.event_loops = 2;
    options.operator_settings = mode;
    auto all = ByName(ApplyOperatorSettings(&options));
    EXPECT_EQ(options.event_loops, 4);
    EXPECT_EQ(all["event_loops"].from, "--event_loops");
  }
}

TEST_F(EnvironmentTest, AFileThatIsMissingIsAnError) {
  Set("FARCALL_CONFIG", "/nowhere/f.yaml");
  RuntimeOptions options;
  const absl::Status status = ApplyOperatorSettings(&options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(absl::StartsWith(status.message(), "FARCALL_CONFIG: /nowhere/f.yaml: "))
      << status.message();
}

TEST_F(EnvironmentTest, AWrongNameIsAnError) {
  Set("FARCALL_CPU", "1");
  RuntimeOptions options;
  EXPECT_TRUE(absl::StrContains(ApplyOperatorSettings(&options).status().message(),
                                "do you mean FARCALL_CPUS?"));
}

}  // namespace
}  // namespace farcall
