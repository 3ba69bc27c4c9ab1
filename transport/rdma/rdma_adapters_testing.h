// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_RDMA_ADAPTERS_TESTING_H_
#define FARCALL_TRANSPORT_RDMA_RDMA_ADAPTERS_TESTING_H_

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/rdma/testing/fabric/fake_fabric.h"
#include "transport/rdma/testing/rdma_rig.h"
#include "transport/rdma/testing/stepped_clock.h"

namespace farcall {

// Two hosts with several adapters each, c0, c1 ... and s0, s1 ..., all in one network, in virtual
// time.
class RdmaAdaptersTest : public testing::Test {
 protected:
  static constexpr int kAdapters = 4;
  // Of either host.
  using Change = std::function<void(FakeFabricOptions&, RdmaRigOptions& client)>;

  // One channel's connection, from the offer on. Its callbacks refer to it.
  struct Channel {
    std::unique_ptr<UpgradeTicket> awaited;
    std::unique_ptr<UpgradeTicket> connecting;
    std::unique_ptr<Connection> server;
    std::unique_ptr<Connection> client;
    std::vector<UpgradeAddress> offer;
    std::optional<absl::Status> over;

    bool up() const { return client != nullptr && server != nullptr; }
  };

  void Start(const Change& change = nullptr) {
    FakeFabricOptions fabric;
    fabric.mode = FakeMode::kStepped;
    fabric.devices.clear();
    for (const auto& [letter, network] : {std::pair("c", 1), std::pair("s", 2)}) {
      for (int i = 0; i < kAdapters; ++i) {
        fabric.devices.push_back({.name = absl::StrCat(letter, i),
                                  .addresses = {absl::StrCat("10.9.", network, ".", i + 1)}});
      }
    }
    RdmaRigOptions options;
    options.clock = &clock_;
    options.loops = 1;
    options.rdma.shared_receives = 32;
    options.rdma.max_shared_receives = 256;
    options.rdma.send_slots = options.rdma.receive_slots = 8;
    options.rdma.completion_queue_depth = 1024;
    options.view.sys_class = options.view.dev_directory = "/nowhere";
    RdmaRigOptions of_client = options;
    if (change) change(fabric, of_client);
    options.rdma = of_client.rdma;
    fabric_ = std::make_unique<FakeFabric>(fabric);
    client_ = std::make_unique<RdmaRig>(Host(of_client, "c"));
    server_ = std::make_unique<RdmaRig>(Host(options, "s"));
  }
  ~RdmaAdaptersTest() override { Finish(); }
  void Finish() {
    if (fabric_ == nullptr) return;
    while (!channels_.empty()) End(*channels_.front());
    if (!watches_.empty()) {
      On(*client_, [&] { watches_[0].reset(); });
      On(*server_, [&] { watches_[1].reset(); });
      watches_.clear();
    }
    RunFor(std::chrono::seconds(3));
    clock_.SetRunning(true);
    client_->End();
    server_->End();
    clock_.SetRunning(false);
    client_.reset();
    server_.reset();
    fabric_.reset();
  }

  FakeFaults& faults() { return fabric_->faults(); }

  // As while a connection waits for something to come, both ends look at their devices: nothing
  // else tells that one has come.
  void Watch() {
    for (RdmaRig* const rig : {client_.get(), server_.get()}) {
      On(*rig, [&] { watches_.push_back(rig->transport().Watch(LoopOf(*rig), [] {})); });
    }
  }
  // Asks the server, and dials when the offer comes.
  Channel& Begin() {
    Channel& channel = *channels_.emplace_back(std::make_unique<Channel>());
    UpgradePass pass;
    pass.generation = 1;
    pass.token.fill(1);
    pass.token[0] = static_cast<uint8_t>(tokens_ >> 8);
    pass.token[1] = static_cast<uint8_t>(tokens_++);
    On(*server_, [&] {
      channel.awaited = server_->transport().Await(
          LoopOf(*server_), pass, ConnectionOptions(), PeerTrust::kTrusted,
          [&](const std::string& message) {
            LoopOf(*client_).Post([&channel, message] {
              if (channel.connecting != nullptr) channel.connecting->OnSetUp(message);
            });
          },
          [this, &channel, pass](absl::StatusOr<std::vector<UpgradeAddress>> offer) {
            if (!offer.ok()) {
              channel.over = offer.status();
              return;
            }
            channel.offer = *offer;
            if (older_) AsOfTheFirstRelease(channel.offer);
            LoopOf(*client_).Post([this, &channel, pass] { ConnectToOffer(channel, pass); });
          },
          [&channel](std::unique_ptr<Connection> connection) {
            channel.server = std::move(connection);
          });
    });
    return channel;
  }
  // Until it is up. False: it is not.
  bool Wait(Channel& channel) {
    const bool ended = Until([&] { return channel.over.has_value(); }, std::chrono::seconds(30));
    if (!ended || !channel.over->ok()) {
      ADD_FAILURE() << (ended ? channel.over->ToString() : "neither up nor an error");
      return false;
    }
    return Until([&] { return channel.server != nullptr; }, std::chrono::seconds(30));
  }
  bool Connect(int times = 1) {
    for (int i = 0; i < times; ++i) {
      if (!Wait(Begin())) return false;
    }
    return true;
  }
  void End(Channel& channel) {
    On(*client_, [&] { channel.connecting.reset(), channel.client.reset(); });
    On(*server_, [&] { channel.awaited.reset(), channel.server.reset(); });
    RunFor(std::chrono::milliseconds(10));  // tasks that refer to it
    std::erase_if(channels_, [&](const auto& one) { return one.get() == &channel; });
  }
  // How many connections each device of both hosts has.
  std::map<std::string, int> Counts() {
    std::map<std::string, int> counts;
    for (const auto& channel : channels_) {
      if (!channel->up()) continue;
      On(*client_, [&] { ++counts[channel->client->info().device]; });
      On(*server_, [&] { ++counts[channel->server->info().device]; });
    }
    return counts;
  }
  // All alike.
  static std::map<std::string, int> Each(int count) {
    std::map<std::string, int> counts;
    for (int i = 0; i < kAdapters; ++i) {
      counts[absl::StrCat("c", i)] = counts[absl::StrCat("s", i)] = count;
    }
    return counts;
  }
  ConnectionInfo InfoOf(Channel& channel) {
    ConnectionInfo info;
    On(*client_, [&] { info = channel.client->info(); });
    return info;
  }

