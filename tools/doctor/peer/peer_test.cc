// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <future>
#include <string>
#include <vector>

#include "tools/doctor/peer/caller.h"
#include "tools/doctor/peer/doctor_server.h"
#include "tools/doctor/peer/queue_counts.h"
#include "tools/doctor/peer/ways.h"
#include "transport/rdma/testing/fabric/fake_fabric.h"
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

  // Of a doctor that has begun to look, and does until `looked_` is set.
  std::future<absl::StatusOr<ReportResponse>> ReportOfOneThatLooks() {
    Introduction introduction{"ready", {}, ""};
    introduction.others = Networks::Parse("127.0.0.1").value();
    introduction.report = [this] {
      looks_.set_value();
      looked_.get_future().wait();
      return ReportResponse();
    };
    Serve(std::move(introduction), nullptr);
    auto report = std::async(std::launch::async,
                             [this] { return caller_->Report(std::chrono::seconds(60)); });
    looks_.get_future().wait();
    return report;
  }

  std::promise<void> looks_;
  std::promise<void> looked_;
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

MeasureRequest RequestFor(const std::string& address, double seconds = 0.02) {
  MeasureRequest request;
  request.set_address(address);
  request.set_seconds(seconds);
  return request;
}

TEST_F(PeerTest, WithoutLeaveItMeasuresForNobody) {
  Serve({"ready", {}, ""}, nullptr);
  const auto answer = caller_->Measure(RequestFor(server_->address()), std::chrono::seconds(10));
  ASSERT_FALSE(answer.ok());
  EXPECT_NE(answer.status().message().find("--measure"), std::string::npos) << answer.status();
  EXPECT_FALSE(caller_->Report(std::chrono::seconds(10)).ok());
}

TEST_F(PeerTest, ItIsLedToDoctorsOfItsNetworksAndItsPortOnlyAndNotForLong) {
  Introduction introduction{"ready", {}, ""};
  introduction.others = Networks::Parse("127.0.0.0/24").value();
  Serve(std::move(introduction), nullptr);
  const std::string port = server_->address().substr(server_->address().rfind(':'));
  const auto why = [&](const MeasureRequest& request) {
    const auto answer = caller_->Measure(request, std::chrono::seconds(60));
    return answer.ok() ? std::string() : std::string(answer.status().message());
  };
  EXPECT_EQ(why(RequestFor(server_->address())), "") << "against itself";
  EXPECT_THAT(why(RequestFor("192.0.2.1" + port)), testing::HasSubstr("not in the networks"));
  EXPECT_THAT(why(RequestFor("127.0.1.1" + port)), testing::HasSubstr("not in the networks"));
  EXPECT_THAT(why(RequestFor("127.0.0.1:1")), testing::HasSubstr("only doctors on port"));
  EXPECT_THAT(why(RequestFor("localhost" + port)), testing::HasSubstr("is no address"));
  EXPECT_THAT(why(RequestFor("unix:/x")), testing::HasSubstr("not in the networks"));
  for (const double seconds : {0.0, -1.0, 11.0, std::nan("")}) {
    EXPECT_THAT(why(RequestFor(server_->address(), seconds)), testing::HasSubstr("at most"));
  }
  MeasureRequest more = RequestFor(server_->address());
  more.add_addresses("192.0.2.1");
  EXPECT_THAT(why(more), testing::HasSubstr("192.0.2.1" + port + " is not in the networks"));
  for (int i = 0; i < 100; ++i) more.add_addresses("127.0.0.1");
  EXPECT_THAT(why(more), testing::HasSubstr("too many addresses"));
}

TEST_F(PeerTest, AddressesThatAnotherDoctorTellsAreKeptToTheNetworksToo) {
  FakeFabric fabric;
  Introduction introduction{"ready", {"192.0.2.1"}, "memlock: x"};
  introduction.others = Networks::Parse("127.0.0.1").value();
  Network elsewhere;
  elsewhere.set_address("192.0.2.2");
  elsewhere.set_interface("net1");
  introduction.networks = {elsewhere};
  Serve(std::move(introduction), &fabric.api());
  const auto answer = caller_->Measure(RequestFor(server_->address()), std::chrono::seconds(60));
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_EQ(answer->rows_size(), 3);
  EXPECT_EQ(answer->rows(0).trouble().find("192.0.2"), std::string::npos)
      << answer->rows(0).trouble();
}

TEST_F(PeerTest, OneAtATimeMeasures) {
  auto report = ReportOfOneThatLooks();
  const auto answer = caller_->Measure(RequestFor(server_->address()), std::chrono::seconds(60));
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.status().message(), testing::HasSubstr("one at a time"));
  looked_.set_value();
  EXPECT_TRUE(report.get().ok());
}

TEST_F(PeerTest, ADoctorThatEndsWhileItLooksIsWaitedFor) {
  auto report = ReportOfOneThatLooks();
  auto ending = std::async(std::launch::async, [this] { server_.reset(); });
  EXPECT_FALSE(report.get().ok()) << "nobody waits for an answer that does not come";
  looked_.set_value();
  ending.get();
}

TEST_F(PeerTest, ByEachRailAndOverEachNetwork) {
  FakeFabric fabric;
  Introduction introduction{"ready", {"10.9.0.2"}, ""};
  introduction.others = Networks::Parse("127.0.0.1,10.9.0.0/16").value();
  for (const char* const device : {"mlx5_0", "mlx5_1"}) {
    Network rail;
    rail.set_device(device);
    rail.set_interface(std::string("if_") + device);
    introduction.networks.push_back(rail);
  }
  Serve(std::move(introduction), &fabric.api());
  const auto answer = caller_->Measure(RequestFor(server_->address()), std::chrono::seconds(60));
  ASSERT_TRUE(answer.ok()) << answer.status();
  std::vector<std::string> ways;
  for (const auto& row : answer->rows()) ways.push_back(row.what() + "/" + row.rail());
  EXPECT_EQ(ways, (std::vector<std::string>{"raw verbs/mlx5_0", "farcall over rdma/mlx5_0",
                                            "raw verbs/mlx5_1", "farcall over rdma/mlx5_1",
                                            "farcall over tcp/"}));
  EXPECT_EQ(answer->rows(0).trouble(), "") << "by the fabric's fake";
  caller_.reset();
  server_.reset();  // ends the raw connection, before the fabric goes
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
