// SPDX-License-Identifier: Apache-2.0
//
// The upgrade seam of RdmaTransport: probe, dial, await.

#include "transport/rdma/rdma_transport.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/rdma/testing/fake_rdma.h"
#include "transport/testing/test_peer.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

using Harness = OverFake<SteppedRdmaHarness>;

UpgradePass Pass(uint8_t token, uint32_t generation = 1) {
  UpgradePass pass;
  pass.token.fill(token);
  pass.generation = generation;
  return pass;
}

class RdmaTransportTest : public testing::Test {
 protected:
  using Change = FakeRdma::Change;
  using Offer = absl::StatusOr<std::vector<UpgradeAddress>>;

  void Start(const Change& change = nullptr) {
    harness_ = std::make_unique<Harness>(FakeMode::kStepped, change);
  }
  ~RdmaTransportTest() override {
    if (harness_ == nullptr) return;
    client_.reset();
    server_.reset();
    for (auto& ticket : tickets_) harness_->Run(loop(), [&] { ticket.reset(); });
    harness_->End();
    EXPECT_EQ(harness_->pool().stats().used_bytes, 0u);
  }

  EventLoop& loop() { return harness_->loops().at(0); }
  FakeFabric& fabric() { return harness_->fabric(); }

  absl::Status Probe() {
    std::optional<absl::Status> told;
    harness_->Run(loop(), [&] {
      harness_->rdma().Probe(loop(), [&](const absl::Status& status) { told = status; });
    });
    EXPECT_TRUE(harness_->Until([&] { return told.has_value(); }));
    return *told;
  }

  Offer Await(const UpgradePass& pass) {
    std::optional<Offer> offer;
    harness_->Run(loop(), [&] {
      tickets_.push_back(harness_->rdma().Await(
          loop(), pass, ConnectionOptions(), [&](Offer told) { offer = std::move(told); },
          [this](std::unique_ptr<Connection> connection) {
            server_ = std::make_unique<TestPeer>(*harness_, "server", 7, 7);
            server_->take = [](TestPeer& self, Buffer& input) {
              self.Write(input.CutFront(input.size()));
              return size_t{0};
            };
            server_->Adopt(loop(), std::move(connection));
          }));
    });
    EXPECT_TRUE(harness_->Until([&] { return offer.has_value(); }));
    return *std::move(offer);
  }

  std::unique_ptr<UpgradeTicket> BeginDial(std::vector<UpgradeAddress> addresses,
                                           const UpgradePass& pass,
                                           std::optional<absl::Status>& told) {
    EventLoop& mine = harness_->loops().at(1);
    std::unique_ptr<UpgradeTicket> ticket;
    ConnectOptions options;
    options.timeout = timeout_;
    options.connection.traffic_class = 104;
    harness_->Run(mine, [&] {
      ticket = harness_->rdma().Dial(
          mine, std::move(addresses), pass, options, [&, this](auto connection) {
            told = connection.status();
            if (!connection.ok()) return;
            client_ = std::make_unique<TestPeer>(*harness_, "client", 7, 7);
            client_->Adopt(mine, *std::move(connection));
          });
    });
    return ticket;
  }

  absl::Status Dial(std::vector<UpgradeAddress> addresses, const UpgradePass& pass) {
    std::optional<absl::Status> told;
    auto ticket = BeginDial(std::move(addresses), pass, told);
    EXPECT_TRUE(harness_->Until([&] { return told.has_value(); }));
    harness_->Run(harness_->loops().at(1), [&] { ticket.reset(); });
    return *told;
  }

