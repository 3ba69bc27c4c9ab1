// SPDX-License-Identifier: Apache-2.0
//
// Many connections that are opened in the same moment: all use RDMA soon. In virtual time, with the
// pauses of a program, over both ways of set-up.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "rpc/testing/rdma/many_channels.h"
#include "rpc/testing/rdma/rdma_peers.h"
#include "rpc/testing/rdma/stepped_rdma.h"
#include "rpc/testing/test_call.h"
#include "transport/base/sanitizer.h"

namespace farcall {
namespace {

constexpr char kAddress[] = "10.0.0.1:80";
// One thread turns all loops, and a second one does no more than stop the server.
constexpr size_t kConnections = kThreadSanitizer ? 24 : 240;
constexpr Duration kAllAreThere = std::chrono::seconds(2);

class RdmaManyAtOnceTest : public testing::TestWithParam<RdmaSetUp> {
 protected:
  RdmaManyAtOnceTest()
      : hosts_(
            [](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
              WithDefaultReceives(fabric, rig);
              rig.rdma.set_up = GetParam();
            },
            UpgradeOptions()) {
    ServerOptions options = WithRdma(Inline());
    options.runtime = &hosts_.server().runtime();
    EXPECT_TRUE(server_->AddService(&service_, SERVER_DOESNT_OWN_SERVICE).ok());
    EXPECT_TRUE(server_->Start(kAddress, options).ok());
  }
  ~RdmaManyAtOnceTest() override {
    channels_.clear();
    hosts_.Stop(std::move(server_));
    EXPECT_EQ(hosts_.End(), "");
  }

  // Calls on all at once; how many travelled by RDMA.
  size_t CallAll() {
    std::vector<std::unique_ptr<TestCall>> calls;
    for (const auto& channel : channels_) {
      calls.push_back(std::make_unique<TestCall>(kWhere));
      calls.back()->Start(*channel);
    }
    const auto ended = [&] {
      for (const auto& call : calls) {
        if (call->ends() == 0) return false;
      }
      return true;
    };
    EXPECT_TRUE(hosts_.Until(ended, std::chrono::seconds(10)));
    size_t by_rdma = 0;
    for (const auto& call : calls) {
      EXPECT_FALSE(call->controller.Failed()) << call->Error();
      by_rdma += absl::StartsWith(call->response.message(), "rdma ") ? 1 : 0;
    }
    return by_rdma;
  }

  SteppedRdma hosts_;
  ScriptedService service_{EchoOrWhere};
  std::unique_ptr<Server> server_ = std::make_unique<Server>();
  Channels channels_;
};

TEST_P(RdmaManyAtOnceTest, AllUseRdmaWithinTwoSecondsAndNoneIsDead) {
  for (size_t i = 0; i < kConnections; ++i) {
    channels_.push_back(OpenChannel(kAddress, hosts_.client().runtime(), WithRdma(Patient())));
  }
  const TimePoint begun = hosts_.now();
  size_t by_rdma = 0;
  while (by_rdma < kConnections && hosts_.now() - begun < kAllAreThere) {
    by_rdma = CallAll();
    hosts_.RunFor(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(by_rdma, kConnections) << hosts_.client().Log();
  EXPECT_EQ(hosts_.fabric().faults().QueuePairs("fakeB").size(), kConnections);
}

INSTANTIATE_TEST_SUITE_P(BothWays, RdmaManyAtOnceTest,
                         testing::Values(RdmaSetUp::kRdmaCm, RdmaSetUp::kOverTcp),
                         [](const auto& of) { return std::string(ToString(of.param)); });

}  // namespace
}  // namespace farcall
