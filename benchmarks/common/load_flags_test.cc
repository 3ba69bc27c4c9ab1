// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/load_flags.h"

#include <vector>

#include "absl/flags/parse.h"
#include "absl/flags/reflection.h"
#include "gtest/gtest.h"

namespace farcall::bench {
namespace {

void Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "load_flags_test");
  std::vector<std::vector<char>> copies;
  std::vector<char*> pointers;
  for (const char* argument : arguments) {
    const absl::string_view text(argument);
    copies.emplace_back(text.begin(), text.end());
    copies.back().push_back('\0');
  }
  for (std::vector<char>& copy : copies) {
    pointers.push_back(copy.data());
  }
  absl::ParseCommandLine(static_cast<int>(pointers.size()), pointers.data());
}

TEST(LoadFlagsTest, DefaultsAreThoseOfTheStruct) {
  const LoadOptions seen = LoadOptionsFromFlags();
  const LoadOptions meant;
  EXPECT_EQ(seen.payload, meant.payload);
  EXPECT_EQ(seen.in_flight, meant.in_flight);
  EXPECT_EQ(seen.connections, meant.connections);
  EXPECT_EQ(seen.threads, meant.threads);
  EXPECT_EQ(seen.rate, meant.rate);
  EXPECT_EQ(seen.seconds, meant.seconds);
  EXPECT_EQ(seen.warmup, meant.warmup);
  EXPECT_EQ(seen.polling, meant.polling);
  EXPECT_EQ(seen.use_rdma, meant.use_rdma);
  EXPECT_EQ(ServerOptionsFromFlags().polling, ServerOptions().polling);
}

TEST(LoadFlagsTest, EveryFlagOfTheLoadArrives) {
  const absl::FlagSaver saver;
  Parse({"--server",
         "[::1]:7",
         "--payload",
         "1",
         "--attachment=2",
         "--in_flight",
         "3",
         "--connections",
         "4",
         "--threads",
         "5",
         "--rate",
         "6.5",
         "--seconds",
         "7",
         "--warmup=0",
         "--polling",
         "busy",
         "--use_rdma",
         "--json",
         "-"});
  const LoadOptions options = LoadOptionsFromFlags();
  EXPECT_EQ(options.server, "[::1]:7");
  EXPECT_EQ(options.payload, 1U);
  EXPECT_EQ(options.attachment, 2U);
  EXPECT_EQ(options.in_flight, 3);
  EXPECT_EQ(options.connections, 4);
  EXPECT_EQ(options.threads, 5);
  EXPECT_EQ(options.rate, 6.5);
  EXPECT_EQ(options.seconds, 7);
  EXPECT_EQ(options.warmup, 0);
  EXPECT_EQ(options.polling, "busy");
  EXPECT_TRUE(options.use_rdma);
  EXPECT_EQ(options.json, "-");
}

TEST(LoadFlagsTest, EveryFlagOfTheServerArrives) {
  const absl::FlagSaver saver;
  Parse({"--listen", "unix:/tmp/x", "--threads", "2", "--polling", "event", "--nouse_rdma",
         "--exit_with_stdin"});
  const ServerOptions options = ServerOptionsFromFlags();
  EXPECT_EQ(options.listen, "unix:/tmp/x");
  EXPECT_EQ(options.threads, 2);
  EXPECT_EQ(options.polling, "event");
  EXPECT_FALSE(options.use_rdma);
  EXPECT_TRUE(options.exit_with_stdin);
}

}  // namespace
}  // namespace farcall::bench