  void Echo() {
    ASSERT_TRUE(harness_->Until([&] { return server_ != nullptr; }));
    client_->Send(100'000);
    EXPECT_TRUE(harness_->Until([&] { return client_->seen().received == client_->sent(); }));
  }

  Duration timeout_ = std::chrono::seconds(5);
  std::unique_ptr<Harness> harness_;
  std::unique_ptr<TestPeer> client_;
  std::unique_ptr<TestPeer> server_;
  std::vector<std::unique_ptr<UpgradeTicket>> tickets_;
};

std::vector<UpgradeAddress> OnlyB(const std::vector<UpgradeAddress>& offer) {
  std::vector<UpgradeAddress> only;
  for (const UpgradeAddress& address : offer) {
    if (address.device == "fakeB") only.push_back(address);
  }
  return only;
}

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
  bool told = false;
  const auto ask = [&] {
    harness_->Run(loop(), [&] {
      harness_->rdma().Probe(loop(), [&](const absl::Status& status) { told = status.ok(); });
    });
    loop().RunOnce();
  };
  ask();
  EXPECT_FALSE(told) << "nobody has looked yet";
  ASSERT_TRUE(harness_->Until([&] { return told; }));
  told = false;
  ask();
  EXPECT_TRUE(told);
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

TEST_F(RdmaTransportTest, WhoShowsTheTokenIsLetIn) {
  Start();
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok());
  ASSERT_TRUE(Dial(OnlyB(*offer), Pass(1)).ok());
  Echo();
  const ConnectionInfo info = client_->info();
  EXPECT_EQ(info.transport, TransportKind::kRdma);
  EXPECT_EQ(info.why_not_rdma, WhyNotRdma::kInUse);
  EXPECT_EQ(info.device, "fakeA");
  EXPECT_EQ(server_->info().device, "fakeB");
}

TEST_F(RdmaTransportTest, NobodyElseIsLetIn) {
  Start();
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok());
  for (const UpgradePass& pass : {Pass(2), Pass(0), Pass(1, 2)}) {
    const absl::Status status = Dial(OnlyB(*offer), pass);
    EXPECT_EQ(ReasonOf(status), WhyNotRdma::kRejected) << status;
  }
  EXPECT_EQ(server_, nullptr);
  EXPECT_TRUE(Dial(OnlyB(*offer), Pass(1)).ok());
}

TEST_F(RdmaTransportTest, ATokenLetsInOnce) {
  Start();
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(Dial(OnlyB(*offer), Pass(1)).ok());
  Echo();
  const absl::Status again = Dial(OnlyB(*offer), Pass(1));
  EXPECT_EQ(ReasonOf(again), WhyNotRdma::kRejected);
  EXPECT_TRUE(absl::StrContains(again.message(), "this token was used")) << again;
  Echo();
}

TEST_F(RdmaTransportTest, AWithdrawnTokenLetsNobodyIn) {
  Start();
  const Offer offer = Await(Pass(1));
  harness_->Run(loop(), [&] { tickets_.clear(); });
  harness_->Settle();
  EXPECT_EQ(ReasonOf(Dial(OnlyB(*offer), Pass(1))), WhyNotRdma::kRejected);
}

TEST_F(RdmaTransportTest, TheNextAddressIsTried) {
  Start();
  const Offer offer = Await(Pass(1));
  std::vector<UpgradeAddress> addresses = OnlyB(*offer);
  // Nobody has it; nobody listens; nobody answers.
  for (const char* const other : {"10.9.0.77:5", "10.9.0.2:1", "10.9.0.3:7"}) {
    addresses.insert(addresses.begin(), {*Address::Parse(other), "", LinkLayer::kUnknown});
  }
  const absl::Status status = Dial(addresses, Pass(1));
  ASSERT_TRUE(status.ok()) << status;
  Echo();
}

TEST_F(RdmaTransportTest, AnErrorNamesTheLastAddress) {
  Start();
  timeout_ = std::chrono::milliseconds(200);
  const absl::Status status =
      Dial({{*Address::Parse("10.9.0.77:5"), "", LinkLayer::kUnknown}}, Pass(1));
  EXPECT_EQ(ReasonOf(status), WhyNotRdma::kUnreachable) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "10.9.0.77:5")) << status;
}

TEST_F(RdmaTransportTest, GivingUpADialAtAnyStepLeavesNothing) {
  for (int steps = 0; steps < 60; ++steps) {
    Start();
    const Offer offer = Await(Pass(1));
    std::optional<absl::Status> told;
    auto ticket = BeginDial(OnlyB(*offer), Pass(1), told);
    for (int i = 0; i < steps; ++i) {
      harness_->rig().Step();
      fabric().Step();
    }
    bool was_told = false;
    harness_->Run(harness_->loops().at(1), [&] {
      was_told = told.has_value();
      ticket.reset();
    });
    harness_->Settle();
    EXPECT_EQ(told.has_value(), was_told);
    client_.reset();
    server_.reset();
    for (auto& awaited : tickets_) harness_->Run(loop(), [&] { awaited.reset(); });
    tickets_.clear();
    harness_->End();
    EXPECT_EQ(harness_->pool().stats().used_bytes, 0u) << steps;
    harness_.reset();
  }
}

