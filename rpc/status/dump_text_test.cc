// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "rpc/status/status_fields.h"
#include "rpc/status/status_testing.h"

namespace farcall {
namespace {

TEST(DumpTextTest, TellsWhatAReportNeeds) {
  const std::string dump = DumpText(SampleStatus());
  EXPECT_TRUE(absl::StartsWith(dump, "farcall 1.2.3\ntaken 1970-01-01T12:00:00.000Z\n"));
  for (const char* line :
       {"\nlisten 127.0.0.1:8002\n",
        "\n\n[process]\npid 4711\n",
        "\nkernel Linux 6.1.0 x86_64\n",
        "\nmemlock_bytes 8388608\n",
        "\nmax_bytes 1073741824\n",
        "\n[rdma]\nupgrades 1\n",
        "\nfallbacks: no_device 7\nstalls 3\nstalled 2\nanswered yes\n",
        "\ndevices:\n  name mlx5_0, link_layer RoCE, present yes, open yes, why_not in_use, ",
        ", ports ((number 1, active yes, mtu_bytes 4096, losses (out_of_sequence 13))), "
        "addresses (192.0.2.7), queue_pairs 2, ",
        "\n  name mlx5_1, link_layer InfiniBand, present yes, open no, why_not no_active_port, "
        "why_text no RDMA port is active: check cable, switch and interface, why_detail mlx5_1, ",
        ", reads measuring, async_events (port_err 1, port_active 2), connections 1, ",
        ", breaks (retry_exc_err 4, wr_flush_err 6), ",
        "\npolling.mode busy\n",
        "\n[runtime_options_from]\nevent_loops default\n",
        "\n[channels]\nconnections 3\nshown 2\nloops:\n  answered yes, answer_us 40, "
        "connections 1, turns 9, sleeps 8\n",
        "\n  server 10.0.0.1:80, connected yes, in_flight 2, ",
        "\n  server store:80, connected no, loop 1, ",
        "\n[options]\nmax_body_size 67108864\n",
        "\n[methods]\nservice test.EchoService, method Echo, qps 10.5, ",
        "\n[loops]\nanswered yes, answer_us 20, connections 2, turns 1000, sleeps 10\n"
        "answered no\n",
        "\n[connections]\nopen 2\n",
        ", why_detail none of mlx5_0, ",
        ", fetches yes, fetched 70000, credit_waits 5, rails ((generation 2, device mlx5_0, "}) {
    EXPECT_TRUE(absl::StrContains(dump, line)) << line << " is not in\n" << dump;
  }
}

TEST(DumpTextTest, EventsHaveTheirTimes) {
  const std::string dump = DumpText(SampleStatus());
  EXPECT_TRUE(
      absl::StrContains(dump,
                        "\nevents_forgotten 5\nevents:\n"
                        "  first 1970-01-01T12:00:00.000Z, last 1970-01-01T12:00:00.000Z, times 1, "
                        "text RDMA devices: mlx5_0 (RoCE)\n"
                        "  first 1970-01-01T12:00:00.000Z, last 1970-01-01T12:00:01.000Z, times 3, "
                        "text a travels over TCP: broken\n"))
      << dump;
}

TEST(DumpTextTest, NamesNobody) {
  ServerStatus status = SampleStatus();
  status.connections.some[0].user = "alice the secret";
  status.connections.some[0].info.tls_peer = "/CN=secret";
  status.runtime.clients.some[0].info.tls_peer = "/CN=secret";
  EXPECT_FALSE(absl::StrContains(DumpText(status), "secret"));
  EXPECT_TRUE(absl::StrContains(DumpText(status), ", tls TLSv1.3 ")) << "whether, but not who";
}

TEST(DumpTextTest, ARuntimeHasNoServer) {
  ServerStatus status = SampleStatus();
  status.listen_address = "";
  const std::string dump = DumpText(status);
  EXPECT_FALSE(absl::StrContains(dump, "listen"));
  EXPECT_FALSE(absl::StrContains(dump, "\n[connections]"));
  EXPECT_TRUE(absl::StrContains(dump, "\nevents:"));
}

TEST(DumpTextTest, TellsThatTheControlLoopIsStuckAndThatNobodyAskedForRdma) {
  ServerStatus status;
  EXPECT_TRUE(absl::StrContains(DumpText(status), "\nanswered no\nanswer_us 0\nlooked no\n"));
  status.process.memlock_bytes = ProcessStatus::kUnlimited;
  EXPECT_TRUE(absl::StrContains(DumpText(status), "\nmemlock_bytes no limit\n"));
}

}  // namespace
}  // namespace farcall
