// SPDX-License-Identifier: Apache-2.0
//
// A completion queue that its loop cannot poll at first, and receives that find no memory.

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "transport/rdma/rdma_transport_testing.h"
#include "transport/rdma/testing/fault_run.h"
#include "transport/rdma/testing/stepped_clock.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

class Deaf final : public FdHandler {
  void OnReady(uint32_t) override {}
};

// The kernel lets a descriptor be watched once, so this keeps the poller from it.
class Squatter {
 public:
  Squatter(FakeFabric& fabric, EventLoop& loop) : fabric_(fabric), loop_(loop) {}

  // With the loop held.
  void Sit() {
    descriptor_ = fabric_.completion_descriptors().back();
    watch_ = *loop_.fds().Add(descriptor_, EPOLLIN, deaf_);
  }
  void Leave() { loop_.fds().Remove(watch_, descriptor_); }

 private:
  FakeFabric& fabric_;
  EventLoop& loop_;
  Deaf deaf_;
  int descriptor_ = -1;
  EpollSource::Watch watch_;
};

TEST_F(RdmaTransportTest, ADeviceThatCouldNotBePolledIsTriedAgain) {
  Start();
  EventLoop& mine = harness_->loops().at(1);
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok()) << offer.status();
  Squatter squatter(fabric(), mine);
  std::optional<absl::Status> result;
  auto ticket = BeginConnect(OnlyB(*offer), Pass(1), result);
  // Before the task by which the poller enters its loop, since that is not driven meanwhile.
  mine.Post([&] { squatter.Sit(); });
  ASSERT_TRUE(fabric().counters("fakeA").receives_posted == 0);
  for (int i = 0; i < 10'000 && fabric().counters("fakeA").receives_posted == 0; ++i) {
    harness_->DrainControl();
    fabric().Step();
  }
  ASSERT_TRUE(harness_->Until([&] { return result.has_value(); }));
  EXPECT_EQ(ReasonOf(*result), WhyNotRdma::kDeviceRefused) << *result;
  EXPECT_TRUE(absl::StrContains(result->message(), "not polled")) << *result;
  harness_->Run(mine, [&] {
    ticket.reset();
    squatter.Leave();
  });
  const absl::Status again = ConnectToOffer(OnlyB(*offer), Pass(1));
  ASSERT_TRUE(again.ok()) << again;
  Echo();
}

// Blocks that the device knows are there, beside a region that it does not take.
TEST_F(RdmaTransportTest, WithoutSharedReceivesARegionThatIsRefusedKeepsNobodyAway) {
  Start([](FakeFabricOptions& fabric, RdmaRigOptions&) {
    for (FakeDeviceOptions& device : fabric.devices) device.max_srq = 0;
  });
  std::vector<BlockRef> known;
  for (const uint32_t size : {BlockPool::kSmall, BlockPool::kMedium}) {
    for (int i = 0; i < 512; ++i) known.push_back(harness_->pool().Allocate(size));
  }
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok()) << offer.status();
  fabric().faults().FailEvery("ibv_reg_mr", ENOMEM);
  harness_->pool().Allocate(BlockPool::kLarge);
  harness_->DrainControl();
  const absl::Status none = ConnectToOffer(OnlyB(*offer), Pass(1));
  EXPECT_EQ(ReasonOf(none), WhyNotRdma::kMemlock) << none;
  known.clear();
  const absl::Status connected = ConnectToOffer(OnlyB(*offer), Pass(1));
  ASSERT_TRUE(connected.ok()) << connected;
  Echo();
  fabric().faults().FailEvery("ibv_reg_mr", 0);
}

TEST_F(RdmaTransportTest, AReceiveThatTheDeviceRefusesIsToldAsSuch) {
  Start();
  fabric().faults().FailCall("ibv_post_srq_recv", 1, EIO);
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok()) << offer.status();
  const std::vector<UpgradeAddress> one = {OnlyB(*offer).at(0)};
  const absl::Status result = ConnectToOffer(one, Pass(1));
  EXPECT_TRUE(absl::StrContains(result.message(), "ibv_post_srq_recv: Input/output error"))
      << result;
  const absl::Status again = ConnectToOffer(one, Pass(1));
  ASSERT_TRUE(again.ok()) << again;
  Echo();
}

// What holds part of a message whose rest has no memory to come to gives it up. That others have
// all their receives, as an idle one has, does not help it.
class DevicePollerStarvationTest : public RdmaTransportTest,
                                   public testing::WithParamInterface<FakeRdma::Change> {
 protected:
  ~DevicePollerStarvationTest() override {
    clock_.SetRunning(true);
    taken_.clear();
    idle_client_.reset();
    idle_server_.reset();
    Finish();
  }
  // What is left of the pool.
  void TakeAll() {
    for (const size_t bytes : {BlockPool::kLarge, BlockPool::kMedium, BlockPool::kSmall}) {
      while (BlockRef block = harness_->pool().Allocate(bytes)) taken_.push_back(std::move(block));
    }
  }
  SteppedClock clock_;
  std::unique_ptr<TestPeer> idle_client_;
  std::unique_ptr<TestPeer> idle_server_;
  std::vector<BlockRef> taken_;
};

TEST_P(DevicePollerStarvationTest, AConnectionGivesUpThoughOthersHaveTheirReceives) {
  Start([this](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
    GetParam()(fabric, rig);
    rig.clock = &clock_;
    rig.pool.max_bytes = size_t{32} << 20;
  });
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok()) << offer.status();
  ASSERT_TRUE(ConnectToOffer(OnlyB(*offer), Pass(1)).ok());
  Echo();
  idle_client_ = std::move(client_);
  idle_server_ = std::move(server_);
  ASSERT_TRUE(Await(Pass(2)).ok());
  ASSERT_TRUE(ConnectToOffer(OnlyB(*offer), Pass(2)).ok());
  Echo();
  constexpr size_t kMessage = size_t{8} << 20;
  server_->take = [](TestPeer&, Buffer&) { return kMessage; };
  client_->Send(kMessage);
  // What is sent gives its blocks back, which the receiver must not get.
  for (int i = 0; i < 20'000 && !server_->over(); ++i) {
    TakeAll();
    harness_->Step();
    clock_.AdvanceTo(clock_.Now() + std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(server_->over());
  EXPECT_TRUE(absl::IsResourceExhausted(server_->seen().why)) << server_->seen().why;
  EXPECT_FALSE(idle_server_->over()) << idle_server_->seen().why;
}

INSTANTIATE_TEST_SUITE_P(Queues, DevicePollerStarvationTest,
                         ::testing::Values(SmallRdma, SmallRdmaWithoutShared));

}  // namespace
}  // namespace farcall
