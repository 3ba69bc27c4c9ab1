// SPDX-License-Identifier: Apache-2.0
//
// What a runtime and a server tell of RDMA while it is used, breaks and comes back.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/rdma/rdma_pair.h"
#include "rpc/testing/rdma/rdma_peers.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

namespace farcall {
namespace {

constexpr uint32_t kVendorError = 0x8a;

class RdmaStatusTest : public testing::Test {
 protected:
  RdmaDeviceStatus DeviceOf(RdmaEnd& end, const std::string& name) {
    const RdmaStatus status = end.runtime().status().rdma;
    EXPECT_TRUE(status.answered);
    for (const RdmaDeviceStatus& device : status.devices) {
      if (device.name == name) return device;
    }
    return {};
  }
  RdmaDeviceStatus Client() { return DeviceOf(pair_.client(), "fakeA"); }
  RdmaDeviceStatus Server() { return DeviceOf(pair_.server(), "fakeB"); }
  static uint64_t Count(const std::vector<NamedCount>& counts, const std::string& name) {
    for (const NamedCount& one : counts) {
      if (one.name == name) return one.count;
    }
    return 0;
  }
  void Call(size_t attachment = 0) {
    TestCall call("hello");
    call.controller.request_attachment().Append(std::string(attachment, 'x'));
    call.Call(peers_->channel());
    EXPECT_FALSE(call.controller.Failed()) << call.Error();
  }
  void Start() {
    peers_ = std::make_unique<RdmaPeers>(pair_);
    ASSERT_TRUE(peers_->ComeToRdma()) << pair_.Logs();
  }
  // Calls go on until `end` has fallen back more often than `before`.
  [[nodiscard]] bool FallBack(RdmaEnd& end, uint64_t before) {
    return Eventually([&] {
      Call();
      uint64_t now = 0;
      for (const uint64_t count : end.counts().fallbacks) now += count;
      return now > before;
    });
  }

