// SPDX-License-Identifier: Apache-2.0

#include "transport/link_options.h"

#include <chrono>
#include <functional>
#include <string>

#include "gtest/gtest.h"

namespace farcall {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(StreamLimitsTest, TheDefaultsAreValid) { EXPECT_TRUE(StreamLimits().Validate().ok()); }

TEST(StreamLimitsTest, NamesWhatIsOutOfBounds) {
  const struct {
    const char* name;
    std::function<void(StreamLimits&)> change;
  } kCases[] = {
      {"send_window", [](StreamLimits& l) { l.send_window = 4095; }},
      {"send_window", [](StreamLimits& l) { l.send_window = (size_t{1} << 30) + 1; }},
      {"receive_window", [](StreamLimits& l) { l.receive_window = 0; }},
      {"max_data", [](StreamLimits& l) { l.max_data = 1023; }},
      {"max_data", [](StreamLimits& l) { l.max_data = kMaxLinkData + 1; }},
      {"ack_delay", [](StreamLimits& l) { l.ack_delay = Duration(0); }},
      {"ack_delay", [](StreamLimits& l) { l.ack_delay = milliseconds(101); }},
      {"progress_timeout", [](StreamLimits& l) { l.progress_timeout = l.ping_interval; }},
      {"progress_timeout", [](StreamLimits& l) { l.progress_timeout = seconds(61); }},
      {"ping_interval", [](StreamLimits& l) { l.ping_interval = milliseconds(9); }},
      {"idle_ping", [](StreamLimits& l) { l.idle_ping = hours(2); }},
      {"peer_timeout", [](StreamLimits& l) { l.peer_timeout = l.ping_interval; }},
      {"close_timeout", [](StreamLimits& l) { l.close_timeout = Duration(0); }},
  };
  for (const auto& one : kCases) {
    StreamLimits limits;
    one.change(limits);
    const absl::Status status = limits.Validate();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << one.name;
    const std::string name = std::string("link.") + one.name;
    EXPECT_EQ(status.message().substr(0, name.size()), name) << status;
  }
}

TEST(LinkOptionsTest, PausesAreNoneThatAServerCutsOff) {
  LinkOptions options;
  EXPECT_TRUE(options.Validate().ok());
  options.upgrade.first_pause = kMinUpgradePause;
  EXPECT_TRUE(options.Validate().ok());
  options.upgrade.first_pause -= Duration(1);
  EXPECT_FALSE(options.Validate().ok());
  options.upgrade.first_pause = seconds(61);
  EXPECT_EQ(options.Validate().message(),
            "link.longest_pause is 60000 ms; it must be at least link.first_pause, 61000 ms");
}

TEST(LinkOptionsTest, TheLongestRestIsNotShorterThanTheFirst) {
  LinkOptions options;
  options.upgrade.longest_rest = seconds(29);
  EXPECT_EQ(options.Validate().message(),
            "link.longest_rest is 29000 ms; it must be at least link.first_rest, 30000 ms");
}

}  // namespace
}  // namespace farcall
