// SPDX-License-Identifier: Apache-2.0
//
// RDMA beside TLS: where both ends allow it, and where one does not.

#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "rpc/testing/rdma/rdma_pair.h"
#include "rpc/testing/rdma/rdma_peers.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "transport/tls/testing/test_certificates.h"

namespace farcall {
namespace {

ServerOptions ForServer(TestCa& ca, RdmaWithTls with_tls) {
  ServerOptions options = WithRdma(ServerOptions());
  options.tls = std::make_shared<const ServerTlsOptions>(ca.Server());
  options.rdma_with_tls = with_tls;
  return options;
}

ChannelOptions ForClient(const TestCa& ca, RdmaWithTls with_tls) {
  ChannelOptions options = WithRdma(Patient());
  options.tls = std::make_shared<const ClientTlsOptions>(ca.Client());
  options.rdma_with_tls = with_tls;
  return options;
}

TEST(RdmaTlsTest, WhereBothEndsAllowItRdmaIsSetUpOverTls) {
  TestCa ca;
  RdmaPair pair;
  const RdmaPeers peers(pair, ForServer(ca, RdmaWithTls::kAllow),
                        ForClient(ca, RdmaWithTls::kAllow));
  ASSERT_TRUE(peers.ComeToRdma()) << pair.Logs();
  TestCall call(std::string(100'000, 'r'));
  ASSERT_TRUE(call.Call(peers.channel()).Echoed()) << call.Error();
  EXPECT_EQ(call.controller.connection()->transport, TransportKind::kRdma);
  EXPECT_TRUE(absl::StartsWith(call.controller.connection()->tls, "TLSv1.3"));
}

TEST(RdmaTlsTest, RequiredAndAllowedItCarriesTheFirstCall) {
  TestCa ca;
  RdmaPair pair;
  ChannelOptions options = ForClient(ca, RdmaWithTls::kAllow);
  options.require_rdma = true;
  const RdmaPeers peers(pair, ForServer(ca, RdmaWithTls::kAllow), options);
  TestCall call(kWhere);
  call.Call(peers.channel());
  ASSERT_FALSE(call.controller.Failed()) << call.Error() << pair.Logs();
  EXPECT_EQ(call.response.message(), "rdma fakeB in_use");
}

TEST(RdmaTlsTest, WhatTheServerRefusesIsToldAtBothEnds) {
  TestCa ca;
  RdmaPair pair;
  const RdmaPeers peers(pair, ForServer(ca, RdmaWithTls::kRefuse),
                        ForClient(ca, RdmaWithTls::kAllow));
  for (int i = 0; i < 3; ++i) {
    TestCall call(kWhere);
    call.Call(peers.channel());
    ASSERT_FALSE(call.controller.Failed()) << call.Error();
    EXPECT_EQ(call.response.message(), "tcp  tls");
    EXPECT_EQ(Name(call.controller.connection()->why_not_rdma), Name(WhyNotRdma::kTls));
  }
}

TEST(RdmaTlsTest, WhatTheClientRefusesItTells) {
  TestCa ca;
  RdmaPair pair;
  const RdmaPeers peers(pair, ForServer(ca, RdmaWithTls::kAllow),
                        ForClient(ca, RdmaWithTls::kRefuse));
  TestCall call;
  ASSERT_TRUE(call.Call(peers.channel()).Echoed()) << call.Error();
  EXPECT_EQ(call.controller.connection()->transport, TransportKind::kTcp);
  EXPECT_EQ(Name(call.controller.connection()->why_not_rdma), Name(WhyNotRdma::kTls));
}

}  // namespace
}  // namespace farcall
