// SPDX-License-Identifier: Apache-2.0
//
// DeviceSet on FakeFabric, which keeps the books of what librdmacm holds open.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "transport/base/check.h"
#include "transport/base/clock.h"
#include "transport/buffer/block_pool.h"
#include "transport/rdma/device/device_set.h"
#include "transport/rdma/testing/fabric/fake_fabric.h"
#include "transport/rdma/verbs/owned.h"
#include "transport/sockaddr.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

class DeviceSetFabricTest : public ::testing::Test {
 protected:
  // Ends the set, then the pool, and then the fabric, which checks what is left.
  ~DeviceSetFabricTest() override { set_.reset(); }

  void Start(FakeFabricOptions options = {}) {
    fabric_.emplace(std::move(options));
    registrar_.Attach(*loop_);
    auto made = BlockPool::Create({.region_bytes = size_t{2} << 20}, &registrar_);
    Check(made.ok(), "the options are valid");
    pool_ = *std::move(made);
    HostView host;
    host.addresses = [] {
      return std::vector<LocalIp>{{*Address::Parse("10.9.0.1:0"), "eth0", 2},
                                  {*Address::Parse("10.9.0.2:0"), "eth1", 3}};
    };
    host.sys_class = host.dev_directory = ::testing::TempDir() + "/none";
    set_.emplace(fabric_->api(), options_, registrar_, log_, std::move(host));
    channel_ = *CreateEventChannel(fabric_->api());
  }
  // An id that is bound to the address, as a listener is.
  CmId Bind(const std::string& address) {
    CmId id = *CreateCmId(fabric_->api(), channel_.get(), nullptr);
    auto socket_address = *ToSocketAddress(*Address::Parse(address + ":0"));
    Check(fabric_->api().rdma.bind_addr(id.get(), socket_address.get()) == 0, "it is bound");
    return id;
  }

  std::optional<FakeFabric> fabric_;
  SteadyClock clock_;
  const std::unique_ptr<EventLoop> loop_ = *EventLoop::Create(clock_);
  RdmaRegistrar registrar_;
  std::unique_ptr<BlockPool> pool_;
  const RdmaOptions options_ = [] {
    RdmaOptions options;
    options.set_up = RdmaSetUp::kRdmaCm;
    return options;
  }();
  const EpisodeLog::Sink log_{};
  std::optional<DeviceSet> set_;
  EventChannel channel_;
};

TEST_F(DeviceSetFabricTest, TheDeviceOfAnAddressHasThePool) {
  Start();
  EXPECT_TRUE(set_->Refresh().ok());
  EXPECT_EQ(set_->Usable().size(), 2u);
  const BlockRef block = pool_->Allocate(1);
  const CmId id = Bind("10.9.0.2");
  const auto device = set_->Find(id->verbs);
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ((*device)->name(), "fakeB");
  EXPECT_TRUE(block->keys->lkey((*device)->index()).has_value());
  EXPECT_EQ(fabric_->counters("fakeB").registrations, 1u);
  EXPECT_EQ(fabric_->counters("fakeA").registrations, 0u);
}

TEST_F(DeviceSetFabricTest, AnUnpluggedDeviceIsLetGoAndTakenAgain) {
  Start();
  const BlockRef block = pool_->Allocate(1);
  CmId id = Bind("10.9.0.1");
  ibv_context* const context = id->verbs;
  const size_t index = (*set_->Find(context))->index();
  fabric_->faults().RemoveDevice("fakeA", false);
  fabric_->Settle();
  EXPECT_TRUE(set_->Refresh().ok());
  ASSERT_EQ(set_->Gone().size(), 1u);
  EXPECT_TRUE(fabric_->faults().RemovalPending("fakeA"));
  while (*NextCmEvent(fabric_->api(), channel_.get()) != nullptr) {
  }
  id.reset();
  EXPECT_TRUE(fabric_->faults().RemovalPending("fakeA"));
  set_->Remove(context);
  EXPECT_FALSE(fabric_->faults().RemovalPending("fakeA"));
  EXPECT_FALSE(block->keys->lkey(index).has_value());

  ASSERT_TRUE(fabric_->faults().AddDevice("fakeA"));
  id = Bind("10.9.0.1");
  EXPECT_TRUE(set_->Find(id->verbs).ok());
}

