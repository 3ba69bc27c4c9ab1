// SPDX-License-Identifier: Apache-2.0
//
// Devices that are removed, and come back.

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "transport/rdma/rdma_transport.h"
#include "transport/rdma/rdma_transport_testing.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

TEST_F(RdmaTransportTest, ADeviceThatComesBackIsUsedAgain) {
  Start();
  for (uint8_t round = 1; round <= 3; ++round) {
    const Offer offer = Await(Pass(round));
    ASSERT_TRUE(offer.ok()) << offer.status();
    const absl::Status connect_status = ConnectToOffer(OnlyB(*offer), Pass(round));
    ASSERT_TRUE(connect_status.ok()) << connect_status;
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

TEST_F(RdmaTransportTest, ADeviceThatFailedIsOpenedAnew) {
  Start();
  uint8_t round = 0;
  for (const ibv_event_type what : {IBV_EVENT_CQ_ERR, IBV_EVENT_SRQ_ERR, IBV_EVENT_DEVICE_FATAL}) {
    SCOPED_TRACE(what);
    const Offer offer = Await(Pass(++round));
    ASSERT_TRUE(offer.ok()) << offer.status();
    const absl::Status connect_status = ConnectToOffer(OnlyB(*offer), Pass(round));
    ASSERT_TRUE(connect_status.ok()) << connect_status;
    Echo();
    fabric().faults().RaiseEvent("fakeB", what);
    ASSERT_TRUE(harness_->Until([&] { return client_->over() && server_->over(); }));
    EXPECT_EQ(server_->seen().why.code(), absl::StatusCode::kUnavailable) << server_->seen().why;
    client_.reset();
    server_.reset();
    harness_->Settle();
  }
}

// As after a look at the devices for which there were no descriptors: the listener's context is
// none that is used for new connections, and no event comes.
TEST_F(RdmaTransportTest, ADeviceWithAnotherContextIsOfferedAgain) {
  Start();
  const Offer before = Await(Pass(1));
  ASSERT_TRUE(before.ok()) << before.status();
  ASSERT_TRUE(ConnectToOffer(OnlyB(*before), Pass(1)).ok());
  Echo();
  fabric().faults().ReplaceContext("fakeB");
  fabric().faults().RaiseEvent("fakeA", IBV_EVENT_GID_CHANGE);  // so that all are looked at
  Offer after = before;
  ASSERT_TRUE(harness_->Until([&] {
    harness_->Run(loop(), [&] { tickets_.clear(); });
    after = Await(Pass(2));
    return after.ok() && !OnlyB(*after).empty() &&
           OnlyB(*after).at(0).address != OnlyB(*before).at(0).address;
  })) << after.status();
  Echo();  // what was made with the old one works on
  const absl::Status connect_status = ConnectToOffer(OnlyB(*after), Pass(2));
  ASSERT_TRUE(connect_status.ok()) << connect_status;
  Echo();
}

// The kernel gives EIO once a context has lost its device.
TEST_F(RdmaTransportTest, EventsThatEndWithEioAreTheEndOfTheDevice) {
  Start();
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(ConnectToOffer(OnlyB(*offer), Pass(1)).ok());
  Echo();
  fabric().faults().FailCall("ibv_get_async_event", 1, EIO);
  fabric().faults().RaiseEvent("fakeB", IBV_EVENT_GID_CHANGE);
  ASSERT_TRUE(harness_->Until([&] { return server_->over(); }));
  EXPECT_TRUE(absl::StrContains(server_->seen().why.message(), "the device fakeB failed"))
      << server_->seen().why;
}

TEST_F(RdmaTransportTest, EventsThatCannotBeReadSayNothingOfTheDevice) {
  Start();
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(ConnectToOffer(OnlyB(*offer), Pass(1)).ok());
  for (const int error : {EAGAIN, EINTR, EPERM}) {
    fabric().faults().FailCall("ibv_get_async_event", 1, error);
    fabric().faults().RaiseEvent("fakeB", IBV_EVENT_GID_CHANGE);
    harness_->Settle();
    Echo();
  }
  const std::string log = absl::StrJoin(harness_->rig().log(), "\n");
  EXPECT_TRUE(absl::StrContains(log,
                                "no events of RDMA device fakeB: ibv_get_async_event: "
                                "Operation not permitted"))
      << log;
  EXPECT_FALSE(absl::StrContains(log, "failed")) << log;
  // rdma_cm reports its end.
  fabric().faults().RemoveDevice("fakeB", /*flush=*/false);
  EXPECT_TRUE(harness_->Until([&] { return server_->over() && client_->over(); }));
}

// Its end waits behind bytes that are not read; all else of it must not.
TEST_F(RdmaTransportTest, APausedConnectionDoesNotHoldARemovedDevice) {
  Start();
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(ConnectToOffer(OnlyB(*offer), Pass(1)).ok());
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

TEST_F(RdmaTransportTest, AListenerIsBackWithItsDevice) {
  Start();
  EventLoop& mine = harness_->loops().at(1);
  std::vector<std::unique_ptr<TestPeer>> servers;
  auto listener = harness_->transport().Listen(
      harness_->loops(), harness_->FreeAddress(), ListenOptions(),
      [&](EventLoop& loop, std::unique_ptr<Connection> connection) {
        servers.push_back(std::make_unique<TestPeer>(*harness_, "server", 7, 7));
        servers.back()->Adopt(loop, std::move(connection));
      });
  ASSERT_TRUE(listener.ok());
  for (int round = 0; round < 2; ++round) {
    fabric().faults().RemoveDevice("fakeB", /*flush=*/false);
    ASSERT_TRUE(harness_->Until([&] { return !fabric().faults().RemovalPending("fakeB"); }));
    ASSERT_TRUE(fabric().faults().AddDevice("fakeB"));
    bool connected = false;
    bool waiting = false;
    ASSERT_TRUE(harness_->Until([&] {
      if (connected || waiting) return connected;
      waiting = true;
      harness_->Run(mine, [&] {
        harness_->rig().direct().Connect(mine, (*listener)->address(), ConnectOptions(),
                                         [&](auto made) {
                                           waiting = false;
                                           connected = made.ok();
                                         });
      });
      return false;
    }));
    harness_->Settle();
    servers.clear();
  }
}

TEST_F(RdmaTransportTest, AnOpenListenerDoesNotHoldARemovedDevice) {
  Start();
  auto listener = harness_->transport().Listen(harness_->loops(), harness_->FreeAddress(),
                                               ListenOptions(), [](auto&, auto) {});
  ASSERT_TRUE(listener.ok());
  fabric().faults().RemoveDevice("fakeB", /*flush=*/false);
  EXPECT_TRUE(harness_->Until([&] { return !fabric().faults().RemovalPending("fakeB"); }));
}

TEST_F(RdmaTransportTest, TheLastDeviceOfTheHostIsLetGoAndUsedWhenItComesBack) {
  Start();
  for (const char* const spare : {"fakeA", "fakeC"}) {
    fabric().faults().RemoveDevice(spare, /*flush=*/false);
  }
  for (uint8_t round = 1; round <= 2; ++round) {
    // At the next look: there is no sysfs here in which the device could be seen before.
    const TimePoint limit = TimePoint::clock::now() + std::chrono::seconds(10);
    Offer offer = Await(Pass(round));
    while (!offer.ok() && TimePoint::clock::now() < limit) {
      harness_->Settle();
      offer = Await(Pass(round));
    }
    ASSERT_TRUE(offer.ok()) << offer.status();
    const absl::Status connect_status = ConnectToOffer(OnlyB(*offer), Pass(round));
    ASSERT_TRUE(connect_status.ok()) << connect_status;
    Echo();
    fabric().faults().RemoveDevice("fakeB", /*flush=*/round == 2);
    ASSERT_TRUE(harness_->Until([&] { return client_->over() && server_->over(); }));
    ASSERT_TRUE(harness_->Until([&] { return !fabric().faults().RemovalPending("fakeB"); }));
    EXPECT_EQ(ReasonOf(Probe()), WhyNotRdma::kNoDevice);
    ASSERT_TRUE(fabric().faults().AddDevice("fakeB"));
    client_.reset();
    server_.reset();
  }
}

// Nothing but the listeners' ids and the look at devices hears of it.
TEST_F(RdmaTransportTest, AServerBetweenConnectionsDoesNotHoldTheLastDevice) {
  Start();
  ASSERT_TRUE(Await(Pass(1)).ok());
  for (const char* const name : {"fakeA", "fakeB", "fakeC"}) {
    fabric().faults().RemoveDevice(name, /*flush=*/false);
  }
  for (const char* const name : {"fakeA", "fakeB", "fakeC"}) {
    EXPECT_TRUE(harness_->Until([&] { return !fabric().faults().RemovalPending(name); })) << name;
  }
}

TEST_F(RdmaTransportTest, WhyNoAddressIsOfferedIsToldOfThoseThatThereAre) {
  Start([](FakeFabricOptions&, RdmaRigOptions& rig) { rig.rdma.addresses = {"10.9.0.2"}; });
  ASSERT_TRUE(Await(Pass(1)).ok());
  fabric().faults().SetPort("fakeB", false);
  Offer offer = absl::UnknownError("not asked yet");
  ASSERT_TRUE(harness_->Until([&] {
    harness_->Run(loop(), [&] { tickets_.clear(); });
    offer = Await(Pass(2));
    return !offer.ok();
  }));
  EXPECT_EQ(ReasonOf(offer.status()), WhyNotRdma::kNoActivePort) << offer.status();
  EXPECT_TRUE(absl::StrContains(offer.status().message(), "fakeB")) << offer.status();
}

TEST_F(RdmaTransportTest, NoAddressIsOfferedWhosePortIsDown) {
  Start();
  uint8_t token = 0;
  // At the next look, soon after the device has said so.
  const auto offers = [&](size_t addresses_of_b) {
    const TimePoint limit = TimePoint::clock::now() + std::chrono::seconds(10);
    bool right = false;
    while (!right && TimePoint::clock::now() < limit) {
      const Offer offer = Await(Pass(++token % 200 + 1));
      right = offer.ok() && OnlyB(*offer).size() == addresses_of_b;
      for (auto& ticket : tickets_) harness_->Run(loop(), [&] { ticket.reset(); });
      tickets_.clear();
      harness_->Settle();
    }
    return right;
  };
  EXPECT_TRUE(offers(2));
  fabric().faults().SetPort("fakeB", false);
  EXPECT_TRUE(offers(0));
  fabric().faults().SetPort("fakeB", true);
  EXPECT_TRUE(offers(2));
}

}  // namespace
}  // namespace farcall
