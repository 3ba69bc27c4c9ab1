// SPDX-License-Identifier: Apache-2.0
//
// Whether large bytes are fetched where that is left to the connection: by what a device carries
// each way, and where it cannot be had.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "transport/base/clock.h"
#include "transport/rdma/rdma_references_testing.h"

namespace farcall {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// The time that a device needs which does one thing after the other: a message takes so long, a
// READ that much.
class DeviceClock final : public Clock {
 public:
  TimePoint Now() const override {
    if (fabric == nullptr) return TimePoint(std::chrono::hours(1));
    const FakeCounters done = fabric->counters("fakeB");
    return TimePoint(std::chrono::hours(1)) +
           std::chrono::microseconds(done.messages_in * 60 + done.reads * read_us);
  }
  FakeFabric* fabric = nullptr;
  uint64_t read_us = 0;
};

class RdmaReadChoiceTest : public RdmaReferencesTest {
 protected:
  void BeginAuto(uint64_t read_us, const FakeRdma::Change& change = nullptr) {
    clock_.read_us = read_us;
    Begin([&](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
      Change(fabric, rig);
      fabric.check_memory = false;
      rig.rdma.read_at_least = kReadAuto;
      rig.clock = &clock_;
      if (change) change(fabric, rig);
    });
    clock_.fabric = &harness_->fabric();
  }
  void TearDown() override {
    EndConnections();
    clock_.fabric = nullptr;
    EndHarness();
  }

  // Sends a pattern `times` times, and sees it come.
  void Carry(int times) {
    const Buffer pattern = Bytes(8 * kMiB);
    const std::string expected = pattern.ToString();
    for (int i = 0; i < times; ++i) Send(client_, pattern.Share());
    const size_t all = times * expected.size();
    size_t came = 0;
    bool right = true;
    EXPECT_TRUE(Until([&] {
      while (!server_.came.empty()) {
        const size_t at = came % expected.size();
        const std::string part =
            server_.came.CutFront(std::min(server_.came.size(), expected.size() - at)).ToString();
        right = right && expected.compare(at, part.size(), part) == 0;
        came += part.size();
      }
      return came == all;
    }));
    EXPECT_TRUE(right);
  }
  ReadsUse Reads() {
    ReadsUse use;
    harness_->Run(*client_.loop, [&] { use = client_.connection->info().rdma.reads; });
    return use;
  }

  DeviceClock clock_;
};

TEST_F(RdmaReadChoiceTest, ADeviceThatReadsSlowlySends) {
  BeginAuto(/*read_us=*/1000);
  EXPECT_EQ(Reads().why, ReadsWhy::kMeasuring);
  Carry(8);
  const ReadsUse use = Reads();
  EXPECT_EQ(use.why, ReadsWhy::kSendsAreFaster) << Explain(use);
  EXPECT_GT(use.send_rate, 3 * use.read_rate) << Explain(use);
  const uint64_t before = reads("fakeB");
  EXPECT_GT(before, 0u);
  Carry(2);
  EXPECT_EQ(reads("fakeB"), before) << "none is read any more";
}

TEST_F(RdmaReadChoiceTest, ADeviceThatReadsAsFastIsReadFrom) {
  BeginAuto(/*read_us=*/50);
  Carry(8);
  const ReadsUse use = Reads();
  EXPECT_EQ(use.why, ReadsWhy::kReadsPay) << Explain(use);
  const uint64_t before = reads("fakeB");
  Carry(2);
  EXPECT_GE(reads("fakeB") - before, kReadsOfLarge * 2 * 8 * kMiB / kLarge) << "all is read";
}

TEST_F(RdmaReadChoiceTest, WhatComesOneByOneIsSentAndNotMeasured) {
  BeginAuto(/*read_us=*/0);
  for (int i = 0; i < 100; ++i) {
    Send(client_, Bytes(64 << 10));
    ASSERT_TRUE(Until([&] { return server_.came.size() == 64 << 10; }));
    server_.came.Clear();
    harness_->Settle();
  }
  EXPECT_EQ(Reads(), ReadsUse{.why = ReadsWhy::kMeasuring});
  EXPECT_EQ(reads("fakeB"), 0u);
}

TEST_F(RdmaReadChoiceTest, WithoutWindowsAtThisEndNothingIsMeasured) {
  BeginAuto(0, [](FakeFabricOptions& fabric, RdmaRigOptions&) { fabric.devices[0].max_mw = 0; });
  Carry(1);
  const ReadsUse use = Reads();
  EXPECT_TRUE(use.why == ReadsWhy::kNoWindows || use.why == ReadsWhy::kNoRoom) << Explain(use);
  EXPECT_EQ(reads("fakeB"), 0u);
}

// What is never read may be the fault of anybody; three times in succession it is taken for the
// device's.
TEST_F(RdmaReadChoiceTest, ADeviceThroughWhichNobodyReadsIsNotTriedForEver) {
  BeginAuto(/*read_us=*/0);
  FakeFabric& fabric = harness_->fabric();
  for (int i = 0; i < 4; ++i) {
    if (i > 0) {
      EndConnections();
      client_ = End();
      server_ = End();
      Connect();
    }
    if (i == 3) break;
    ASSERT_EQ(Reads().why, ReadsWhy::kMeasuring) << i;
    const uint64_t binds = fabric.counters("fakeA").binds;
    const uint64_t before = reads("fakeB");
    for (int times = 0; times < 2; ++times) Send(client_, Bytes(8 * kMiB));
    ASSERT_TRUE(Until([&] {
      server_.came.Clear();
      return fabric.counters("fakeA").binds > binds;
    }));
    ASSERT_EQ(reads("fakeB"), before);
    for (const uint32_t pair : fabric.faults().QueuePairs("fakeA")) {
      fabric.faults().BreakQueuePair(pair);
    }
    ASSERT_TRUE(Until([&] { return client_.closed; }));
  }
  EXPECT_EQ(Reads().why, ReadsWhy::kWindowsFail) << Explain(Reads());
  Carry(1);
}

}  // namespace
}  // namespace farcall