TEST_F(DeviceSetFabricTest, AnUnpluggedDeviceThatNobodyUsedIsLetGoByLooking) {
  Start();
  EXPECT_TRUE(set_->Refresh().ok());
  fabric_->faults().RemoveDevice("fakeA", false);
  fabric_->Settle();
  EXPECT_TRUE(set_->Refresh().ok());
  EXPECT_TRUE(set_->Gone().empty());
  EXPECT_FALSE(fabric_->faults().RemovalPending("fakeA"));
}

// librdmacm does so by itself only where it sees another device.
TEST_F(DeviceSetFabricTest, TheLastDeviceIsLetGoAndTakenAgain) {
  Start();
  fabric_->faults().RemoveDevice("fakeB", false);
  for (int round = 0; round < 2; ++round) {
    CmId id = Bind("10.9.0.1");
    ibv_context* const context = id->verbs;
    ASSERT_TRUE(set_->Find(context).ok());
    fabric_->faults().RemoveDevice("fakeA", false);
    fabric_->Settle();
    EXPECT_EQ(ReasonOf(set_->Refresh()), WhyNotRdma::kNoDevice);
    ASSERT_EQ(set_->Gone().size(), 1u);
    while (*NextCmEvent(fabric_->api(), channel_.get()) != nullptr) {
    }
    id.reset();
    EXPECT_TRUE(fabric_->faults().RemovalPending("fakeA"));
    set_->Remove(context);
    EXPECT_FALSE(fabric_->faults().RemovalPending("fakeA"));
    EXPECT_TRUE(set_->Gone().empty());
    EXPECT_FALSE(set_->WhyNot(context).ok());
    EXPECT_EQ(ReasonOf(set_->Refresh()), WhyNotRdma::kNoDevice);
    ASSERT_TRUE(fabric_->faults().AddDevice("fakeA"));
    EXPECT_TRUE(set_->Refresh().ok());
  }
  EXPECT_FALSE(fabric_->faults().RemovalPending("fakeB"));
}

TEST_F(DeviceSetFabricTest, TheLastDeviceIsLetGoByLookingAlsoWhenNobodyUsedIt) {
  Start();
  EXPECT_TRUE(set_->Refresh().ok());
  fabric_->faults().RemoveDevice("fakeA", false);
  fabric_->faults().RemoveDevice("fakeB", false);
  fabric_->Settle();
  EXPECT_FALSE(set_->Refresh().ok());
  EXPECT_FALSE(fabric_->faults().RemovalPending("fakeA"));
  EXPECT_FALSE(fabric_->faults().RemovalPending("fakeB"));
}

TEST_F(DeviceSetFabricTest, WhatCannotBeLetGoNowIsTriedAgain) {
  Start();
  EXPECT_TRUE(set_->Refresh().ok());
  fabric_->faults().RemoveDevice("fakeA", false);
  fabric_->faults().RemoveDevice("fakeB", false);
  fabric_->Settle();
  fabric_->faults().FailCall("release_context", 1, EBUSY);
  EXPECT_FALSE(set_->Refresh().ok());
  EXPECT_EQ(fabric_->faults().RemovalPending("fakeA") + fabric_->faults().RemovalPending("fakeB"),
            1);
  EXPECT_TRUE(set_->Usable().empty());
  // Nor while it is not known whether the device is gone.
  fabric_->faults().FailCall("ibv_get_device_list", 1, EMFILE);
  EXPECT_FALSE(set_->Refresh().ok());
  EXPECT_EQ(fabric_->faults().RemovalPending("fakeA") + fabric_->faults().RemovalPending("fakeB"),
            1);
  EXPECT_FALSE(set_->Refresh().ok());
  EXPECT_FALSE(fabric_->faults().RemovalPending("fakeA"));
  EXPECT_FALSE(fabric_->faults().RemovalPending("fakeB"));
}

// librdmacm says so for a moment when it cannot open another device.
TEST_F(DeviceSetFabricTest, ADeviceThatIsThereIsNotTakenThoughNoneWasShown) {
  Start();
  EXPECT_TRUE(set_->Refresh().ok());
  fabric_->faults().FailCall("rdma_get_devices", 1, EMFILE);
  EXPECT_FALSE(set_->Refresh().ok());
  EXPECT_TRUE(set_->Usable().empty());
  EXPECT_TRUE(set_->Refresh().ok());
  EXPECT_EQ(set_->Usable().size(), 2u);
  EXPECT_TRUE(set_->Find(Bind("10.9.0.1")->verbs).ok());
}

