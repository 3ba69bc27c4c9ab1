// SPDX-License-Identifier: Apache-2.0
//
// What becomes of bytes that the peer might fetch where devices can do less, or less than they say.

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

}  // namespace
}  // namespace farcall