  RdmaPair pair_;
  std::unique_ptr<RdmaPeers> peers_;
};

TEST_F(RdmaStatusTest, BeforeAnybodyAsksNothingIsLookedFor) {
  const RdmaStatus status = pair_.client().runtime().status().rdma;
  EXPECT_TRUE(status.answered);
  EXPECT_FALSE(status.looked);
  EXPECT_TRUE(status.devices.empty());
  EXPECT_TRUE(absl::StrContains(pair_.client().runtime().Dump(), "\nlooked no\n"));
}

TEST_F(RdmaStatusTest, ADeviceInUseCountsWhatItCarries) {
  Start();
  const RdmaDeviceStatus before = Client();
  constexpr size_t kBytes = 100'000;
  Call(kBytes);
  const RdmaDeviceStatus client = Client();
  EXPECT_TRUE(client.present);
  EXPECT_TRUE(client.open);
  EXPECT_EQ(client.why, WhyNotRdma::kInUse);
  EXPECT_EQ(client.link_layer, "RoCE");
  ASSERT_EQ(client.ports.size(), 1u);
  EXPECT_TRUE(client.ports[0].active);
  EXPECT_GT(client.ports[0].mtu_bytes, 0u);
  EXPECT_FALSE(client.addresses.empty());
  EXPECT_GE(client.queue_pairs, 1u);
  EXPECT_GE(client.traffic.connections, 1u);
  EXPECT_GE(client.traffic.bytes_out - before.traffic.bytes_out, kBytes);
  EXPECT_GT(client.traffic.messages_out, before.traffic.messages_out);
  EXPECT_GT(client.traffic.messages_in, before.traffic.messages_in);
  EXPECT_GT(client.traffic.doorbells, before.traffic.doorbells);
  EXPECT_LE(client.traffic.doorbells, client.traffic.messages_out);
  EXPECT_GT(client.traffic.completions, before.traffic.completions);
  EXPECT_GT(client.traffic.receives_posted, 0u);
  EXPECT_GT(client.traffic.receives_promised, 0u);
  EXPECT_GE(client.traffic.receive_slots, client.traffic.receives_posted);
  const RdmaDeviceStatus server = Server();
  EXPECT_GE(server.traffic.bytes_in, kBytes);
  const RdmaMemoryStatus memory = pair_.server().runtime().status().rdma.memory;
  EXPECT_GT(memory.registered_bytes, 0u);
  EXPECT_GT(memory.registrations, 0u);
  EXPECT_EQ(memory.failures, 0u);
}

TEST_F(RdmaStatusTest, AConnectionTellsOfItsRdma) {
  Start();
  Call();
  TestCall call(kWhere);
  call.Call(peers_->channel());
  const RdmaUse use = call.controller.connection()->rdma;
  EXPECT_GE(use.generation, 1u);
  EXPECT_GE(use.credits, 1u);
  EXPECT_EQ(use.upgrades, 1u);
  EXPECT_EQ(use.fallbacks, 0u);
  EXPECT_GE(use.messages_out, 1u);
}

TEST_F(RdmaStatusTest, ABreakIsCountedByStatusAndToldWithTheVendorsError) {
  Start();
  pair_.faults().FailSend("fakeA", 1, IBV_WC_RETRY_EXC_ERR, kVendorError);
  ASSERT_TRUE(FallBack(pair_.client(), 0));
  EXPECT_EQ(Count(Client().traffic.breaks, "retry_exc_err"), 1u);
  const std::string dump = pair_.client().runtime().Dump();
  EXPECT_TRUE(absl::StrContains(dump, "travels over TCP: broken")) << dump;
  EXPECT_TRUE(absl::StrContains(dump, "\nloops:\n  answered yes, ")) << dump;
  EXPECT_TRUE(absl::StrContains(dump, "\n  server 127.0.0.1:")) << dump;
  // The server hears of the break, too: where it gives the generation up before the client has seen
  // its own completion through, that is the client's reason.
  EXPECT_TRUE(absl::StrContains(dump, "vendor error 0x8a") ||
              absl::StrContains(dump, "the peer gave it up"))
      << dump;
  EXPECT_TRUE(absl::StrContains(dump, "breaks (retry_exc_err 1")) << dump;
  ASSERT_TRUE(peers_->ComeToRdma()) << pair_.Logs();
  TestCall call(kWhere);
  call.Call(peers_->channel());
  const RdmaUse use = call.controller.connection()->rdma;
  EXPECT_GE(use.generation, 2u);
  EXPECT_EQ(use.upgrades, 2u);
  EXPECT_EQ(use.fallbacks, 1u);
  EXPECT_EQ(use.last_fallback, WhyNotRdma::kBroken);
}

TEST_F(RdmaStatusTest, EventsOfTheDeviceAreCountedByType) {
  Start();
  pair_.faults().SetPort("fakeB", false);
  EXPECT_TRUE(Eventually([&] {
    const RdmaDeviceStatus device = Server();
    return Count(device.events, "port_err") == 1;
  }));
  pair_.faults().SetPort("fakeB", true);
  EXPECT_TRUE(Eventually([&] { return Count(Server().events, "port_active") == 1; }));
  EXPECT_TRUE(peers_->ComeToRdma()) << pair_.Logs();
}

TEST_F(RdmaStatusTest, CountsOutliveTheDevice) {
  Start();
  Call(100'000);
  const uint64_t bytes = Server().traffic.bytes_in;
  pair_.faults().RemoveDevice("fakeB", /*flush=*/true);
  EXPECT_TRUE(Eventually([&] { return Server().removals == 1 && !Server().present; }));
  const RdmaDeviceStatus gone = Server();
  EXPECT_EQ(gone.why, WhyNotRdma::kNoDevice);
  EXPECT_GE(gone.traffic.bytes_in, bytes);
  EXPECT_EQ(gone.traffic.connections, 0u);
  EXPECT_EQ(gone.traffic.receives_posted, 0u);
  EXPECT_EQ(gone.queue_pairs, 0u);
  EXPECT_TRUE(Eventually([&] { return pair_.faults().AddDevice("fakeB"); }));
  ASSERT_TRUE(peers_->ComeToRdma()) << pair_.Logs();
  EXPECT_TRUE(Server().present);
  EXPECT_EQ(Server().removals, 1u);
  EXPECT_GT(Server().traffic.connections_ever, gone.traffic.connections_ever);
  EXPECT_TRUE(absl::StrContains(pair_.server().runtime().Dump(), "fakeB was removed"));
}

TEST_F(RdmaStatusTest, EventsTellWhenAConnectionWentOver) {
  Start();
  const std::string dump = pair_.server().runtime().Dump();
  EXPECT_TRUE(absl::StrContains(dump, "RDMA devices: fakeB (RoCE)")) << dump;
  EXPECT_TRUE(absl::StrContains(dump, "went over to RDMA")) << dump;
  EXPECT_TRUE(absl::StrContains(dump, "upgrades 1")) << dump;
}

TEST_F(RdmaStatusTest, ASenderWithoutCreditsIsSeenToWait) {
  Start();
  // More than all credits and slots hold at once.
  Call(size_t{16} << 20);
  const RdmaTraffic traffic = Client().traffic;
  EXPECT_GT(traffic.credit_waits + traffic.slot_waits, 0u);
}

}  // namespace
}  // namespace farcall