// Nor is one in use gone because a look failed.
TEST_F(DeviceSetFabricTest, ADeviceInUseIsNotGoneThoughNoneWasShown) {
  Start();
  const CmId id = Bind("10.9.0.1");
  ASSERT_TRUE(set_->Find(id->verbs).ok());
  fabric_->faults().FailCall("rdma_get_devices", 1, EMFILE);
  const absl::Status status = set_->Refresh();
  EXPECT_EQ(Name(ReasonOf(status)), Name(WhyNotRdma::kDeviceRefused));
  EXPECT_NE(status.message().find("rdma_get_devices: Too many open files"), absl::string_view::npos)
      << status;
  EXPECT_TRUE(set_->Gone().empty());
  // Not even libibverbs.
  fabric_->faults().FailEvery("rdma_get_devices", EMFILE);
  fabric_->faults().FailEvery("ibv_get_device_list", EMFILE);
  EXPECT_EQ(Name(ReasonOf(set_->Refresh())), Name(WhyNotRdma::kDeviceRefused));
  EXPECT_TRUE(set_->Gone().empty());
  fabric_->faults().FailEvery("rdma_get_devices", 0);
  fabric_->faults().FailEvery("ibv_get_device_list", 0);
  EXPECT_TRUE(set_->Refresh().ok());
  EXPECT_TRUE(set_->Find(id->verbs).ok());
}

TEST_F(DeviceSetFabricTest, TheLastDeviceIsNotTakenFromAnotherRuntime) {
  Start();
  DeviceSet other(fabric_->api(), options_, registrar_, log_);
  CmId id = Bind("10.9.0.1");
  ibv_context* const context = id->verbs;
  ASSERT_TRUE(set_->Find(context).ok());
  EXPECT_FALSE(other.Refresh().ok()) << "it has no address of this host";
  fabric_->faults().RemoveDevice("fakeA", false);
  fabric_->faults().RemoveDevice("fakeB", false);
  fabric_->Settle();
  while (*NextCmEvent(fabric_->api(), channel_.get()) != nullptr) {
  }
  id.reset();
  EXPECT_FALSE(other.Refresh().ok());
  EXPECT_TRUE(fabric_->faults().RemovalPending("fakeA"));
  EXPECT_FALSE(fabric_->faults().RemovalPending("fakeB"));
  set_->Remove(context);
  EXPECT_FALSE(fabric_->faults().RemovalPending("fakeA"));
}

TEST_F(DeviceSetFabricTest, TooLittleMemlockIsToldWithBothNumbers) {
  rlimit former{};
  ASSERT_EQ(getrlimit(RLIMIT_MEMLOCK, &former), 0);
  rlimit limit = former;
  limit.rlim_cur = 65536;
  ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
  FakeFabricOptions options;
  options.devices[0].memlock = 65536;
  Start(options);
  const BlockRef block = pool_->Allocate(1);
  const CmId id = Bind("10.9.0.1");
  const absl::Status status = set_->Find(id->verbs).status();
  ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &former), 0);
  EXPECT_EQ(ReasonOf(status), WhyNotRdma::kMemlock);
  EXPECT_NE(status.message().find("fakeA: 2097152 bytes are needed"), absl::string_view::npos);
  EXPECT_NE(status.message().find("65536 are allowed"), absl::string_view::npos) << status;
}

TEST_F(DeviceSetFabricTest, DevicesThatMayNotBeOpenedAreNamed) {
  FakeFabricOptions options;
  for (FakeDeviceOptions& device : options.devices) device.permitted = false;
  fabric_.emplace(options);
  DeviceSet set(fabric_->api(), options_, registrar_, log_);
  const absl::Status status = set.Refresh();
  EXPECT_EQ(ReasonOf(status), WhyNotRdma::kDeviceNotPermitted);
  for (const char* const name : {"fakeA: ", "fakeB: "}) {
    EXPECT_NE(status.message().find(name), absl::string_view::npos) << status;
  }
}

TEST_F(DeviceSetFabricTest, EveryCallMayFailAndNothingIsLeft) {
  Start();
  const BlockRef block = pool_->Allocate(1);
  FakeFaults& faults = fabric_->faults();
  for (const char* const call : {"ibv_query_device", "ibv_query_port", "ibv_query_gid_table",
                                 "ibv_alloc_pd", "rdma_get_devices"}) {
    faults.FailCall(call, 1, EIO);
    static_cast<void>(set_->Refresh());
    const CmId id = Bind("10.9.0.1");
    static_cast<void>(set_->Find(id->verbs));
    EXPECT_EQ(faults.last_failed_call(), call);
    set_->Remove(id->verbs);
    EXPECT_TRUE(set_->Refresh().ok()) << call;
  }
}

}  // namespace
}  // namespace farcall
