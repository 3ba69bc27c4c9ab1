// SPDX-License-Identifier: Apache-2.0
//
// A channel that loses RDMA, or begins while one of the hosts has none: it comes to it when there
// is, under the calls. In virtual time, with the pauses of a program.

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rpc/testing/rdma/rdma_peers.h"
#include "rpc/testing/rdma/stepped_rdma.h"
#include "rpc/testing/test_call.h"
#include "transport/rdma/testing/fault_run.h"
#include "transport/testing/temp_dir.h"

namespace farcall {
namespace {

using std::chrono::seconds;

constexpr char kAddress[] = "10.0.0.1:80";
constexpr Duration kSoon = seconds(20);
// What the kernel's removal of a device may wait for a process.
constexpr Duration kLetGo = seconds(1);
// After what was lost is there again.
constexpr Duration kBack = seconds(3);

class RdmaRelinkTest : public testing::TestWithParam<ConnectionType> {
 protected:
  RdmaRelinkTest()
      : hosts_(
            [this](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
              SmallRdma(fabric, rig);
              rig.view.sys_class = sys_class_.path();
            },
            UpgradeOptions()) {
    for (const char* device : {"fakeA", "fakeB"}) {
      std::filesystem::create_directories(Shown(device));
    }
  }
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
    channel.pooled_idle_timeout_ms = -1;
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
    EXPECT_TRUE(hosts_.Until([&] { return !faults().RemovalPending(device); }, kLetGo));
    std::filesystem::remove(Shown(device));
  }
  void Plug(const char* device) {
    EXPECT_TRUE(faults().AddDevice(device));
    std::filesystem::create_directory(Shown(device));
  }
  // Where processes see that devices come and go.
  std::string Shown(const char* device) const {
    return sys_class_.path() + "/infiniband_verbs/" + device;
  }
  // Each time for so long that who only tried now and then would be in one of its longest pauses.
  void ComeAndGo(const std::function<void()>& go, const std::function<void()>& come) {
    Start();
    EXPECT_TRUE(ComesToRdma(kBack));
    for (int i = 0; i < 4; ++i) {
      go();
      EXPECT_FALSE(OnRdma()) << i;
      hosts_.RunFor(seconds(40));
      EXPECT_FALSE(OnRdma()) << i;
      come();
      EXPECT_TRUE(ComesToRdma(kBack)) << i << "\n" << hosts_.client().Log();
    }
  }
  void RemoveAndAdd(const char* device) {
    ComeAndGo([&] { Unplug(device); }, [&] { Plug(device); });
  }
  void PortDownAndUp(const char* device) {
    ComeAndGo([&] { faults().SetPort(device, false); }, [&] { faults().SetPort(device, true); });
  }
  FakeFaults& faults() { return hosts_.fabric().faults(); }

  const TempDir sys_class_;
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
  Plug("fakeA");
  EXPECT_TRUE(ComesToRdma(seconds(15)));
}

TEST_P(RdmaRelinkTest, ADeviceThatComesToTheServerIsUsedByConnectionsFromBefore) {
  Unplug("fakeB");
  Start();
  EXPECT_FALSE(OnRdma());
  hosts_.RunFor(seconds(30));
  Plug("fakeB");
  EXPECT_TRUE(ComesToRdma(seconds(60)));
}

TEST_P(RdmaRelinkTest, ADeviceOfTheClientThatGoesAndComesIsUsedAtOnce) { RemoveAndAdd("fakeA"); }
TEST_P(RdmaRelinkTest, ADeviceOfTheServerThatGoesAndComesIsUsedAtOnce) { RemoveAndAdd("fakeB"); }
TEST_P(RdmaRelinkTest, APortOfTheClientThatGoesAndComesIsUsedAtOnce) { PortDownAndUp("fakeA"); }
TEST_P(RdmaRelinkTest, APortOfTheServerThatGoesAndComesIsUsedAtOnce) { PortDownAndUp("fakeB"); }

TEST_P(RdmaRelinkTest, AServerThatStoodStillComesBackToRdma) {
  Start();
  EXPECT_TRUE(ComesToRdma(kBack));
  hosts_.HoldServer(true);
  ChannelOptions options = WithRdma(Patient());
  options.connection_type = GetParam();
  auto late = OpenChannel(kAddress, hosts_.client().runtime(), options);
  // Some of them break what does not answer, and connect anew.
  std::vector<std::unique_ptr<TestCall>> calls;
  for (int i = 0; i < 15; ++i) {
    for (Channel* channel : {channel_.get(), late.get()}) {
      calls.push_back(std::make_unique<TestCall>());
      calls.back()->controller.set_timeout_ms(500);
      calls.back()->Start(*channel);
    }
    hosts_.RunFor(seconds(1));
    for (const auto& call : calls) ASSERT_EQ(call->ends(), 1);
  }
  hosts_.HoldServer(false);
  EXPECT_TRUE(ComesToRdma(seconds(30))) << hosts_.client().Log();
  std::swap(channel_, late);
  EXPECT_TRUE(ComesToRdma(seconds(30))) << hosts_.client().Log();
}

INSTANTIATE_TEST_SUITE_P(Types, RdmaRelinkTest,
                         testing::Values(CONNECTION_TYPE_SINGLE, CONNECTION_TYPE_POOLED));

}  // namespace
}  // namespace farcall
