// SPDX-License-Identifier: Apache-2.0
//
// Queue pairs that are set up by messages on the TCP connection, without rdma_cm.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/rdma/cm/port_set_up.h"
#include "transport/rdma/rdma_transport_testing.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

class RdmaOverTcpTest : public RdmaTransportTest {
 protected:
  // Devices whose interfaces are in another network namespace, as in most pods.
  static void InAPod(FakeFabricOptions& fabric, RdmaRigOptions& rig) {
    rig.rdma.set_up = RdmaSetUp::kAuto;
    for (FakeDeviceOptions& device : fabric.devices) device.ifindex = 0;
  }
  void StartInAPod(const Change& change = nullptr) {
    Start([change](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
      InAPod(fabric, rig);
      if (change) change(fabric, rig);
    });
    NoAddresses();
  }
  // Those of the fabric's devices are of no interface here.
  void NoAddresses() { fabric().faults().FailEvery("rdma_bind_addr", ENODEV); }

  static bool ByPort(const UpgradeAddress& address) { return address.port.has_value(); }
  void ExpectWorks(uint8_t token) {
    const Offer offer = Await(Pass(token));
    ASSERT_TRUE(offer.ok()) << offer.status();
    const absl::Status connect_status = ConnectToOffer(OnlyB(*offer), Pass(token));
    ASSERT_TRUE(connect_status.ok()) << connect_status;
    Echo();
  }
};

TEST_F(RdmaOverTcpTest, WhereNoAddressLeadsToADeviceMessagesTravel) {
  StartInAPod();
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok()) << offer.status();
  EXPECT_EQ(offer->size(), 3u) << "one for each port";
  EXPECT_TRUE(std::all_of(offer->begin(), offer->end(), ByPort));
  for (const UpgradeAddress& place : *offer) EXPECT_EQ(place.port->type, GidType::kRoceV2);
  ASSERT_TRUE(ConnectToOffer(OnlyB(*offer), Pass(1)).ok());
  Echo();
  EXPECT_EQ(client_->info().set_up, "tcp");
  EXPECT_EQ(server_->info().set_up, "tcp");
  EXPECT_EQ(client_->info().device, "fakeB") << "the nearest: a GID of its own";
}

TEST_F(RdmaOverTcpTest, InfiniBandNeedsALidAlone) {
  StartInAPod([](FakeFabricOptions& fabric, RdmaRigOptions&) {
    for (FakeDeviceOptions& device : fabric.devices) device.link = FakeLink::kInfiniBand;
  });
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok()) << offer.status();
  ASSERT_TRUE(ConnectToOffer(OnlyB(*offer), Pass(1)).ok());
  Echo();
}

// Of fakeA and fakeB, where the kernel shows them.
void WritePartitions(const std::string& sys_class, const std::vector<std::string>& keys) {
  for (const char* const device : {"fakeA", "fakeB"}) {
    const std::string table = absl::StrCat(sys_class, "/infiniband/", device, "/ports/1/pkeys/");
    std::filesystem::create_directories(table);
    for (size_t index = 0; index < keys.size(); ++index) {
      std::ofstream(absl::StrCat(table, index)) << keys[index] << "\n";
    }
  }
}

TEST_F(RdmaOverTcpTest, ServiceLevelTrafficClassAndPartitionReachBothQueuePairs) {
  const std::string sys_class = testing::TempDir() + "/over-tcp-sys-class";
  WritePartitions(sys_class, {"0xffff", "0x8001"});
  StartInAPod([&](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
    for (FakeDeviceOptions& device : fabric.devices) {
      device.link = FakeLink::kInfiniBand;
      device.partitions = {0xffff, 0x8001};
    }
    rig.view.sys_class = sys_class;
    rig.rdma.devices = {"fakeA", "fakeB"};
    rig.rdma.service_level = 5;
    rig.rdma.partition_key = 1;
  });
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok()) << offer.status();
  EXPECT_EQ(offer->front().partition, 0x8001);
  ASSERT_TRUE(ConnectToOffer(OnlyB(*offer), Pass(1)).ok());
  Echo();
  // The nearest is the device itself.
  const auto pairs = fabric().faults().QueuePairs("fakeB");
  ASSERT_EQ(pairs.size(), 2u);
  for (const uint32_t number : pairs) {
    EXPECT_EQ(fabric().queue_pair(number).ah_attr.sl, 5);
    EXPECT_EQ(fabric().queue_pair(number).pkey_index, 1);
  }
}

