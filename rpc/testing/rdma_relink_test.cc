// SPDX-License-Identifier: Apache-2.0
//
// A channel that begins while one of the hosts has no RDMA: its plain connection is replaced when
// there is, under the calls. In virtual time.

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "rpc/testing/rdma_peers.h"
#include "rpc/testing/stepped_rdma.h"
#include "rpc/testing/test_call.h"
#include "transport/rdma/testing/fault_run.h"

namespace farcall {
namespace {

using std::chrono::seconds;

constexpr char kAddress[] = "10.0.0.1:80";
constexpr Duration kSoon = seconds(20);

class RdmaRelinkTest : public testing::TestWithParam<ConnectionType> {
 protected:
  RdmaRelinkTest() : hosts_(SmallRdma) {}
  ~RdmaRelinkTest() override {
    channel_ = nullptr;
    hosts_.Stop(std::move(server_));
    EXPECT_EQ(hosts_.End(), "");
  }

  void Start() {
    ServerOptions options = WithRdma(Inline());
    options.runtime = &hosts_.server().runtime();
    ASSERT_TRUE(server_->AddService(&service_, SERVER_DOESNT_OWN_SERVICE).ok());
    ASSERT_TRUE(server_->Start(kAddress, options).ok());
    ChannelOptions channel = WithRdma(Patient());
    channel.connection_type = GetParam();
    channel_ = OpenChannel(kAddress, hosts_.client().runtime(), channel);
  }
  // What carries a call, as the server says it.
  std::string Where() {
    TestCall call(kWhere);
    call.Start(*channel_);
    EXPECT_TRUE(hosts_.Until([&] { return call.ends() > 0; }, kSoon));
    EXPECT_FALSE(call.controller.Failed()) << call.Error();
    return call.response.message();
  }
  bool OnRdma() { return Where() == "rdma fakeB in_use"; }
  bool ComesToRdma(Duration within) {
    const TimePoint end = hosts_.now() + within;
    while (hosts_.now() < end) {
      if (OnRdma()) return true;
      hosts_.RunFor(std::chrono::milliseconds(100));
    }
    return false;
  }
  void Unplug(const char* device) {
    faults().RemoveDevice(device, /*flush=*/true);
    EXPECT_TRUE(hosts_.Until([&] { return !faults().RemovalPending(device); }, kSoon));
  }
  FakeFaults& faults() { return hosts_.fabric().faults(); }

  SteppedRdma hosts_;
  ScriptedService service_{EchoOrWhere};
  std::unique_ptr<Server> server_ = std::make_unique<Server>();
  std::unique_ptr<Channel> channel_;
};

TEST_P(RdmaRelinkTest, ADeviceThatComesToTheClientIsUsedByConnectionsFromBefore) {
  Unplug("fakeA");
  Start();
  EXPECT_FALSE(OnRdma());
  hosts_.RunFor(seconds(30));
  EXPECT_FALSE(OnRdma());
  EXPECT_TRUE(faults().AddDevice("fakeA"));
  EXPECT_TRUE(ComesToRdma(seconds(15)));
}

TEST_P(RdmaRelinkTest, ADeviceThatComesToTheServerIsUsedByConnectionsFromBefore) {
  Unplug("fakeB");
  Start();
  EXPECT_FALSE(OnRdma());
  hosts_.RunFor(seconds(30));
  EXPECT_TRUE(faults().AddDevice("fakeB"));
  EXPECT_TRUE(ComesToRdma(seconds(60)));
}

INSTANTIATE_TEST_SUITE_P(Types, RdmaRelinkTest,
                         testing::Values(CONNECTION_TYPE_SINGLE, CONNECTION_TYPE_POOLED));

}  // namespace
}  // namespace farcall
