// SPDX-License-Identifier: Apache-2.0
//
// require_rdma; and peers that have no RDMA or do not know of it.

#include <atomic>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/kept_answers.h"
#include "rpc/testing/raw_peer.h"
#include "rpc/testing/rdma/rdma_pair.h"
#include "rpc/testing/rdma/rdma_peers.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

namespace farcall {
namespace {

template <typename Options>
Options Requiring(Options options) {
  options.require_rdma = true;
  return options;
}

void FailsFor(Channel& channel, WhyNotRdma why) {
  TestCall call;
  call.Call(channel);
  EXPECT_EQ(call.controller.ErrorCode(), kRdma) << call.Error();
  EXPECT_TRUE(absl::StrContains(call.controller.ErrorText(), Explain(why))) << call.Error();
}

TEST(RdmaRequireTest, CallsTravelByRdmaFromTheFirst) {
  RdmaPair pair;
  const RdmaPeers peers(pair, Requiring(ServerOptions()), Requiring(Patient()));
  for (int i = 0; i < 20; ++i) {
    TestCall call(kWhere);
    call.Call(peers.channel());
    ASSERT_FALSE(call.controller.Failed()) << call.Error() << "\n" << pair.Logs();
    EXPECT_EQ(call.controller.connection()->transport, TransportKind::kRdma);
    EXPECT_EQ(call.response.message(), "rdma fakeB in_use");
  }
}

TEST(RdmaRequireTest, AServerWithoutUseRdmaIsTheReason) {
  RdmaPair pair;
  const RdmaPeers peers(pair, ServerOptions(), Requiring(Patient()));
  FailsFor(peers.channel(), WhyNotRdma::kPeerOff);
}

TEST(RdmaRequireTest, WhereItIsNotRequiredAServerWithoutUseRdmaIsCalledOverTcp) {
  RdmaPair pair;
  const RdmaPeers peers(pair, ServerOptions());
  TestCall call;
  ASSERT_TRUE(call.Call(peers.channel()).Echoed()) << call.Error();
  EXPECT_EQ(Name(call.controller.connection()->why_not_rdma), Name(WhyNotRdma::kPeerOff));
}

// A pair whose hosts lack something.
struct Lack {
  const char* name;
  WhyNotRdma why;
  FakeRdma::Change change;  // before it begins
  bool removed = false;     // all devices, at the beginning
};
void PrintTo(const Lack& lack, std::ostream* out) { *out << lack.name; }

std::vector<Lack> Lacks() {
  return {
      {"NoDevice", WhyNotRdma::kNoDevice, nullptr, true},
      {"NotPermitted", WhyNotRdma::kDeviceNotPermitted,
       [](FakeFabricOptions& fabric, RdmaRigOptions&) {
         for (FakeDeviceOptions& device : fabric.devices) device.permitted = false;
       }},
      {"Excluded", WhyNotRdma::kDeviceExcluded,
       [](FakeFabricOptions&, RdmaRigOptions& rig) { rig.rdma.devices = {"another"}; }},
      {"NoActivePort", WhyNotRdma::kNoActivePort,
       [](FakeFabricOptions& fabric, RdmaRigOptions&) {
         for (FakeDeviceOptions& device : fabric.devices) device.port_active = false;
       }},
  };
}

class RdmaLackTest : public testing::TestWithParam<Lack> {
 protected:
  RdmaLackTest() : pair_(SoonAgain(), GetParam().change) {
    if (!GetParam().removed) return;
    for (const char* const name : {"fakeA", "fakeB", "fakeC"}) {
      pair_.faults().RemoveDevice(name, true);
    }
  }

