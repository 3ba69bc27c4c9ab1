// SPDX-License-Identifier: Apache-2.0
//
// Calls between a client and a server that have RDMA.

#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/large_attachments.h"
#include "rpc/testing/rdma/rdma_pair.h"
#include "rpc/testing/rdma/rdma_peers.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

namespace farcall {
namespace {

TEST(RdmaTest, EchoGoesOverRdmaOnceItIsThere) {
  RdmaPair pair;
  const RdmaPeers peers(pair);
  TestCall first(kWhere);
  first.Call(peers.channel());
  ASSERT_FALSE(first.controller.Failed()) << first.Error();
  const ConnectionInfo& at_first = *first.controller.connection();
  if (at_first.transport == TransportKind::kTcp) {
    EXPECT_EQ(Name(at_first.why_not_rdma), Name(WhyNotRdma::kPending));
  }

  ASSERT_TRUE(peers.ComeToRdma()) << pair.Logs();
  TestCall call(kWhere);
  call.Call(peers.channel());
  const ConnectionInfo& info = *call.controller.connection();
  EXPECT_EQ(info.transport, TransportKind::kRdma);
  EXPECT_EQ(info.device, "fakeA");
  EXPECT_EQ(Name(info.why_not_rdma), Name(WhyNotRdma::kInUse));
  EXPECT_EQ(call.response.message(), "rdma fakeB in_use");
  EXPECT_EQ(pair.client().counts().upgrades, 1u);
}

// All bytes of requests and answers are found on the wire of RDMA, so none took the other.
TEST(RdmaTest, CallsTravelByMessagesOfTheDevice) {
  constexpr int kCalls = 200;
  constexpr size_t kBytes = 1000;
  RdmaPair pair;
  const RdmaPeers peers(pair);
  ASSERT_TRUE(peers.ComeToRdma()) << pair.Logs();
  const FakeCounters a = pair.fabric().counters("fakeA");
  const FakeCounters b = pair.fabric().counters("fakeB");
  for (int i = 0; i < kCalls; ++i) {
    TestCall call(std::string(kBytes, 'x'));
    ASSERT_TRUE(call.Call(peers.channel()).Echoed()) << call.Error();
  }
  for (const auto& [device, before] : {std::pair("fakeA", a), std::pair("fakeB", b)}) {
    const FakeCounters now = pair.fabric().counters(device);
    EXPECT_GE(now.messages_out - before.messages_out, uint64_t{kCalls}) << device;
    EXPECT_GE(now.bytes_out - before.bytes_out, kCalls * kBytes) << device;
  }
}

TEST(RdmaTest, AClientThatDoesNotAskStaysOnTcp) {
  RdmaPair pair;
  ChannelOptions options = Patient();
  options.use_rdma = false;
  const RdmaPeers peers(pair, WithRdma(ServerOptions()), options);
  for (int i = 0; i < 20; ++i) {
    TestCall call(kWhere);
    call.Call(peers.channel());
    ASSERT_EQ(call.response.message(), "tcp  peer_silent") << call.Error();
    EXPECT_EQ(Name(call.controller.connection()->why_not_rdma), Name(WhyNotRdma::kNotAsked));
  }
  EXPECT_EQ(pair.fabric().counters("fakeA").messages_out, 0u);
}

void EchoAttachment(Channel& channel, size_t bytes) {
  TestCall call;
  call.controller.request_attachment().Append(PatternBytes(bytes));
  ASSERT_TRUE(call.Call(channel).Echoed()) << bytes << ": " << call.Error();
  EXPECT_EQ(call.controller.response_attachment().size(), bytes);
  EXPECT_TRUE(IsPattern(call.controller.response_attachment(), bytes)) << bytes;
  EXPECT_EQ(call.controller.connection()->transport, TransportKind::kRdma) << bytes;
}

TEST(RdmaTest, AttachmentsComeWholeAndTheirBlocksComeHome) {
  RdmaPair pair;
  const RdmaPeers peers(pair, WithRdma(LargeBodiesServer()), WithRdma(LargeBodies()));
  ASSERT_TRUE(peers.ComeToRdma()) << pair.Logs();
  for (int i = 0; i < 10; ++i) EchoAttachment(peers.channel(), 100'000);
  const size_t client = pair.client().used_bytes();
  const size_t server = pair.server().used_bytes();
  constexpr size_t kEdge = size_t{64} << 10;
  for (const size_t bytes :
       {size_t{0}, size_t{1}, size_t{4095}, kEdge - 1, kEdge, kEdge + 1, kMiB, 4 * kMiB}) {
    EchoAttachment(peers.channel(), bytes);
  }
  // But for blocks that are partly used.
  EXPECT_TRUE(Eventually([&] { return pair.client().used_bytes() <= client + kMiB; }))
      << pair.client().used_bytes() << " after " << client;
  EXPECT_TRUE(Eventually([&] { return pair.server().used_bytes() <= server + kMiB; }))
      << pair.server().used_bytes() << " after " << server;
}

TEST(RdmaTest, AnAttachmentMayBeMuchLargerThanAllWindows) {
  // The fabric looks at each byte twice more, for which others are small enough.
  RdmaPair pair(SoonAgain(),
                [](FakeFabricOptions& fabric, RdmaRigOptions&) { fabric.check_memory = false; });
  const RdmaPeers peers(pair, WithRdma(LargeBodiesServer()), WithRdma(LargeBodies()));
  ASSERT_TRUE(peers.ComeToRdma()) << pair.Logs();
  EchoAttachment(peers.channel(), 64 * kMiB);
}

TEST(RdmaTest, AServerThatComesAgainIsUsedByRdmaAgain) {
  RdmaPair pair;
  RdmaPeers peers(pair);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(peers.ComeToRdma()) << i << "\n" << pair.Logs();
    peers.Restart();
  }
  EXPECT_TRUE(peers.ComeToRdma()) << pair.Logs();
}

TEST(RdmaTest, TcpCarriesTheCallsWhileRdmaIsSetUp) {
  UpgradeOptions upgrade = SoonAgain();
  upgrade.upgrade.dial = upgrade.upgrade.answer = std::chrono::minutes(1);
  RdmaPair pair(upgrade, [](FakeFabricOptions&, RdmaRigOptions& rig) {
    rig.rdma.connect_timeout = std::chrono::minutes(1);
  });
  // Longer than any test: what the connection manager has to say does not come.
  pair.faults().DelayConnectionEvents(1'000'000'000);
  RdmaPeers peers(pair);
  for (int i = 0; i < 50; ++i) {
    TestCall call(kWhere);
    call.Call(peers.channel());
    ASSERT_EQ(call.response.message(), "tcp  pending") << call.Error();
    EXPECT_EQ(call.controller.connection()->transport, TransportKind::kTcp);
    EXPECT_EQ(Name(call.controller.connection()->why_not_rdma), Name(WhyNotRdma::kPending));
  }
  peers.EndChannel();
  EXPECT_TRUE(Eventually([&] { return peers.server().connection_count() == 0; }));
}

TEST(RdmaTest, AChannelMayEndWhileItsConnectionIsUpgraded) {
  RdmaPair pair;
  const RdmaPeers peers(pair);
  for (int i = 0; i < 40; ++i) {
    const auto channel = peers.Open();
    // Answers of the connection manager come early and late.
    pair.faults().DelayConnectionEvents(static_cast<uint64_t>(i));
    for (int calls = 0; calls <= i % 4; ++calls) {
      TestCall call;
      ASSERT_TRUE(call.Call(*channel).Echoed()) << call.Error();
    }
  }
  pair.faults().DelayConnectionEvents(0);
  EXPECT_TRUE(peers.ComeToRdma()) << pair.Logs();
}

TEST(RdmaTest, TheServersProcessMayEndFirst) {
  RdmaPair pair;
  RdmaPeers peers(pair);
  ASSERT_TRUE(peers.ComeToRdma()) << pair.Logs();
  peers.EndServer();
  pair.EndServer();
  TestCall call;
  call.Call(peers.channel());
  EXPECT_EQ(call.controller.ErrorCode(), kFailedSocket) << call.Error();
}

TEST(RdmaTest, TheClientsProcessMayEndFirst) {
  RdmaPair pair;
  RdmaPeers peers(pair);
  ASSERT_TRUE(peers.ComeToRdma()) << pair.Logs();
  peers.EndChannel();
  pair.EndClient();
  EXPECT_TRUE(Eventually([&] { return peers.server().connection_count() == 0; }));
}

}  // namespace
}  // namespace farcall
