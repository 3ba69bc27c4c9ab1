// SPDX-License-Identifier: Apache-2.0
//
// Targets that cannot be reached, and what carries the calls.

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/raw_peer.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "transport/testing/temp_dir.h"

namespace farcall {
namespace {

// Where somebody listened a moment ago.
std::string ClosedAddress() { return TestServer().address(); }

TEST(ConnectTest, ARefusalNamesAddressAndCause) {
  const std::string address = ClosedAddress();
  TestClient client(address);
  TestCall call;
  call.Call(client.channel());
  EXPECT_EQ(call.controller.ErrorCode(), kFailedSocket);
  EXPECT_EQ(call.controller.ErrorText(),
            absl::StrCat("cannot connect to ", address, ": Connection refused"));
  EXPECT_TRUE(absl::IsUnavailable(call.controller.status()));
  EXPECT_EQ(call.controller.connection(), nullptr);
}

TEST(ConnectTest, CallsAfterARefusalFailWithTheSameCause) {
  TestClient client(ClosedAddress());
  for (int i = 0; i < 200; ++i) {
    TestCall call;
    call.Call(client.channel());
    ASSERT_EQ(call.controller.ErrorCode(), kFailedSocket) << call.Error();
    ASSERT_TRUE(absl::StrContains(call.controller.ErrorText(), "Connection refused"));
  }
}

TEST(ConnectTest, AServerThatComesUpLaterIsFound) {
  const TempDir dir;
  const std::string address = absl::StrCat("unix:", dir.path(), "/later");
  TestClient client(address);
  EXPECT_EQ(TestCall().Call(client.channel()).controller.ErrorCode(), kFailedSocket);
  TestServer server(EchoBack, {}, address);
  EXPECT_TRUE(Eventually([&] { return TestCall().Call(client.channel()).Echoed(); }));
}

TEST(ConnectTest, ANameThatDoesNotResolveIsNamed) {
  // Reserved never to exist, RFC 6761.
  TestClient client("nobody.invalid:80");
  TestCall call;
  call.Call(client.channel());
  EXPECT_EQ(call.controller.ErrorCode(), kFailedSocket);
  EXPECT_TRUE(absl::StrContains(call.controller.ErrorText(), "cannot resolve nobody.invalid"))
      << call.Error();
}

TEST(ConnectTest, AServerOnATakenAddressSaysSo) {
  TestServer first;
  TestRuntime runtime;
  ScriptedService service(EchoBack);
  Server second;
  ASSERT_TRUE(second.AddService(&service, SERVER_DOESNT_OWN_SERVICE).ok());
  ServerOptions options;
  options.runtime = &*runtime;
  const absl::Status started = second.Start(first.address(), options);
  EXPECT_FALSE(started.ok());
  EXPECT_TRUE(absl::StrContains(started.message(), first.address())) << started;
  EXPECT_TRUE(absl::StrContains(started.message(), "Address already in use")) << started;
  // It may be tried again elsewhere.
  EXPECT_TRUE(second.Start("127.0.0.1:0", options).ok());
}

TEST(ConnectTest, RdmaThatWasNotAskedForIsNotMissed) {
  TestServer server;
  TestClient client(server.address());
  TestCall call;
  ASSERT_TRUE(call.Call(client.channel()).Echoed());
  EXPECT_EQ(call.controller.connection()->why_not_rdma, WhyNotRdma::kNotAsked);
  EXPECT_EQ(client.log().All(), "");
  EXPECT_EQ(server.log().All(), "");
}

// RDMA cannot be had, whatever this machine has.
RuntimeOptions NoDevice() {
  RuntimeOptions options = OneLoop();
  options.rdma.devices = {"no_such_device"};
  return options;
}

// Why not, on a machine of whatever kind.
bool IsOfThisHost(WhyNotRdma why) {
  return why == WhyNotRdma::kNoLibrary || why == WhyNotRdma::kNoDevice ||
         why == WhyNotRdma::kDeviceNotPermitted || why == WhyNotRdma::kDeviceExcluded;
}

TEST(ConnectTest, WithUseRdmaCallsTravelOverTcpAndOneLineTellsWhy) {
  WhyNotRdma at_server = WhyNotRdma::kInUse;
  ServerOptions server_options;
  server_options.use_rdma = true;
  TestServer server(
      [&](Controller& controller, const auto& request, auto& response, auto* done) {
        at_server = controller.connection()->why_not_rdma;
        EchoBack(controller, request, response, done);
      },
      server_options);
  ChannelOptions options = Patient();
  options.use_rdma = true;
  TestClient client(server.address(), options, NoDevice());
  WhyNotRdma why = WhyNotRdma::kInUse;
  for (int i = 0; i < 3; ++i) {
    TestCall call;
    ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
    EXPECT_EQ(call.controller.connection()->transport, TransportKind::kTcp);
    why = call.controller.connection()->why_not_rdma;
    EXPECT_TRUE(IsOfThisHost(why)) << Name(why);
  }
  EXPECT_NE(at_server, WhyNotRdma::kInUse);
  EXPECT_NE(at_server, WhyNotRdma::kNotAsked);
  const std::string line = absl::StrCat("calls with ", server.address(), " travel over TCP: ");
  EXPECT_EQ(client.log().Count(line), 1) << client.log().All();
  EXPECT_EQ(client.log().Count(absl::StrCat(line, Explain(why))), 1) << client.log().All();
  const UpgradeCounts counts = (*client.runtime()).upgrade_counts();
  EXPECT_EQ(counts.upgrades, 0u);
  EXPECT_EQ(counts.fallbacks[static_cast<size_t>(why)], 1u);
}

TEST(ConnectTest, OnlyClientsOfTheProtocolAreCountedAsWithoutRdma) {
  ServerOptions options;
  options.use_rdma = true;
  TestServer server(EchoBack, options);
  const auto missed = [&] {
    const UpgradeCounts counts = (*server.runtime()).upgrade_counts();
    return counts.fallbacks[static_cast<size_t>(WhyNotRdma::kPeerSilent)];
  };
  for (const absl::string_view opening : {"GET /health HTTP/1.0\r\n\r\n", "garbage of 18 bytes"}) {
    RawPeer peer(server.address());
    EXPECT_TRUE(peer.Send(opening));
    EXPECT_TRUE(peer.WaitForEnd()) << opening;
  }
  EXPECT_EQ(missed(), 0u);
  TestClient client(server.address());
  TestCall call;
  ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  EXPECT_EQ(missed(), 1u);
}

TEST(ConnectTest, AServerWithoutRdmaSaysSoToAClientThatWantsIt) {
  TestServer server;
  ChannelOptions options = Patient();
  options.use_rdma = true;
  TestClient client(server.address(), options);
  TestCall call;
  ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  EXPECT_EQ(call.controller.connection()->transport, TransportKind::kTcp);
  const WhyNotRdma why = call.controller.connection()->why_not_rdma;
  EXPECT_TRUE(why == WhyNotRdma::kPeerOff || IsOfThisHost(why)) << Name(why);
}

TEST(ConnectTest, WithRequireRdmaCallsFailWithTheReason) {
  TestServer server;
  ChannelOptions options = Patient();
  options.require_rdma = true;
  TestClient client(server.address(), options, NoDevice());
  TestCall synchronous;
  synchronous.Call(client.channel());
  EXPECT_EQ(synchronous.controller.ErrorCode(), kRdma) << synchronous.Error();
  EXPECT_TRUE(absl::StrContains(synchronous.controller.ErrorText(), "RDMA")) << synchronous.Error();
  EXPECT_TRUE(absl::StrContains(synchronous.controller.ErrorText(), server.address()))
      << synchronous.Error();
  TestCall with_closure;
  with_closure.Start(client.channel());
  ASSERT_TRUE(with_closure.Wait());
  EXPECT_EQ(with_closure.controller.ErrorCode(), kRdma);
}

TEST(ConnectTest, WithRequireRdmaAServerDoesNotStart) {
  TestRuntime runtime(NoDevice());
  Server server;
  ServerOptions options;
  options.runtime = &*runtime;
  options.require_rdma = true;
  const absl::Status started = server.Start("127.0.0.1:0", options);
  ASSERT_TRUE(CarriesReason(started)) << started;
  EXPECT_TRUE(IsOfThisHost(ReasonOf(started))) << started;
  EXPECT_TRUE(absl::StrContains(started.message(), Explain(ReasonOf(started)))) << started;
}

}  // namespace
}  // namespace farcall