TEST_F(RdmaTransportTest, OnlyDevicesThatTheOptionsNameAreUsed) {
  Start([](FakeFabricOptions&, RdmaRigOptions& rig) { rig.rdma.devices = {"fakeB"}; });
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok()) << offer.status();
  EXPECT_EQ(offer->size(), 2u);
  // Its routes say fakeA.
  ASSERT_TRUE(Dial(OnlyB(*offer), Pass(1)).ok());
  Echo();
  EXPECT_EQ(client_->info().device, "fakeB");
}

TEST_F(RdmaTransportTest, TheTrafficClassAndTimesReachTheQueuePair) {
  Start();
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(Dial(OnlyB(*offer), Pass(1)).ok());
  Echo();
  for (const char* const device : {"fakeA", "fakeB"}) {
    const auto pairs = fabric().faults().QueuePairs(device);
    ASSERT_EQ(pairs.size(), 1u);
    EXPECT_EQ(fabric().queue_pair(pairs[0]).min_rnr_timer, RdmaOptions().min_rnr_timer);
    EXPECT_EQ(fabric().queue_pair(pairs[0]).timeout, RdmaOptions().ack_timeout);
  }
}

TEST_F(RdmaTransportTest, ADeviceThatComesBackIsUsedAgain) {
  Start();
  for (uint8_t round = 1; round <= 3; ++round) {
    const Offer offer = Await(Pass(round));
    ASSERT_TRUE(offer.ok()) << offer.status();
    const absl::Status dialed = Dial(OnlyB(*offer), Pass(round));
    ASSERT_TRUE(dialed.ok()) << dialed;
    Echo();
    fabric().faults().RemoveDevice("fakeB", /*flush=*/round == 2);
    ASSERT_TRUE(harness_->Until([&] { return client_->over() && server_->over(); }));
    EXPECT_TRUE(absl::StrContains(server_->seen().why.message(), "the device fakeB was removed"))
        << server_->seen().why;
    ASSERT_TRUE(harness_->Until([&] { return !fabric().faults().RemovalPending("fakeB"); }));
    ASSERT_TRUE(fabric().faults().AddDevice("fakeB"));
    client_.reset();
    server_.reset();
  }
}

// Its end waits behind bytes that nobody reads; all else of it must not.
TEST_F(RdmaTransportTest, APausedConnectionDoesNotHoldARemovedDevice) {
  Start();
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(Dial(OnlyB(*offer), Pass(1)).ok());
  Echo();
  server_->Pause();
  client_->Send(100'000);
  harness_->Settle();
  fabric().faults().RemoveDevice("fakeB", /*flush=*/false);
  EXPECT_TRUE(harness_->Until([&] { return !fabric().faults().RemovalPending("fakeB"); }));
  EXPECT_FALSE(server_->over());
  server_->Resume();
  EXPECT_TRUE(harness_->Until([&] { return server_->over(); }));
  ASSERT_TRUE(harness_->Until([&] { return client_->over(); }));
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

TEST_F(RdmaTransportTest, AnOpenListenerDoesNotHoldARemovedDevice) {
  Start();
  auto listener = harness_->transport().Listen(harness_->loops(), harness_->FreeAddress(),
                                               ListenOptions(), [](auto&, auto) {});
  ASSERT_TRUE(listener.ok());
  fabric().faults().RemoveDevice("fakeB", /*flush=*/false);
  EXPECT_TRUE(harness_->Until([&] { return !fabric().faults().RemovalPending("fakeB"); }));
}

TEST_F(RdmaTransportTest, MoreConnectionsThanTheQueueHoldsAreRefused) {
  Start([](FakeFabricOptions&, RdmaRigOptions& rig) {
    rig.rdma.completion_queue_depth = 256;
    rig.rdma.shared_receives = 64;
    rig.rdma.receive_slots = 16;
  });
  const Offer offer = Await(Pass(1));
  std::vector<std::unique_ptr<TestPeer>> kept;
  absl::Status status;
  for (uint8_t i = 2; i < 10 && status.ok(); ++i) {
    ASSERT_TRUE(Await(Pass(i)).ok());
    status = Dial(OnlyB(*offer), Pass(i));
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
