// SPDX-License-Identifier: Apache-2.0
//
// What becomes of bytes that the peer might fetch where devices can do less, or less than they say.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "transport/rdma/rdma_references_testing.h"

namespace farcall {
namespace {

TEST_F(RdmaReferencesTest, WhereOneEndDoesNotDoItBytesAreSent) {
  for (const int device : {0, 1}) {
    Begin([&](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
      Change(fabric, rig);
      fabric.devices[static_cast<size_t>(device)].max_mw = 0;
    });
    Send(client_, Bytes(kLarge));
    Send(server_, Bytes(kLarge));
    ASSERT_TRUE(
        Until([&] { return server_.came.size() == kLarge && client_.came.size() == kLarge; }));
    EXPECT_EQ(reads("fakeA") + reads("fakeB"), 0u);
    TearDown();
    client_ = End();
    server_ = End();
  }
  Begin();
}

TEST_F(RdmaReferencesTest, FewerWindowsThanWantedAreEnough) {
  Begin([](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
    Change(fabric, rig);
    fabric.devices[0].max_mw = 2;
  });
  Buffer message = Bytes(8 * kLarge);
  const std::string expected = message.ToString();
  Send(client_, std::move(message));
  ASSERT_TRUE(Until([&] { return server_.came.size() == expected.size(); }));
  EXPECT_TRUE(server_.came.ToString() == expected);
  EXPECT_GE(reads("fakeB"), 1u);
}

// The fabric breaks a queue pair that begins, or is asked for, more than was agreed on.
TEST_F(RdmaReferencesTest, NoMoreReadsAreBegunThanEitherDeviceDoes) {
  for (const bool reader : {true, false}) {
    SCOPED_TRACE(reader);
    Begin([&](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
      Change(fabric, rig);
      if (reader) {
        fabric.devices[1].max_qp_init_rd_atom = 1;
      } else {
        fabric.devices[0].max_qp_rd_atom = 2;
      }
    });
    Buffer message = Bytes(8 * kLarge);
    const std::string expected = message.ToString();
    Send(client_, std::move(message));
    ASSERT_TRUE(Until([&] { return server_.came.size() == expected.size(); }));
    EXPECT_TRUE(server_.came.ToString() == expected);
    EXPECT_GE(reads("fakeB"), 8u);
    TearDown();
    client_ = End();
    server_ = End();
  }
  Begin();
}

TEST_F(RdmaReferencesTest, ADeviceThatReadsIntoOneSegmentTakesSeveralReads) {
  Begin([](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
    Change(fabric, rig);
    fabric.devices[1].max_sge_rd = 1;
  });
  Send(client_, Bytes(kLarge));
  ASSERT_TRUE(Until([&] { return server_.came.size() == kLarge; })) << server_.why;
  EXPECT_EQ(reads("fakeB"), server_.came.slices().size());
}

// Devices that do not do what they say: bytes are sent.
TEST_F(RdmaReferencesTest, ADeviceThatOpensNoMemorySendsIt) {
  const auto refuses = [](FakeDeviceOptions& device) { device.refuses_mw_bind = true; };
  const auto is_small = [](FakeDeviceOptions& device) { device.real_max_qp_wr = 70; };
  for (const std::function<void(FakeDeviceOptions&)>& change :
       {std::function<void(FakeDeviceOptions&)>(refuses), {is_small}}) {
    Begin([&](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
      Change(fabric, rig);
      change(fabric.devices[0]);
    });
    Send(client_, Bytes(kLarge));
    ASSERT_TRUE(Until([&] { return server_.came.size() == kLarge; })) << client_.why;
    EXPECT_EQ(harness_->fabric().counters("fakeA").binds, 0u);
    TearDown();
    client_ = End();
    server_ = End();
  }
  Begin();
}

TEST_F(RdmaReferencesTest, ADeviceThatFailsToBindIsNotAskedAgain) {
  Begin([](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
    Change(fabric, rig);
    fabric.devices[0].binds_fail = true;
  });
  Send(client_, Bytes(kLarge));
  ASSERT_TRUE(Until([&] { return client_.closed && server_.closed; }));
  EndConnections();
  client_ = End();
  server_ = End();
  Connect();
  Send(client_, Bytes(kLarge));
  ASSERT_TRUE(Until([&] { return server_.came.size() == kLarge; })) << client_.why;
  EXPECT_EQ(reads("fakeB"), 0u);
}

// Bytes that one end sends and those that it fetches, all at once.
TEST_F(RdmaReferencesTest, BeforeABindNothingMayHaveToBeSentAgain) {
  for (const bool known : {true, false}) {
    SCOPED_TRACE(known);
    Begin([&](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
      Change(fabric, rig);
      for (FakeDeviceOptions& device : fabric.devices) {
        PlaySoftRoce(device);
        if (!known) device.vendor_id = 0x626d74;
      }
    });
    for (int i = 0; i < 4; ++i) {
      for (End* const end : {&client_, &server_}) {
        Send(*end, Bytes(2 * kLarge));
        Send(*end, Bytes(100));
      }
    }
    constexpr size_t kAll = 4 * (2 * kLarge + 100);
    const bool came = Until([&] {
      return client_.closed || (server_.came.size() == kAll && client_.came.size() == kAll);
    });
    EXPECT_TRUE(came);
    // Else the device fails as it does: the test can tell.
    EXPECT_EQ(client_.closed, !known) << client_.why;
    EXPECT_TRUE(!known || std::min(reads("fakeA"), reads("fakeB")) >= 8u);
    TearDown();
    client_ = End();
    server_ = End();
  }
  Begin();
}

// Whoever has paused still ends what it has begun to fetch, and sends.
TEST_F(RdmaReferencesTest, ABindThatWaitsForReadsIsNotForgotten) {
  Begin([](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
    Change(fabric, rig);
    for (FakeDeviceOptions& device : fabric.devices) {
      PlaySoftRoce(device);
      device.max_sge_rd = 1;  // several READs of one reference
    }
  });
  Send(server_, Bytes(8 * kLarge));
  ASSERT_TRUE(Until([&] { return reads("fakeA") > 0; }));
  harness_->Run(*client_.loop, [&] { client_.connection->PauseRead(); });
  Send(client_, Bytes(2 * kLarge));
  ASSERT_TRUE(Until([&] { return server_.came.size() == 2 * kLarge; })) << client_.why;
  harness_->Run(*client_.loop, [&] { client_.connection->ResumeRead(); });
  ASSERT_TRUE(Until([&] { return client_.came.size() == 8 * kLarge; })) << client_.why;
}

}  // namespace
}  // namespace farcall
