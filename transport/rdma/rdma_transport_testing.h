// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_RDMA_TRANSPORT_TESTING_H_
#define FARCALL_TRANSPORT_RDMA_RDMA_TRANSPORT_TESTING_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "transport/rdma/rdma_transport.h"
#include "transport/rdma/testing/fake_rdma.h"
#include "transport/testing/conformance/test_peer.h"

namespace farcall {

// One transport over two fake devices: loop 0 awaits, loop 1 dials.
class RdmaTransportTest : public testing::Test {
 protected:
  using Harness = OverFake<SteppedRdmaHarness>;
  using Change = FakeRdma::Change;
  using Offer = absl::StatusOr<std::vector<UpgradeAddress>>;

  static UpgradePass Pass(uint8_t token, uint32_t generation = 1) {
    UpgradePass pass;
    pass.token.fill(token);
    pass.generation = generation;
    return pass;
  }
  // Of what is offered, the addresses of the device that does not dial.
  static std::vector<UpgradeAddress> OnlyB(const std::vector<UpgradeAddress>& offer) {
    std::vector<UpgradeAddress> only;
    for (const UpgradeAddress& address : offer) {
      if (address.device == "fakeB") only.push_back(address);
    }
    return only;
  }

  void Start(const Change& change = nullptr) {
    harness_ = std::make_unique<Harness>(FakeMode::kStepped,
                                         [&](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
                                           rig.rdma.connect_timeout = timeout_;
                                           if (change) change(fabric, rig);
                                         });
  }
  ~RdmaTransportTest() override { Finish(); }
  // Before what a test gave it is gone.
  void Finish() {
    if (harness_ == nullptr) return;
    client_.reset();
    server_.reset();
    for (auto& ticket : tickets_) harness_->Run(loop(), [&] { ticket.reset(); });
    harness_->End();
    EXPECT_EQ(harness_->pool().stats().used_bytes, 0u);
    // What came last.
    client_.reset();
    server_.reset();
    harness_.reset();
  }

  EventLoop& loop() { return harness_->loops().at(0); }
  FakeFabric& fabric() { return harness_->fabric(); }

  absl::Status Probe() {
    std::optional<absl::Status> result;
    harness_->Run(loop(), [&] {
      harness_->rdma().Probe(loop(), [&](const absl::Status& status) { result = status; });
    });
    EXPECT_TRUE(harness_->Until([&] { return result.has_value(); }));
    return *result;
  }

  Offer Await(const UpgradePass& pass) {
    std::optional<Offer> offer;
    harness_->Run(loop(), [&] {
      tickets_.push_back(harness_->rdma().Await(
          loop(), pass, ConnectionOptions(), PeerTrust::kTrusted,
          [this](const std::string& message) {
            for (const std::string& one : on_the_way_back_(message)) ToConnecting(one);
          },
          [&](Offer result) { offer = std::move(result); },
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

  std::unique_ptr<UpgradeTicket> BeginConnect(std::vector<UpgradeAddress> addresses,
                                              const UpgradePass& pass,
                                              std::optional<absl::Status>& result) {
    EventLoop& mine = harness_->loops().at(1);
    std::unique_ptr<UpgradeTicket> ticket;
    OfferConnectOptions options;
    options.timeout = timeout_;
    options.connection.traffic_class = 104;
    harness_->Run(mine, [&] {
      ticket = harness_->rdma().ConnectToOffer(
          mine, std::move(addresses), pass, options,
          [this](const std::string& message) {
            for (const std::string& one : on_the_way_(message)) ToAwait(one);
          },
          [&, this](auto connection) {
            result = connection.status();
            if (!connection.ok()) return;
            client_ = std::make_unique<TestPeer>(*harness_, "client", 7, 7);
            client_->Adopt(mine, *std::move(connection));
          });
    });
    connecting_ = ticket.get();
    return ticket;
  }

  // As the link carries them.
  void ToConnecting(const std::string& message) {
    harness_->loops().at(1).Post([this, message] {
      if (connecting_ != nullptr) connecting_->OnSetUp(message);
    });
  }
  void ToAwait(const std::string& message) {
    loop().Post([this, message] {
      if (!tickets_.empty()) tickets_.back()->OnSetUp(message);
    });
  }

  absl::Status ConnectToOffer(std::vector<UpgradeAddress> addresses, const UpgradePass& pass) {
    std::optional<absl::Status> result;
    auto ticket = BeginConnect(std::move(addresses), pass, result);
    EXPECT_TRUE(harness_->Until([&] { return result.has_value(); }));
    EndConnect(ticket);
    return *result;
  }
  void EndConnect(std::unique_ptr<UpgradeTicket>& ticket) {
    harness_->Run(harness_->loops().at(1), [&] {
      connecting_ = nullptr;
      ticket.reset();
    });
  }

  void Echo() {
    ASSERT_TRUE(harness_->Until([&] { return server_ != nullptr; }));
    client_->Send(100'000);
    EXPECT_TRUE(harness_->Until([&] { return client_->seen().received == client_->sent(); }));
  }

  // Both connections, and who awaits.
  void Drop() {
    client_.reset();
    server_.reset();
    harness_->Run(loop(), [&] { tickets_.clear(); });
    harness_->Settle();
  }

  // Of a set-up at either end: more than a machine that is busy takes from it.
  Duration timeout_ = std::chrono::seconds(60);
  std::unique_ptr<Harness> harness_;
  std::unique_ptr<TestPeer> client_;
  std::unique_ptr<TestPeer> server_;
  std::vector<std::unique_ptr<UpgradeTicket>> tickets_;
  // What comes of a message of the connecting end, and of one of the other.
  using OnTheWay = std::function<std::vector<std::string>(const std::string&)>;
  OnTheWay on_the_way_ = [](const std::string& message) { return std::vector{message}; };
  OnTheWay on_the_way_back_ = on_the_way_;
  UpgradeTicket* connecting_ = nullptr;  // that messages of a set-up go to
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_RDMA_TRANSPORT_TESTING_H_
