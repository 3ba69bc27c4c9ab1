// SPDX-License-Identifier: Apache-2.0
//
// Ports that rdma_cm chooses and TCP has, as on iWARP devices.

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "transport/rdma/cm/cm_options.h"
#include "transport/rdma/rdma_transport.h"
#include "transport/rdma/rdma_transport_testing.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

class RdmaPortsTest : public RdmaTransportTest {
 protected:
  // The next `count` calls of it find their port taken.
  void TakePorts(absl::string_view name, int count, int error = EADDRINUSE) {
    for (int nth = 1; nth <= count; ++nth) fabric().faults().FailCall(name, nth, error);
  }
  absl::Status ConnectToOneAddress(const std::vector<UpgradeAddress>& offer) {
    return ConnectToOffer({OnlyB(offer).at(0)}, Pass(1));
  }
  int Calls(absl::string_view name) {
    const auto calls = fabric().faults().recorded_calls();
    return static_cast<int>(std::count(calls.begin(), calls.end(), name));
  }
};

TEST_F(RdmaPortsTest, AnAttemptWhosePortIsTakenTakesAnother) {
  for (const int error : {EADDRINUSE, EADDRNOTAVAIL}) {
    Start();
    const Offer offer = Await(Pass(1));
    ASSERT_TRUE(offer.ok());
    TakePorts("rdma_connect", kPortTries - 1, error);
    const absl::Status status = ConnectToOneAddress(*offer);
    ASSERT_TRUE(status.ok()) << status;
    Echo();
    EXPECT_EQ(fabric().faults().QueuePairs("fakeA").size(), 1u);
    Finish();
  }
}

TEST_F(RdmaPortsTest, AnAttemptGivesUpAfterSoManyPorts) {
  Start();
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok());
  fabric().faults().RecordCalls();
  fabric().faults().FailEvery("rdma_connect", EADDRINUSE);
  const absl::Status status = ConnectToOneAddress(*offer);
  EXPECT_EQ(ReasonOf(status), WhyNotRdma::kDeviceRefused) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "rdma_connect: Address already in use"))
      << status;
  EXPECT_EQ(Calls("rdma_connect"), kPortTries);
}

TEST_F(RdmaPortsTest, AnotherPortMayNotBeHadEither) {
  for (const char* const call : {"rdma_create_id", "rdma_resolve_addr"}) {
    SCOPED_TRACE(call);
    Start();
    const Offer offer = Await(Pass(1));
    ASSERT_TRUE(offer.ok());
    fabric().faults().FailCall("rdma_connect", 1, EADDRINUSE);
    fabric().faults().FailCall(call, 2, ENOMEM);
    const absl::Status status = ConnectToOneAddress(*offer);
    EXPECT_TRUE(absl::StrContains(status.message(), "rdma_connect: Address already in use"))
        << status;
    Finish();
  }
}

TEST_F(RdmaPortsTest, TheNextAddressHasItsOwnTries) {
  Start();
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok());
  const auto addresses = OnlyB(*offer);
  ASSERT_EQ(addresses.size(), 2u);
  TakePorts("rdma_connect", 2 * kPortTries - 1);
  const absl::Status status = ConnectToOffer(addresses, Pass(1));
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(RdmaPortsTest, AnotherErrorOfConnectingIsNotTriedAgain) {
  Start();
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok());
  fabric().faults().RecordCalls();
  fabric().faults().FailEvery("rdma_connect", ENOMEM);
  EXPECT_EQ(ReasonOf(ConnectToOneAddress(*offer)), WhyNotRdma::kDeviceRefused);
  EXPECT_EQ(Calls("rdma_connect"), 1);
}

TEST_F(RdmaPortsTest, GivingUpBetweenPortsLeavesNothing) {
  for (int steps = 0; steps < 60; ++steps) {
    Start();
    const Offer offer = Await(Pass(1));
    fabric().faults().FailEvery("rdma_connect", EADDRINUSE);
    std::optional<absl::Status> result;
    auto ticket = BeginConnect(OnlyB(*offer), Pass(1), result);
    for (int i = 0; i < steps; ++i) {
      harness_->rig().Step();
      fabric().Step();
    }
    harness_->Run(harness_->loops().at(1), [&] { ticket.reset(); });
    harness_->Settle();
    Finish();
  }
}

TEST_F(RdmaPortsTest, AListenerWhosePortIsTakenTakesAnother) {
  Start([](FakeFabricOptions&, RdmaRigOptions& rig) { rig.rdma.addresses = {"10.9.0.2"}; });
  TakePorts("rdma_listen", kPortTries - 1);
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok()) << offer.status();
  const absl::Status status = ConnectToOffer(*offer, Pass(1));
  ASSERT_TRUE(status.ok()) << status;
  Echo();
}

TEST_F(RdmaPortsTest, AListenerGivesUpAfterSoManyPorts) {
  Start([](FakeFabricOptions&, RdmaRigOptions& rig) { rig.rdma.addresses = {"10.9.0.2"}; });
  fabric().faults().RecordCalls();
  fabric().faults().FailEvery("rdma_listen", EADDRINUSE);
  const Offer offer = Await(Pass(1));
  EXPECT_EQ(ReasonOf(offer.status()), WhyNotRdma::kDeviceRefused) << offer.status();
  EXPECT_TRUE(absl::StrContains(offer.status().message(), "rdma_listen: Address already in use"))
      << offer.status();
  EXPECT_EQ(Calls("rdma_listen"), kPortTries);
}

TEST_F(RdmaPortsTest, APortThatTheOptionsNameIsTriedOnce) {
  Start([](FakeFabricOptions&, RdmaRigOptions& rig) {
    rig.rdma.addresses = {"10.9.0.2"};
    rig.rdma.listen_port = 4711;
  });
  fabric().faults().RecordCalls();
  fabric().faults().FailEvery("rdma_listen", EADDRINUSE);
  const Offer offer = Await(Pass(1));
  EXPECT_TRUE(absl::StrContains(offer.status().message(), "4711")) << offer.status();
  EXPECT_EQ(Calls("rdma_listen"), 1);
}

}  // namespace
}  // namespace farcall