TEST_F(RdmaOverTcpTest, WhoIsNotInThePartitionSaysSo) {
  const std::string sys_class = testing::TempDir() + "/no-partition-sys-class";
  WritePartitions(sys_class, {"0xffff"});
  StartInAPod([&](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
    for (FakeDeviceOptions& device : fabric.devices) device.link = FakeLink::kInfiniBand;
    rig.view.sys_class = sys_class;
    rig.rdma.devices = {"fakeA"};
    rig.rdma.set_up = RdmaSetUp::kOverTcp;
    rig.rdma.partition_key = 0x8001;
  });
  const absl::Status none = Await(Pass(1)).status();
  EXPECT_TRUE(absl::StrContains(none.message(), "fakeA (its port is not in the partition 0x8001"))
      << none;
}

TEST_F(RdmaOverTcpTest, AnAddressThatLeadsToADeviceGoesFirst) {
  Start([](FakeFabricOptions&, RdmaRigOptions& rig) { rig.rdma.set_up = RdmaSetUp::kAuto; });
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok()) << offer.status();
  EXPECT_TRUE(std::is_partitioned(offer->begin(), offer->end(),
                                  [](const auto& place) { return !ByPort(place); }));
  EXPECT_TRUE(ByPort(offer->back()));
  ASSERT_TRUE(ConnectToOffer(OnlyB(*offer), Pass(1)).ok());
  Echo();
  EXPECT_EQ(client_->info().set_up, "rdma_cm");
}

TEST_F(RdmaOverTcpTest, APortIsTriedWhereTheAddressIsNotReached) {
  Start([](FakeFabricOptions&, RdmaRigOptions& rig) { rig.rdma.set_up = RdmaSetUp::kAuto; });
  fabric().faults().FailEvery("rdma_resolve_addr", ENETUNREACH);
  ExpectWorks(1);
  EXPECT_EQ(client_->info().set_up, "tcp");
}

TEST_F(RdmaOverTcpTest, TheOptionsMayForbidEither) {
  Start([](FakeFabricOptions&, RdmaRigOptions& rig) { rig.rdma.set_up = RdmaSetUp::kOverTcp; });
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok()) << offer.status();
  EXPECT_TRUE(std::all_of(offer->begin(), offer->end(), ByPort));
  const absl::Status by_cm =
      ConnectToOffer({{*Address::Parse("10.9.0.2:7471"), "", LinkLayer::kRoce}}, Pass(1));
  EXPECT_TRUE(absl::StrContains(by_cm.message(), "allows no rdma_cm")) << by_cm;
  Finish();
  Start();  // rdma_cm only
  const Offer other = Await(Pass(1));
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_TRUE(std::none_of(other->begin(), other->end(), ByPort));
  const absl::Status by_port = ConnectToOffer(OnlyB(*offer), Pass(1));
  EXPECT_EQ(ReasonOf(by_port), WhyNotRdma::kUnreachable) << by_port;
}

TEST_F(RdmaOverTcpTest, OnIwarpThereIsNoSuchPort) {
  StartInAPod([](FakeFabricOptions& fabric, RdmaRigOptions&) {
    for (FakeDeviceOptions& device : fabric.devices) device.link = FakeLink::kIwarp;
  });
  EXPECT_EQ(ReasonOf(Await(Pass(1)).status()), WhyNotRdma::kNoAddress);
}

TEST_F(RdmaOverTcpTest, ATokenOfAnotherConnectionLetsNobodyIn) {
  StartInAPod();
  ASSERT_TRUE(Await(Pass(1)).ok());
  const Offer offer = Await(Pass(2));
  ASSERT_TRUE(offer.ok());
  // Messages go to the second.
  const absl::Status connect_status = ConnectToOffer(OnlyB(*offer), Pass(1));
  EXPECT_TRUE(absl::StrContains(connect_status.message(), "token is of another connection"))
      << connect_status;
  EXPECT_EQ(ReasonOf(connect_status), WhyNotRdma::kRejected);
  EXPECT_TRUE(ConnectToOffer(OnlyB(*offer), Pass(2)).ok()) << "which it has not used up";
}

TEST_F(RdmaOverTcpTest, APortThatWasNotOfferedIsNotConnectedTo) {
  StartInAPod([](FakeFabricOptions&, RdmaRigOptions& rig) { rig.rdma.devices = {"fakeB"}; });
  Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok());
  ASSERT_EQ(offer->size(), 1u);
  offer->front().port->gid[15] = 1;  // fakeA's
  const absl::Status connect_status = ConnectToOffer(*offer, Pass(1));
  EXPECT_TRUE(absl::StrContains(connect_status.message(), "no port was offered with this GID"))
      << connect_status;
}

