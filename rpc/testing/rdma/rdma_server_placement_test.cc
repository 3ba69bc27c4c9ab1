// SPDX-License-Identifier: Apache-2.0
//
// Attachments of requests in the service's own memory, over RDMA on a stand-in for devices.

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/large_attachments.h"
#include "rpc/testing/placing_service.h"
#include "rpc/testing/rdma/rdma_pair.h"
#include "rpc/testing/rdma/rdma_peers.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "transport/base/sanitizer.h"

namespace farcall {
namespace {

constexpr size_t kKiB = 1 << 10;

class RdmaServerPlacementTest : public testing::Test {
 protected:
  static constexpr size_t kPlace = 4 * kMiB;

  explicit RdmaServerPlacementTest(uint32_t read_at_least = 64 << 10,
                                   const UpgradeOptions& upgrade = SoonAgain())
      : pair_(upgrade, [=](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
          fabric.check_memory = false;
          rig.rdma.read_at_least = read_at_least;
        }) {}
  ~RdmaServerPlacementTest() override {
    sent_ = RegisteredMemory();
    peers_.EndChannel();
    peers_.EndServer();
    EXPECT_TRUE(service_.all_back());
    EXPECT_TRUE(service_.Sound());
    service_.memory() = RegisteredMemory();
  }

  void SetUp() override {
    ASSERT_TRUE(peers_.ComeToRdma()) << pair_.Logs();
    bytes_ = PatternBytes(kPlace);
    sent_ = *pair_.client().runtime().RegisterMemory(
        {reinterpret_cast<std::byte*>(bytes_.data()), bytes_.size()});
    ASSERT_TRUE(Eventually([&] { return sent_.status().ok(); })) << sent_.status();
    ASSERT_TRUE(Eventually([&] { return service_.memory().status().ok(); }));
  }
  // The answer to a put of the first `bytes`.
  std::string Put(size_t bytes) {
    TestCall call("put");
    call.controller.request_attachment() = sent_.Slice(0, bytes);
    call.Call(peers_.channel());
    return call.controller.Failed() ? call.Error() : call.response.message();
  }
  uint64_t NotLanded() { return pair_.server().runtime().copied_bytes()[CopyCause::kNotLanded]; }
  // While requests are on the way: each time that one has begun to come.
  void StartBreaking() {
    breaker_ = std::thread([this] {
      for (int seen = service_.asked; !over_; std::this_thread::yield()) {
        if (service_.asked == seen) continue;
        seen = service_.asked;
        Break();
      }
    });
  }
  void StopBreaking() {
    over_ = true;
    breaker_.join();
  }
  void Break() {
    for (const char* const device : {"fakeA", "fakeB"}) {
      for (const uint32_t pair : pair_.faults().QueuePairs(device)) {
        pair_.faults().BreakQueuePair(pair);
      }
    }
  }

