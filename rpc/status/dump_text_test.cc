// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/dump_text.h"

#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "rpc/status/status_testing.h"

namespace farcall {
namespace {

TEST(DumpTextTest, TellsWhatAReportNeeds) {
  const std::string dump = DumpText(SampleStatus());
  EXPECT_TRUE(absl::StartsWith(dump, "farcall 1.2.3 dump, 1970-01-01T12:00:00.000Z\n"));
  for (const char* line :
       {"\nkernel Linux 6.1.0 x86_64\n",
        "\nopen_fds 12 of 1024\n",
        "\nmemlock_limit_bytes 8388608\n",
        "\npinned_bytes 25165824\n",
        "\nmax_bytes 1073741824\n",
        "\nhost usable\n",
        "\nupgrades 1\nstalls 3, now 2\n",
        "\nfallbacks no_device 7\n",
        "\ndevice mlx5_0 (RoCE): usable, open\n",
        "\n  port 1 active, mtu 4096\n",
        "\ndevice mlx5_1 (InfiniBand): not usable: no_active_port: no RDMA port is active: check "
        "cable, switch and interface (mlx5_1)\n",
        "\n  peers read: not yet: both ways are measured while bytes wait to be sent\n",
        "\n  async events: port_err 1, port_active 2\n",
        "breaks: retry_exc_err 4, wr_flush_err 6\n",
        "\n  waits for credits 7, for slots 8, for memory 9\n",
        "\n  receives 500 posted of 512, 64 promised, 3 lost with 2 queue pairs\n",
        "failures 1\n",
        "\ncopied_bytes sent_small 77\n",
        "\nevent_loops default\npolling.mode busy   from FARCALL_POLLING_MODE\n",
        "\nlisten 127.0.0.1:8002\n",
        "\nuse_rdma true\n",
        "\nloop 1: no answer in time\n",
        "\n[channels] 2 connections shown of 3\nloop 0: answered in 40 us, connections 1, turns 9, "
        "sleeps 8\n",
        "\nto 10.0.0.1:80 rdma mlx5_0, loop 0, calls 2 now, in 100 out 200\n",
        "\nto store:80 tcp not connected, loop 1, calls 0 now, in 0 out 0, not rdma: peer_silent\n",
        "\ntest.EchoService.Echo calls 10000, errors 15, refused 5, in flight 3\n",
        "\n[connections] 2 shown of 2\n",
        "not rdma: no_device: none of mlx5_0\n",
        "generation 2, credits 60, upgrades 2, fallbacks 1 (broken), waits 5/0/0, peer reads: "
        "no: sends are faster; sends carried 19 GB/s, RDMA READ 2.7 GB/s, fetched 70000, rail 2 "
        "mlx5_0/1 75%, rail 4 mlx5_1/2 25%\n"}) {
    EXPECT_TRUE(absl::StrContains(dump, line)) << line << "is not in\n" << dump;
  }
}

TEST(DumpTextTest, EventsHaveTheirTimes) {
  const std::string dump = DumpText(SampleStatus());
  EXPECT_TRUE(absl::StrContains(dump,
                                "\n5 older ones forgotten\n"
                                "1970-01-01T12:00:00.000Z RDMA devices: mlx5_0 (RoCE)\n"
                                "1970-01-01T12:00:00.000Z a travels over TCP: broken "
                                "(3 times, last 1970-01-01T12:00:01.000Z)\n"))
      << dump;
}

TEST(DumpTextTest, NamesNobody) {
  ServerStatus status = SampleStatus();
  status.connections.some[0].user = "alice the secret";
  status.connections.some[0].info.tls_peer = "/CN=secret";
  EXPECT_FALSE(absl::StrContains(DumpText(status), "secret"));
  EXPECT_TRUE(absl::StrContains(DumpText(status), " tls ")) << "whether, but not who";
}

TEST(DumpTextTest, ARuntimeHasNoServer) {
  ServerStatus status = SampleStatus();
  status.listen_address = "";
  const std::string dump = DumpText(status);
  EXPECT_FALSE(absl::StrContains(dump, "[server]"));
  EXPECT_FALSE(absl::StrContains(dump, "[connections]"));
  EXPECT_TRUE(absl::StrContains(dump, "[events]"));
}

TEST(DumpTextTest, TellsThatTheControlLoopIsStuck) {
  ServerStatus status = SampleStatus();
  status.runtime.rdma.answered = false;
  EXPECT_TRUE(absl::StrContains(DumpText(status), "the RDMA control loop did not answer in time"));
}

TEST(DumpTextTest, TellsThatNobodyAskedForRdma) {
  ServerStatus status;
  status.runtime.rdma.answered = true;
  EXPECT_TRUE(absl::StrContains(DumpText(status), "not looked at: RDMA was not asked for"));
  status.runtime.rdma.looked = true;
  status.runtime.rdma.why = WhyNotRdma::kMemlock;
  EXPECT_TRUE(absl::StrContains(DumpText(status), "not usable: memlock: the process may not lock"));
  status.runtime.rdma.why_detail = "mlx5_0: 64 KiB";
  EXPECT_TRUE(absl::StrContains(DumpText(status), "(ulimit -l) (mlx5_0: 64 KiB)\n"));
  status.process.memlock_bytes = ProcessStatus::kUnlimited;
  EXPECT_TRUE(absl::StrContains(DumpText(status), "memlock_limit_bytes unlimited"));
}

}  // namespace
}  // namespace farcall