  RdmaPair pair_;
};

TEST_P(RdmaLackTest, FailsTheCallsThatRequireRdma) {
  const RdmaPeers peers(pair_, WithRdma(ServerOptions()), Requiring(Patient()));
  FailsFor(peers.channel(), GetParam().why);
}

TEST_P(RdmaLackTest, FailsTheStartOfAServerThatRequiresRdma) {
  ServerOptions options = Requiring(ServerOptions());
  options.runtime = &pair_.server().runtime();
  Server server;
  const absl::Status started = server.Start("127.0.0.1:0", options);
  EXPECT_EQ(Name(ReasonOf(started)), Name(GetParam().why)) << started;
  EXPECT_TRUE(absl::StrContains(started.message(), Explain(GetParam().why))) << started;
}

TEST_P(RdmaLackTest, LeavesOthersOnTcpWithTheReason) {
  const RdmaPeers peers(pair_);
  TestCall call;
  ASSERT_TRUE(call.Call(peers.channel()).Echoed()) << call.Error();
  const ConnectionInfo& info = *call.controller.connection();
  EXPECT_EQ(info.transport, TransportKind::kTcp);
  EXPECT_EQ(Name(info.why_not_rdma), Name(GetParam().why)) << info.why_detail;
}

INSTANTIATE_TEST_SUITE_P(Rdma, RdmaLackTest, testing::ValuesIn(Lacks()),
                         [](const auto& lack) { return std::string(lack.param.name); });

TEST(RdmaRequireTest, AConnectionThatFallsBackFailsItsCallsUntilRdmaIsThereAgain) {
  RdmaPair pair;
  KeptAnswers kept;
  const EchoHandler keep = kept.Handler();
  const EchoHandler echo = [&](Controller& controller, const test::EchoRequest& request,
                               test::EchoResponse& response, google::protobuf::Closure* done) {
    (request.message() == "keep" ? keep : EchoHandler(EchoOrWhere))(controller, request, response,
                                                                    done);
  };
  const RdmaPeers peers(pair, WithRdma(ServerOptions()), Requiring(Patient()), echo);
  ASSERT_TRUE(peers.ComeToRdma()) << pair.Logs();
  TestCall under_way("keep");
  under_way.Start(peers.channel());
  ASSERT_TRUE(kept.Wait(1));

  pair.faults().RemoveDevice("fakeB", true);
  ASSERT_TRUE(under_way.Wait());
  EXPECT_EQ(under_way.controller.ErrorCode(), kRdma) << under_way.Error();
  EXPECT_TRUE(absl::StrContains(under_way.controller.ErrorText(), Explain(WhyNotRdma::kBroken)))
      << under_way.Error();
  TestCall later;
  later.Call(peers.channel());
  EXPECT_EQ(later.controller.ErrorCode(), kRdma) << later.Error();

  EXPECT_TRUE(Eventually([&] { return pair.faults().AddDevice("fakeB"); })) << pair.Logs();
  EXPECT_TRUE(peers.ComeToRdma()) << pair.Logs();
  kept.RunAll();
}

// A server that speaks baidu_std and nothing else: what it does not understand it leaves
// unanswered, or closes the connection.
class PlainServer {
 public:
  explicit PlainServer(bool closes) : closes_(closes), accepting_([this] { Accept(); }) {}
  ~PlainServer() {
    stop_ = true;
    // Wakes who accepts.
    RawPeer(listener_.address()).Close();
    accepting_.join();
    for (std::thread& thread : serving_) thread.join();
  }
  const std::string& address() const { return listener_.address(); }

 private:
  void Accept() {
    while (!stop_) {
      serving_.emplace_back(
          [this, peer = std::make_shared<RawPeer>(listener_.Accept())] { Serve(*peer); });
    }
  }
  void Serve(RawPeer& peer) const {
    while (const std::optional<Frame> frame = peer.Receive()) {
      wire::RpcMeta meta;
      meta.mutable_response()->set_error_code(0);
      meta.set_correlation_id(frame->meta.correlation_id());
      test::EchoResponse response;
      response.set_message("plain");
      peer.Send(FrameBytes(meta, &response));
    }
    if (!closes_ && !peer.WaitForEnd()) ADD_FAILURE() << "the connection is not closed";
  }

  const bool closes_;
  RawListener listener_;
  std::atomic<bool> stop_{false};
  std::vector<std::thread> serving_;
  std::thread accepting_;
};

class PlainServerTest : public testing::TestWithParam<bool> {
 protected:
  // The server's silence is found soon, and devices in any case.
  static UpgradeOptions Upgrade() {
    UpgradeOptions options;
    options.probe_timeout = kTestTimeout;
    return options;
  }
};

TEST_P(PlainServerTest, IsCalledPlainly) {
  PlainServer server(GetParam());
  RdmaPair pair{Upgrade()};
  const auto channel = OpenChannel(server.address(), pair.client().runtime(), WithRdma(Patient()));
  for (int i = 0; i < 10; ++i) {
    TestCall call;
    call.Call(*channel);
    ASSERT_EQ(call.response.message(), "plain") << call.Error();
    EXPECT_EQ(Name(call.controller.connection()->why_not_rdma), Name(WhyNotRdma::kPeerSilent));
  }
}

TEST_P(PlainServerTest, IsTheReasonWhereRdmaIsRequired) {
  PlainServer server(GetParam());
  RdmaPair pair{Upgrade()};
  const auto channel = OpenChannel(server.address(), pair.client().runtime(), Requiring(Patient()));
  for (int i = 0; i < 3; ++i) FailsFor(*channel, WhyNotRdma::kPeerSilent);
}

INSTANTIATE_TEST_SUITE_P(Rdma, PlainServerTest, testing::Bool(), [](const auto& closes) {
  return std::string(closes.param ? "Closing" : "Silent");
});

}  // namespace
}  // namespace farcall
