// SPDX-License-Identifier: Apache-2.0
//
// Targets that cannot be reached, and what carries the calls.

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "transport/testing/temp_dir.h"

namespace farcall {
namespace {

// Where somebody listened a moment ago.
std::string NobodysAddress() { return TestServer().address(); }

TEST(ConnectTest, ARefusalNamesAddressAndCause) {
  const std::string address = NobodysAddress();
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
  TestClient client(NobodysAddress());
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
  TestClient client(server.address(), options);
  for (int i = 0; i < 3; ++i) {
    TestCall call;
    ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
    EXPECT_EQ(call.controller.connection()->transport, TransportKind::kTcp);
    EXPECT_EQ(call.controller.connection()->why_not_rdma, WhyNotRdma::kNotBuiltIn);
  }
  EXPECT_EQ(at_server, WhyNotRdma::kNotBuiltIn);
  EXPECT_EQ(client.log().Count("no RDMA transport built in"), 1) << client.log().All();
  EXPECT_EQ(client.log().Count(server.address()), 1) << client.log().All();
  EXPECT_EQ(server.log().Count("no RDMA transport built in"), 1) << server.log().All();
}

TEST(ConnectTest, WithRequireRdmaCallsFailWithTheReason) {
  TestServer server;
  ChannelOptions options = Patient();
  options.require_rdma = true;
  TestClient client(server.address(), options);
  TestCall synchronous;
  synchronous.Call(client.channel());
  EXPECT_EQ(synchronous.controller.ErrorCode(), kRdma);
  EXPECT_TRUE(absl::StrContains(synchronous.controller.ErrorText(), "no RDMA transport built in"))
      << synchronous.Error();
  EXPECT_TRUE(absl::StrContains(synchronous.controller.ErrorText(), server.address()));
  TestCall with_closure;
  with_closure.Start(client.channel());
  ASSERT_TRUE(with_closure.Wait());
  EXPECT_EQ(with_closure.controller.ErrorCode(), kRdma);
  EXPECT_EQ(server.server().connection_count(), 0);
}

TEST(ConnectTest, WithRequireRdmaAServerDoesNotStart) {
  TestRuntime runtime;
  Server server;
  ServerOptions options;
  options.runtime = &*runtime;
  options.require_rdma = true;
  const absl::Status started = server.Start("127.0.0.1:0", options);
  EXPECT_TRUE(absl::IsUnavailable(started)) << started;
  EXPECT_TRUE(absl::StrContains(started.message(), "require_rdma")) << started;
  EXPECT_TRUE(absl::StrContains(started.message(), "no RDMA transport built in")) << started;
}

}  // namespace
}  // namespace farcall