  RdmaPair pair_;
  std::string bytes_;
  RegisteredMemory sent_;
  PlacingService service_{pair_.server().runtime(), 8, kPlace};
  RdmaPeers peers_{pair_, WithRdma(LargeBodiesServer()), WithRdma(LargeBodies()),
                   [this](Controller& controller, const test::EchoRequest& request,
                          test::EchoResponse& response, google::protobuf::Closure* done) {
                     if (request.message() != "put") {
                       return EchoOrWhere(controller, request, response, done);
                     }
                     PutInto(service_, [](const Buffer& got) {
                       return IsPattern(got, got.size());
                     })(controller, request, response, done);
                   },
                   ServiceOptions{.attachment_placer = &service_}};
  std::atomic<bool> over_{false};
  std::thread breaker_;
};

TEST_F(RdmaServerPlacementTest, NoByteIsCopiedBetweenRegisteredMemoryAtBothEnds) {
  for (const size_t size : {64 * kKiB, 100 * kKiB, kMiB + 1, 2 * kMiB, 3 * kMiB + 17, 4 * kMiB}) {
    const CopiedBytes before = pair_.client().runtime().copied_bytes();
    EXPECT_EQ(Put(size), "placed") << size;
    EXPECT_EQ(NotLanded(), 0u) << size;
    EXPECT_EQ(pair_.client().runtime().copied_bytes()[CopyCause::kSentUnregistered],
              before[CopyCause::kSentUnregistered]);
    EXPECT_TRUE(Eventually([&] { return sent_.idle(); }));
  }
  EXPECT_TRUE(Eventually([&] { return service_.memory().idle(); }));
}

TEST_F(RdmaServerPlacementTest, SmallOnesAreCopiedOnce) {
  EXPECT_EQ(Put(1000), "placed");
  EXPECT_EQ(NotLanded(), 1000u);
}

// The stream goes to TCP in the middle of a request, and back for others: no call fails, and what
// a device still writes does no harm.
TEST_F(RdmaServerPlacementTest, SwitchesInTheMiddleAreInvisible) {
  StartBreaking();
  for (int i = 0; i < 60; ++i) EXPECT_EQ(Put(2 * kMiB + static_cast<size_t>(i)), "placed");
  StopBreaking();
  EXPECT_EQ(service_.ended(), std::vector<absl::Status>(60));
}

// Backup requests, deadlines and cancellations while queue pairs break.
TEST_F(RdmaServerPlacementTest, WhateverEndsACallItsPlaceComesBackUnspoilt) {
  StartBreaking();
  int placed = 0;
  // ThreadSanitizer is slow where all places are read; of 21 calls three are cancelled.
  for (int i = 0; i < (kThreadSanitizer ? 21 : 60); ++i) {
    TestCall call("put");
    call.controller.request_attachment() = sent_.Slice(0, 2 * kMiB);
    call.controller.set_backup_request_ms(1);
    call.controller.set_timeout_ms(i % 5 == 0 ? -1 : 1 + i % 4);
    call.Start(peers_.channel());
    if (i % 7 == 6) call.controller.StartCancel();
    ASSERT_TRUE(call.Wait());
    placed += call.response.message() == "placed";
    EXPECT_NE(call.response.message(), "wrong");
    EXPECT_TRUE(service_.Sound());
  }
  StopBreaking();
  EXPECT_GT(placed, 0);
}

TEST_F(RdmaServerPlacementTest, AServerThatEndsInTheMiddleWaitsForItsDevices) {
  std::vector<std::unique_ptr<TestCall>> calls;
  for (int i = 0; i < 4; ++i) {
    calls.push_back(std::make_unique<TestCall>("put"));
    calls.back()->controller.request_attachment() = sent_.Slice(0, kPlace);
    calls.back()->controller.set_max_retry(0);
    calls.back()->Start(peers_.channel());
  }
  peers_.EndServer();
  EXPECT_TRUE(service_.all_back()) << "the server is gone, and so are its devices' writes";
  EXPECT_TRUE(service_.Sound());
  for (const auto& call : calls) ASSERT_TRUE(call->Wait());
}

// Who may think about a place as long as the test needs.
class RdmaLatePlaceTest : public RdmaServerPlacementTest {
 protected:
  RdmaLatePlaceTest() : RdmaServerPlacementTest(64 << 10, Patient()) {}
  static UpgradeOptions Patient() {
    UpgradeOptions options = SoonAgain();
    options.stream.progress_timeout = std::chrono::seconds(60);
    return options;
  }
};

TEST_F(RdmaLatePlaceTest, APlaceThatIsSaidLaterGetsEachByte) {
  service_.later = true;
  std::atomic<bool> over{false};
  std::thread placer([&] {
    for (; !over; std::this_thread::yield()) service_.Go();
  });
  for (const size_t size : {64 * kKiB, 100 * kKiB, 256 * kKiB, kMiB, 4 * kMiB, 64 * kKiB}) {
    EXPECT_EQ(Put(size), "placed");
    EXPECT_EQ(NotLanded(), 0u) << size;
  }
  over = true;
  placer.join();
}

// Without RDMA READ what comes is copied once.
class RdmaServerCopyTest : public RdmaServerPlacementTest {
 protected:
  RdmaServerCopyTest() : RdmaServerPlacementTest(0) {}
};

TEST_F(RdmaServerCopyTest, NoByteIsCopiedMoreThanOnce) {
  EXPECT_EQ(Put(2 * kMiB), "placed");
  EXPECT_GT(NotLanded(), 0u);
  EXPECT_LE(NotLanded(), 2 * kMiB);
}

}  // namespace
}  // namespace farcall