  bool Until(absl::FunctionRef<bool()> done, Duration limit) {
    const TimePoint latest = clock_.Now() + limit;
    while (!done()) {
      if (!Turn() && !Advance(latest)) return false;
    }
    return true;
  }
  void RunFor(Duration span) {
    const TimePoint latest = clock_.Now() + span;
    static_cast<void>(Until([] { return false; }, span));
    clock_.AdvanceTo(latest);
  }

  std::vector<std::unique_ptr<Channel>> channels_;
  bool older_ = false;  // the server

 private:
  static constexpr int kOutside = 32;  // things that happen on the fabric in one turn

  // The devices and addresses of one host only.
  RdmaRigOptions Host(RdmaRigOptions options, const std::string& letter) const {
    options.load = [this]() -> absl::StatusOr<VerbsApi> { return fabric_->api(); };
    std::vector<LocalIp> addresses;
    for (int i = 0; i < kAdapters; ++i) {
      options.rdma.devices.push_back(absl::StrCat(letter, i));
      const auto last = static_cast<uint8_t>(i + 1);
      const auto network = static_cast<uint8_t>(letter == "c" ? 1 : 2);
      addresses.push_back({Address::Ipv4({10, 9, network, last}, 0), absl::StrCat("if_", letter, i),
                           2, /*prefix_bits=*/16});
    }
    options.view.addresses = [addresses] { return addresses; };
    return options;
  }
  static void AsOfTheFirstRelease(std::vector<UpgradeAddress>& offer) {
    for (UpgradeAddress& place : offer) {
      place.rate = 0;
      place.connections.reset();
      place.partition = 0;
    }
    std::sort(offer.begin(), offer.end(), [](const auto& one, const auto& other) {
      return one.address.ToString() < other.address.ToString();
    });
  }
  static EventLoop& LoopOf(RdmaRig& rig) { return rig.loops().at(0); }
  static void On(RdmaRig& rig, absl::FunctionRef<void()> work) {
    while (!LoopOf(rig).TryRun(work)) LoopOf(rig).RunOnce();
  }

  void ConnectToOffer(Channel& channel, const UpgradePass& pass) {
    OfferConnectOptions options;
    options.timeout = std::chrono::seconds(5);
    channel.connecting = client_->transport().ConnectToOffer(
        LoopOf(*client_), channel.offer, pass, options,
        [this, &channel](const std::string& message) {
          LoopOf(*server_).Post([&channel, message] {
            if (channel.awaited != nullptr) channel.awaited->OnSetUp(message);
          });
        },
        [&channel](absl::StatusOr<std::unique_ptr<Connection>> connection) {
          channel.over = connection.status();
          if (connection.ok()) channel.client = *std::move(connection);
        });
  }

  bool Turn() {
    bool worked = client_->Step();
    worked |= server_->Step();
    for (int i = 0; i < kOutside && fabric_->Step(); ++i) worked = true;
    return worked;
  }
  bool Advance(TimePoint latest) {
    std::optional<TimePoint> first;
    for (RdmaRig* const rig : {client_.get(), server_.get()}) {
      rig->Nap();
      const std::optional<TimePoint> next = rig->NextTimer();
      if (next && (!first || *next < *first)) first = next;
    }
    if (!first || *first > latest) return false;
    clock_.AdvanceTo(*first);
    return true;
  }

  SteppedClock clock_;
  std::unique_ptr<FakeFabric> fabric_;
  std::unique_ptr<RdmaRig> client_;
  std::unique_ptr<RdmaRig> server_;
  std::vector<std::unique_ptr<UpgradeTicket>> watches_;
  int tokens_ = 1;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_RDMA_ADAPTERS_TESTING_H_
