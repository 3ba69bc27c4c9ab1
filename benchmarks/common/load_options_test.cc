// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/load_options.h"

#include <cmath>
#include <functional>
#include <string>

#include "gtest/gtest.h"

namespace farcall::bench {
namespace {

LoadOptions Good() {
  LoadOptions options;
  options.server = "127.0.0.1:8000";
  return options;
}

TEST(LoadOptionsTest, DefaultsWithAServerAreValid) { EXPECT_TRUE(Good().Validate().ok()); }

TEST(LoadOptionsTest, ErrorsNameTheFlagAndItsBound) {
  LoadOptions options = Good();
  options.in_flight = 0;
  const absl::Status status = options.Validate();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(status.message()), "--in_flight is 0; it must be from 1 to 65536");
}

TEST(LoadOptionsTest, EveryMemberHasItsBounds) {
  const std::function<void(LoadOptions&)> breaks[] = {
      [](LoadOptions& o) { o.server.clear(); },
      [](LoadOptions& o) { o.payload = (size_t{1} << 30) + 1; },
      [](LoadOptions& o) { o.attachment = (size_t{1} << 30) + 1; },
      [](LoadOptions& o) { o.in_flight = 65537; },
      [](LoadOptions& o) { o.connections = 0; },
      [](LoadOptions& o) { o.connections = 10001; },
      [](LoadOptions& o) { o.threads = 0; },
      [](LoadOptions& o) { o.threads = 1025; },
      [](LoadOptions& o) { o.rate = -1; },
      [](LoadOptions& o) { o.way = "sideways"; },
      [](LoadOptions& o) { o.way = "put"; },  // of nothing
      [](LoadOptions& o) { o.way = "get", o.attachment = 1, o.payload = 0; },
      [](LoadOptions& o) { o.way = "get", o.attachment = size_t{1} << 30; },
      [](LoadOptions& o) { o.way = "put", o.attachment = 1 << 20, o.in_flight = 17; },
      [](LoadOptions& o) { o.rate = std::nan(""); },
      [](LoadOptions& o) { o.seconds = 0; },
      [](LoadOptions& o) { o.seconds = 1e9; },
      [](LoadOptions& o) { o.warmup = -1; },
      [](LoadOptions& o) { o.polling = "fast"; },
  };
  int number = 0;
  for (const auto& break_it : breaks) {
    LoadOptions options = Good();
    break_it(options);
    EXPECT_EQ(options.Validate().code(), absl::StatusCode::kInvalidArgument) << number;
    ++number;
  }
}

TEST(LoadOptionsTest, BytesPerCallIsOneWay) {
  LoadOptions options = Good();
  options.payload = 32;
  options.attachment = 4096;
  EXPECT_EQ(options.bytes_per_call(), 4128U);
}

TEST(ServerOptionsTest, AnAddressIsEnough) {
  ServerOptions options;
  EXPECT_FALSE(options.Validate().ok());
  options.listen = "127.0.0.1:0";
  EXPECT_TRUE(options.Validate().ok());
}

TEST(ServerOptionsTest, PollingAndThreadsAreChecked) {
  ServerOptions options;
  options.listen = "127.0.0.1:0";
  options.polling = "";
  EXPECT_FALSE(options.Validate().ok());
  options.polling = "busy";
  EXPECT_TRUE(options.Validate().ok());
  options.threads = 0;
  EXPECT_FALSE(options.Validate().ok());
}

}  // namespace
}  // namespace farcall::bench