TEST_F(RdmaOverTcpTest, GarbageHarmsItsOwnAttemptAlone) {
  StartInAPod();
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok());
  for (const std::string& garbage :
       {std::string(), std::string("\xff\xff"),
        EncodePortSetUp({.kind = PortSetUp::Kind::kReady, .data = {}}),
        EncodePortSetUp({.kind = PortSetUp::Kind::kReject, .data = {}})}) {
    ToAwait(garbage);
  }
  harness_->Settle();
  ASSERT_TRUE(ConnectToOffer(OnlyB(*offer), Pass(1)).ok()) << "before an attempt";
  Echo();
  Drop();
  const Offer again = Await(Pass(2));
  ASSERT_TRUE(again.ok());
  std::optional<absl::Status> result;
  const auto ticket = BeginConnect(OnlyB(*again), Pass(2), result);
  ToConnecting(EncodePortSetUp({.kind = PortSetUp::Kind::kReady, .data = {}}));
  EXPECT_TRUE(harness_->Until([&] { return result.has_value(); }));
  EXPECT_FALSE(result->ok());
}

// No id of rdma_cm hears of it.
TEST_F(RdmaOverTcpTest, ARemovedDeviceIsLetGo) {
  StartInAPod();
  for (const bool flush : {false, true}) {
    SCOPED_TRACE(flush);
    ExpectWorks(flush ? 2 : 1);
    fabric().faults().RemoveDevice("fakeB", flush);
    ASSERT_TRUE(harness_->Until([&] { return client_->over() && server_->over(); }));
    ASSERT_TRUE(harness_->Until([&] { return !fabric().faults().RemovalPending("fakeB"); }));
    ASSERT_TRUE(fabric().faults().AddDevice("fakeB"));
    Drop();
    ASSERT_TRUE(harness_->Until([&] {
      const Offer offer = Await(Pass(flush ? 4 : 3));
      harness_->Run(loop(), [&] { tickets_.clear(); });
      return offer.ok() && !OnlyB(*offer).empty();
    }));
  }
}

TEST_F(RdmaOverTcpTest, WhoHangsUpLeavesNothingBehind) {
  // After as many turns as it takes to be connected.
  for (int turns = 0; turns < 40; ++turns) {
    SCOPED_TRACE(turns);
    StartInAPod();
    const Offer offer = Await(Pass(1));
    ASSERT_TRUE(offer.ok());
    std::optional<absl::Status> result;
    auto ticket = BeginConnect(OnlyB(*offer), Pass(1), result);
    int left = turns;
    harness_->Until([&] { return left-- == 0; });
    EndConnect(ticket);
    harness_->Run(loop(), [&] { tickets_.clear(); });
    Finish();
  }
}

// Each call fails once, wherever it is made: the attempt fails and says so, or nothing is lost; the
// next one works, and nothing is left behind.
TEST_F(RdmaOverTcpTest, EachCallFails) {
  const auto small = [](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
    InAPod(fabric, rig);
    rig.rdma.set_up = RdmaSetUp::kOverTcp;
    rig.rdma.devices = {"fakeB"};
    rig.rdma.shared_receives = 32;
    rig.rdma.receive_slots = rig.rdma.send_slots = 8;
    rig.rdma.completion_queue_depth = 256;
  };
  Start(small);
  fabric().faults().RecordCalls();
  ExpectWorks(1);
  const std::vector<std::string> calls = fabric().faults().recorded_calls();
  Finish();
  std::vector<std::string> failed;
  for (size_t number = 1; number <= calls.size(); ++number) {
    const std::string& call = calls[number - 1];
    const bool of_set_up = call == "ibv_create_qp" || call == "ibv_modify_qp";
    SCOPED_TRACE(testing::Message() << "call " << number << ", " << call);
    Start(small);
    fabric().faults().FailCallNumber(number, ENOMEM);
    const Offer offer = Await(Pass(1));
    if (offer.ok()) {
      const absl::Status connect_status = ConnectToOffer(OnlyB(*offer), Pass(1));
      if (!connect_status.ok()) {
        failed.push_back(call);
        EXPECT_TRUE(CarriesReason(connect_status)) << connect_status;
        if (of_set_up) {
          EXPECT_TRUE(absl::StrContains(connect_status.message(), call)) << connect_status;
        }
      }
    }
    Finish();
  }
  EXPECT_GE(std::count(failed.begin(), failed.end(), "ibv_modify_qp"), 4)
      << "RTR and RTS of both ends; what fails before is tried again with less inline";
}

}  // namespace
}  // namespace farcall
