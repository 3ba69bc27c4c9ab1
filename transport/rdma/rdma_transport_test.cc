// SPDX-License-Identifier: Apache-2.0
//
// Probe and Await: whether there is a device, what is offered, and what options change.

#include "transport/rdma/rdma_transport.h"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "transport/rdma/rdma_transport_testing.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

TEST_F(RdmaTransportTest, NothingIsLoadedBeforeItIsAskedFor) {
  Start();
  harness_->Settle();
  EXPECT_EQ(fabric().faults().calls(), 0u);
  EXPECT_EQ(harness_->pool().stats().region_bytes, 0u);
}

TEST_F(RdmaTransportTest, ProbeTellsWhetherThereIsADevice) {
  Start();
  EXPECT_TRUE(Probe().ok());
}

TEST_F(RdmaTransportTest, ProbeTellsWhyNot) {
  Start([](FakeFabricOptions& fabric, RdmaRigOptions&) {
    for (auto& device : fabric.devices) device.port_active = false;
  });
  EXPECT_EQ(ReasonOf(Probe()), WhyNotRdma::kNoActivePort);
}

// A hello's answer must not wait behind queue pairs in the making.
TEST_F(RdmaTransportTest, ProbeOfADeviceThatIsKnownNeedsNoTurnOfTheControlLoop) {
  Start();
  bool available = false;
  const auto ask = [&] {
    harness_->Run(loop(), [&] {
      harness_->rdma().Probe(loop(), [&](const absl::Status& status) { available = status.ok(); });
    });
    loop().RunOnce();
  };
  ask();
  EXPECT_FALSE(available) << "there was no look yet";
  ASSERT_TRUE(harness_->Until([&] { return available; }));
  available = false;
  ask();
  EXPECT_TRUE(available);
}

// A millisecond for each call on the fabric; else it stands still.
class CallClock final : public Clock {
 public:
  TimePoint Now() const override {
    const uint64_t calls = fabric == nullptr ? 0 : fabric->faults().calls();
    return TimePoint() + std::chrono::seconds(1) + later + std::chrono::milliseconds(calls);
  }
  FakeFabric* fabric = nullptr;
  Duration later{};
};

class RdmaLoadTest : public RdmaTransportTest {
 protected:
  RdmaLoadTest() {
    Start([this](FakeFabricOptions&, RdmaRigOptions& rig) { rig.clock = &clock_; });
    clock_.fabric = &fabric();
  }
  ~RdmaLoadTest() override { Finish(); }
  CallClock clock_;
};

// On a host where that fails for good it would take all of the control loop's time.
TEST_F(RdmaLoadTest, WhatFailedToLoadIsNotTriedAgainForEachConnection) {
  fabric().faults().FailEvery("rdma_create_event_channel", EMFILE);
  const absl::Status first = Probe();
  ASSERT_FALSE(first.ok());
  const uint64_t calls = fabric().faults().calls();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(Probe(), first);
  EXPECT_EQ(fabric().faults().calls(), calls);
  fabric().faults().FailEvery("rdma_create_event_channel", 0);
  clock_.later = std::chrono::seconds(10);
  EXPECT_TRUE(Probe().ok());
}

TEST_F(RdmaTransportTest, AnOfferNamesEachAddressOfADevice) {
  Start();
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok()) << offer.status();
  EXPECT_EQ(offer->size(), 6u);
  for (const UpgradeAddress& address : *offer) {
    EXPECT_NE(address.address.port(), 0);
    EXPECT_EQ(address.link_layer, LinkLayer::kRoce);
  }
}

TEST_F(RdmaTransportTest, AnOfferMayBeLimitedToSomeAddresses) {
  Start([](FakeFabricOptions&, RdmaRigOptions& rig) {
    rig.rdma.addresses = {"10.9.0.2", "fd09::2"};
    rig.rdma.listen_port = 4711;
  });
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok()) << offer.status();
  ASSERT_EQ(offer->size(), 2u);
  EXPECT_EQ((*offer)[0].address.ToString(), "10.9.0.2:4711");
  EXPECT_EQ((*offer)[0].device, "fakeB");
}

// As it is for a pod: the second network has RDMA, and so has the first, or there is none.
class NetworkStatusOfferTest : public RdmaTransportTest {
 protected:
  ~NetworkStatusOfferTest() override { std::remove(path_.c_str()); }

  // Which devices are offered.
  std::set<std::string> Offered(const std::string& status, const Change& change = nullptr) {
    std::ofstream(path_) << status;
    Start([&](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
      rig.rdma.network_status = path_;
      if (change) change(fabric, rig);
    });
    return Devices(1);
  }
  std::set<std::string> Devices(uint8_t token) {
    const Offer offer = Await(Pass(token));
    EXPECT_TRUE(offer.ok()) << offer.status();
    std::set<std::string> devices;
    for (const UpgradeAddress& address : *offer) devices.insert(address.device);
    return devices;
  }

  const std::string path_ = ::testing::TempDir() + "/offered-network-status";
};

constexpr char kSecondIsB[] =
    R"([{"interface":"if_fakeA","ips":["10.9.0.1"],"default":true},)"
    R"({"name":"default/roce","interface":"if_fakeB","ips":["10.9.0.2"]}])";

TEST_F(NetworkStatusOfferTest, OnlyTheSecondNetworkIsOfferedIfItHasRdma) {
  EXPECT_EQ(Offered(kSecondIsB), std::set<std::string>{"fakeB"});
}

