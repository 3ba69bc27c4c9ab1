// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tools/doctor/peer/caller.h"
#include "tools/doctor/peer/compare.h"
#include "tools/doctor/peer/doctor_server.h"
#include "tools/doctor/peer/queue_counts.h"
#include "transport/rdma/testing/fake_fabric.h"
#include "transport/why_not_rdma.h"

namespace farcall::doctor {
namespace {

constexpr std::chrono::milliseconds kShort{20};

class PeerTest : public testing::Test {
 protected:
  void Serve(Introduction introduction, const VerbsApi* api) {
    runtime_ = QuietRuntime({"none"}).value();
    server_ = DoctorServer::Start(*runtime_, "127.0.0.1:0", std::move(introduction), api).value();
    caller_ = Caller::Connect(*runtime_, server_->address(), /*use_rdma=*/false).value();
  }

  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<DoctorServer> server_;
  std::unique_ptr<Caller> caller_;
};

TEST_F(PeerTest, GreetsAndMeasuresOverTcp) {
  Serve({"ready", {"10.9.0.2"}, ""}, nullptr);
  const auto greeting = caller_->Greet();
  ASSERT_TRUE(greeting.ok()) << greeting.status();
  EXPECT_EQ(greeting->summary(), "ready");
  EXPECT_EQ(greeting->rdma_addresses(0), "10.9.0.2");
  const auto latency = caller_->Ping(kShort);
  ASSERT_TRUE(latency.ok()) << latency.status();
  EXPECT_GT(latency->count(), 0u);
  const auto rate = caller_->Stream(kShort);
  ASSERT_TRUE(rate.ok()) << rate.status();
  EXPECT_GT(*rate, 0);
}

TEST_F(PeerTest, RawConnectionsAreForOwnAddressesAndOneAtATime) {
  FakeFabric fabric;
  Serve({"ready", {"10.9.0.2"}, ""}, &fabric.api());
  EXPECT_FALSE(caller_->AskForRaw("192.0.2.1").ok()) << "not an address that was told";
  // As with an address that the other host does not reach: nobody comes, and it tries the next.
  ASSERT_TRUE(caller_->AskForRaw("10.9.0.2").ok());
  const auto port = caller_->AskForRaw("10.9.0.2");
  ASSERT_TRUE(port.ok()) << port.status();
  {
    const auto address = Address::Parse("10.9.0.2:" + std::to_string(*port)).value();
    auto client = RawClient::Connect(fabric.api(), address, std::chrono::seconds(10));
    ASSERT_TRUE(client.ok()) << client.status();
    EXPECT_TRUE((*client)->Ping(kShort).ok());
    const auto second = caller_->AskForRaw("10.9.0.2");
    ASSERT_FALSE(second.ok());
    EXPECT_NE(second.status().message().find("another raw connection"), std::string::npos);
  }
  caller_.reset();
  server_.reset();  // waits for what has served
}

TEST_F(PeerTest, WithoutLibrariesThereIsNoRawConnection) {
  Serve({"no RDMA", {}, "no_library"}, nullptr);
  EXPECT_FALSE(caller_->AskForRaw("10.9.0.2").ok());
}

TEST_F(PeerTest, EachAddressIsTriedAndEachTroubleTold) {
  FakeFabric fabric;
  Serve({"no RDMA", {"192.0.2.1", "192.0.2.2"}, "memlock: x"}, &fabric.api());
  const auto comparison =
      Compare(server_->address(), &fabric.api(), kShort, [](absl::string_view) {});
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  ASSERT_EQ(comparison->rows.size(), 3u);
  const std::string& trouble = comparison->rows[0].trouble;
  EXPECT_NE(trouble.find("192.0.2.1: "), std::string::npos) << trouble;
  EXPECT_NE(trouble.find("; 192.0.2.2: "), std::string::npos) << trouble;
  EXPECT_NE(comparison->reason, "in_use");
  EXPECT_EQ(comparison->rows[2].trouble, "") << "TCP is measured all the same";
}

TEST_F(PeerTest, WhatWasMeasuredBeforeThePeerWentIsTold) {
  Serve({"ready", {}, ""}, nullptr);
  const auto comparison =
      Compare(server_->address(), nullptr, kShort, [this](absl::string_view what) {
        if (what == "setting up RDMA") server_.reset();
      });
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  ASSERT_EQ(comparison->rows.size(), 3u);
  EXPECT_EQ(comparison->rows[0].what, "raw verbs");
  EXPECT_NE(comparison->rows[1].trouble, "");
  EXPECT_NE(comparison->rows[2].trouble, "");
  EXPECT_EQ(comparison->reason, LibraryVerdict::kNotTold);
}

TEST_F(PeerTest, WhatAPeerTellsIsForATerminal) {
  Serve({"ready\x1b[2J\n", {}, "x\x07"}, nullptr);
  const auto comparison = Compare(server_->address(), nullptr, kShort, [](absl::string_view) {});
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  EXPECT_EQ(comparison->peer_summary, "ready\\x1b[2J\\n");
  GreetResponse told;
  told.set_host("h\r");
  told.set_version("\x1b");
  told.set_rdma_trouble("\x07\xc3\xa4");
  told.add_rdma_addresses("\n");
  const GreetResponse shown = Printable(told);
  EXPECT_EQ(shown.host(), "h\\r");
  EXPECT_EQ(shown.version(), "\\x1b");
  EXPECT_EQ(shown.rdma_trouble(), "\\x07\xc3\xa4");
  EXPECT_EQ(shown.rdma_addresses(0), "\\n");
}

TEST(VerdictOfTest, AnErrorWithoutAReasonIsNoneOfTheLibrarysReasons) {
  EXPECT_EQ(VerdictOf(absl::OkStatus()).reason, "in_use");
  const auto memlock = VerdictOf(NotRdma(WhyNotRdma::kMemlock, "1 MiB"));
  EXPECT_EQ(memlock.reason, "memlock");
  const auto other = VerdictOf(absl::ResourceExhaustedError("too many open files"));
  EXPECT_EQ(other.reason, LibraryVerdict::kNotTold);
  EXPECT_EQ(other.detail, "too many open files");
}

TEST_F(PeerTest, QueuesOfThePeerAreCountedBeforeAndAfter) {
  Introduction introduction{"ready", {}, ""};
  introduction.count = [times = 0]() mutable {
    std::map<std::string, QueueCounters> counters;
    AddStatistic("rx_prio3_pause", 100 * ++times, counters["eth1"]);
    return ToMessage({{"mlx5_0", "eth1", 3}}, counters);
  };
  Serve(std::move(introduction), nullptr);
  const auto comparison = Compare(server_->address(), nullptr, kShort, [](absl::string_view) {});
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  ASSERT_EQ(comparison->peers_queues.size(), 1u);
  EXPECT_EQ(TextOf(comparison->peers_queues[0].moved), "priority 3: pauses received 100");
  EXPECT_GT(comparison->seconds, 0);
}

TEST_F(PeerTest, NobodyThere) {
  const auto comparison = Compare("127.0.0.1:1", nullptr, kShort, [](absl::string_view) {});
  ASSERT_FALSE(comparison.ok());
}

TEST(MayPassTest, OnlyWhatABusyHostIsTooSlowFor) {
  EXPECT_TRUE(MayPass("peer_silent"));
  EXPECT_TRUE(MayPass("timed_out"));
  EXPECT_FALSE(MayPass("in_use"));
  EXPECT_FALSE(MayPass("memlock"));
}

}  // namespace
}  // namespace farcall::doctor
