// SPDX-License-Identifier: Apache-2.0
//
// A real device is unplugged under traffic and plugged in again, several times. For the
// emulated machine of tools/rdma_vm, where this is a command:
//
//   FARCALL_RDMA_LISTEN      where listeners are opened, an IP address without port
//   FARCALL_RDMA_UNPLUG      the command that takes its device away
//   FARCALL_RDMA_PLUG        the command that brings it back

#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/rdma/testing/rdma_harness.h"
#include "transport/rdma/verbs/load.h"
#include "transport/testing/conformance/conformance_run.h"

namespace farcall {
namespace {

void Command(const char* variable) {
  const char* const command = std::getenv(variable);
  ASSERT_NE(command, nullptr) << variable;
  ASSERT_EQ(std::system(command), 0) << command;
}

TEST(DeviceRemovalTest, ADeviceComesAndGoes) {
  RdmaRigOptions options;
  options.load = [] { return LoadVerbsApi(); };
  options.loops = 2;
  options.rdma.shared_receives = 64;
  const char* const ip = std::getenv("FARCALL_RDMA_LISTEN");
  ASSERT_NE(ip, nullptr);
  const Address free = *Address::Parse(absl::StrCat(ip, ":0"));
  DrivenRdmaHarness harness(options, {free, free, free});
  for (int round = 0; round < 3; ++round) {
    ConformanceRun run(harness);
    {
      const auto duo = run.Connect();
      ASSERT_NE(duo, nullptr) << run.violations()[0];
      duo->client.Send(size_t{1} << 20);
      EXPECT_TRUE(run.Until("bytes arrive", [&] { return duo->server.seen().received > 0; }));
      duo->client.Send(size_t{4} << 20);
      Command("FARCALL_RDMA_UNPLUG");
      EXPECT_TRUE(
          run.Until("both ends break", [&] { return duo->client.over() && duo->server.over(); }));
      std::printf("client: %s\nserver: %s\n", duo->client.seen().why.ToString().c_str(),
                  duo->server.seen().why.ToString().c_str());
    }
    for (const std::string& line : harness.rig().log()) std::printf("log: %s\n", line.c_str());
    Command("FARCALL_RDMA_PLUG");
    EXPECT_TRUE(run.violations().empty()) << run.violations()[0];
  }
}

}  // namespace
}  // namespace farcall