TEST_F(NetworkStatusOfferTest, AllIsOfferedWhereTheSecondNetworkHasNoRdma) {
  const std::set<std::string> offered =
      Offered(kSecondIsB, [](FakeFabricOptions&, RdmaRigOptions& rig) {
        rig.rdma.devices = {"fakeA", "fakeC"};
      });
  EXPECT_EQ(offered, (std::set<std::string>{"fakeA", "fakeC"}));
}

TEST_F(NetworkStatusOfferTest, AllIsOfferedWhereThereIsNoSecondNetworkOrNothingIsKnown) {
  const std::set<std::string> all{"fakeA", "fakeB", "fakeC"};
  EXPECT_EQ(Offered(""), all);
  std::ofstream(path_) << R"([{"interface":"if_fakeA","default":true}])";
  EXPECT_EQ(Devices(2), all);
}

TEST_F(NetworkStatusOfferTest, ChosenAddressesStayChosen) {
  const std::set<std::string> offered =
      Offered(kSecondIsB,
              [](FakeFabricOptions&, RdmaRigOptions& rig) { rig.rdma.addresses = {"10.9.0.1"}; });
  EXPECT_EQ(offered, std::set<std::string>{"fakeA"});
}

TEST_F(RdmaTransportTest, OnlyDevicesThatTheOptionsNameAreUsed) {
  Start([](FakeFabricOptions&, RdmaRigOptions& rig) { rig.rdma.devices = {"fakeB"}; });
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok()) << offer.status();
  EXPECT_EQ(offer->size(), 2u);
  // Its routes say fakeA.
  ASSERT_TRUE(ConnectToOffer(OnlyB(*offer), Pass(1)).ok());
  Echo();
  EXPECT_EQ(client_->info().device, "fakeB");
}

TEST_F(RdmaTransportTest, WhereAddressesCannotBeReadThoseThatThereWereStand) {
  Start();
  const Offer all = Await(Pass(2));
  ASSERT_TRUE(all.ok()) << all.status();
  harness_->fake().SetAddressesUnreadable(true);
  const Offer same = Await(Pass(3));
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(same->size(), all->size());
  ASSERT_TRUE(ConnectToOffer(OnlyB(*same), Pass(3)).ok());
  Echo();
}

TEST_F(RdmaTransportTest, AddressesThatCannotBeReadAreToldOf) {
  Start();
  harness_->fake().SetAddressesUnreadable(true);
  const Offer none = Await(Pass(1));
  EXPECT_EQ(ReasonOf(none.status()), WhyNotRdma::kDeviceRefused) << none.status();
  EXPECT_TRUE(absl::StrContains(none.status().message(), "open files")) << none.status();
}

TEST_F(RdmaTransportTest, TheTrafficClassAndTimesReachTheQueuePair) {
  Start();
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(ConnectToOffer(OnlyB(*offer), Pass(1)).ok());
  Echo();
  for (const char* const device : {"fakeA", "fakeB"}) {
    const auto pairs = fabric().faults().QueuePairs(device);
    ASSERT_EQ(pairs.size(), 1u);
    EXPECT_EQ(fabric().queue_pair(pairs[0]).min_rnr_timer, RdmaOptions().min_rnr_timer);
    EXPECT_EQ(fabric().queue_pair(pairs[0]).timeout, RdmaOptions().ack_timeout);
  }
}

TEST_F(RdmaTransportTest, AListenPortThatIsInUseIsNamed) {
  Start([](FakeFabricOptions&, RdmaRigOptions& rig) {
    rig.rdma.addresses = {"10.9.0.2"};
    rig.rdma.listen_port = 4711;
  });
  const auto other = harness_->transport().Listen(
      harness_->loops(), *Address::Parse("10.9.0.2:4711"), ListenOptions(), [](auto&, auto) {});
  ASSERT_TRUE(other.ok()) << other.status();
  const Offer offer = Await(Pass(1));
  ASSERT_FALSE(offer.ok());
  EXPECT_EQ(ReasonOf(offer.status()), WhyNotRdma::kDeviceRefused) << offer.status();
  EXPECT_TRUE(absl::StrContains(offer.status().message(), "4711")) << offer.status();
}

TEST_F(RdmaTransportTest, MoreConnectionsThanTheQueueHoldsAreRefused) {
  Start([](FakeFabricOptions&, RdmaRigOptions& rig) {
    rig.rdma.completion_queue_depth = 256;
    // Four for each.
    rig.rdma.shared_receives = rig.rdma.max_shared_receives = 16;
    rig.rdma.receive_slots = 4;
  });
  const Offer offer = Await(Pass(1));
  std::vector<std::unique_ptr<TestPeer>> kept;
  absl::Status status;
  for (uint8_t i = 2; i < 10 && status.ok(); ++i) {
    ASSERT_TRUE(Await(Pass(i)).ok());
    status = ConnectToOffer(OnlyB(*offer), Pass(i));
    kept.push_back(std::move(client_));
    if (status.ok()) {
      ASSERT_TRUE(harness_->Until([&] { return server_ != nullptr; }));
    }
    kept.push_back(std::move(server_));
  }
  EXPECT_EQ(ReasonOf(status), WhyNotRdma::kCapacity) << status;
  kept.clear();
}

}  // namespace
}  // namespace farcall
