// SPDX-License-Identifier: Apache-2.0
//
// Calls on brpc's wire, between a channel and a server of this library: the channel takes the
// server for brpc.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/http_peer.h"
#include "rpc/testing/large_attachments.h"
#include "rpc/testing/rdma/rdma_pair.h"
#include "rpc/testing/rdma/rdma_peers.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "transport/address.h"

namespace farcall {
namespace {

class RdmaBrpcTest : public testing::Test {
 protected:
  RdmaBrpcTest()
      : pair_(SoonAgain(),
              [](FakeFabricOptions&, RdmaRigOptions& rig) { rig.rdma.set_up = RdmaSetUp::kAuto; }) {
    ServerOptions server = WithRdma(ServerOptions());
    server.runtime = &pair_.server().runtime();
    server_ = std::make_unique<TestServer>(EchoOrWhere, server);
    pair_.client().TakeForBrpc(*Address::Parse(server_->address()));
    channel_ = OpenChannel(server_->address(), pair_.client().runtime(), MayBeBrpc());
  }
  ~RdmaBrpcTest() override {
    channel_.reset();
    server_.reset();
    for (const char* device : {"fakeA", "fakeB"}) {
      EXPECT_EQ(pair_.fabric().counters(device).rnrs, 0u);
    }
  }

  static ChannelOptions MayBeBrpc() {
    ChannelOptions options = WithRdma(Patient());
    options.rdma_peers_may_be_brpc = true;
    return options;
  }

  RdmaPair pair_;
  std::unique_ptr<TestServer> server_;
  std::unique_ptr<Channel> channel_;
};

TEST_F(RdmaBrpcTest, TheFirstCallTravelsByRdma) {
  TestCall call(kWhere);
  call.Call(*channel_);
  ASSERT_FALSE(call.controller.Failed()) << call.Error() << pair_.Logs();
  EXPECT_EQ(call.response.message(), "rdma fakeB in_use");
  const ConnectionInfo& info = *call.controller.connection();
  EXPECT_EQ(info.transport, TransportKind::kRdma);
  EXPECT_EQ(info.wire, "brpc");
  EXPECT_EQ(info.device, "fakeA");
  EXPECT_FALSE(info.linked);
  EXPECT_EQ(pair_.client().counts().upgrades, 1u);
  EXPECT_EQ(pair_.server().counts().upgrades, 1u);
}

TEST_F(RdmaBrpcTest, TheStatusNamesTheWire) {
  TestCall(kWhere).Call(*channel_);
  const std::string client = pair_.client().runtime().Dump();
  EXPECT_TRUE(absl::StrContains(client, "wire brpc, ")) << client;
  const auto server = HttpPeer(server_->address()).Ask(HttpGet("/status"));
  ASSERT_TRUE(server.has_value());
  EXPECT_TRUE(absl::StrContains(server->body, R"("set_up":"brpc","wire":"brpc")")) << server->body;
}

TEST_F(RdmaBrpcTest, LargeAttachmentsAndManyCallsAtOnce) {
  const std::string large = PatternBytes(5 * kMiB + 12'345);
  std::vector<std::unique_ptr<TestCall>> calls;
  for (int i = 0; i < 40; ++i) {
    calls.push_back(std::make_unique<TestCall>("hello"));
    if (i % 8 == 0) calls.back()->controller.request_attachment().Append(large);
    calls.back()->Start(*channel_);
  }
  for (size_t i = 0; i < calls.size(); ++i) {
    ASSERT_TRUE(Eventually([&] { return calls[i]->ends() > 0; }));
    EXPECT_TRUE(calls[i]->Echoed()) << calls[i]->Error();
    if (i % 8 != 0) continue;
    EXPECT_TRUE(IsPattern(calls[i]->controller.response_attachment(), large.size()));
  }
}

TEST_F(RdmaBrpcTest, CallsGoOnOverAnotherQueuePairWhenOneBreaks) {
  TestCall(kWhere).Call(*channel_);
  for (int i = 0; i < 5; ++i) {
    const std::vector<uint32_t> pairs = pair_.faults().QueuePairs(i % 2 == 0 ? "fakeA" : "fakeB");
    ASSERT_FALSE(pairs.empty());
    pair_.faults().BreakQueuePair(pairs.back());
    ASSERT_TRUE(Eventually([&] {
      TestCall call(kWhere);
      call.Call(*channel_);
      return call.response.message() == "rdma fakeB in_use" &&
             pair_.client().counts().upgrades >= static_cast<uint64_t>(i) + 2;
    })) << pair_.Logs();
  }
}

TEST_F(RdmaBrpcTest, AServerThatStopsAnswersWhatItHas) {
  TestCall call("hello");
  ASSERT_TRUE(call.Call(*channel_).Echoed());
  server_.reset();
  TestCall late("hello");
  late.Call(*channel_);
  EXPECT_TRUE(late.controller.Failed());
}

}  // namespace
}  // namespace farcall
