// SPDX-License-Identifier: Apache-2.0
//
// The program's own memory and RDMA: what is copied, and what is not.

#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/large_attachments.h"
#include "rpc/testing/rdma/rdma_pair.h"
#include "rpc/testing/rdma/rdma_peers.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

namespace farcall {
namespace {

// Heads of frames and messages, and ends of attachments that fill no segment.
constexpr uint64_t kHeads = 16 << 10;
constexpr size_t kKiB = 1 << 10;

std::span<std::byte> BytesOf(std::string& text) {
  return {reinterpret_cast<std::byte*>(text.data()), text.size()};
}

class RdmaMemoryTest : public testing::Test {
 protected:
  explicit RdmaMemoryTest(uint32_t read_at_least = 0)
      : pair_(SoonAgain(), [=](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
          fabric.check_memory = false;
          rig.rdma.read_at_least = read_at_least;
        }) {}

  void SetUp() override { ASSERT_TRUE(peers_.ComeToRdma()) << pair_.Logs(); }

  Runtime& client() { return pair_.client().runtime(); }
  RegisteredMemory Registered(std::string& bytes) {
    const RegisteredMemory memory = *client().RegisterMemory(BytesOf(bytes));
    EXPECT_TRUE(Eventually([&] { return memory.status().ok(); })) << memory.status();
    return memory;
  }
  // Echoes `request` over RDMA; what the client has copied for it.
  CopiedBytes Echo(Buffer request, Buffer place = Buffer()) {
    const size_t bytes = request.size();
    const CopiedBytes before = client().copied_bytes();
    TestCall call;
    call.controller.request_attachment() = std::move(request);
    call.controller.set_response_attachment_memory(std::move(place));
    EXPECT_TRUE(call.Call(peers_.channel()).Echoed()) << call.Error();
    EXPECT_TRUE(IsPattern(call.controller.response_attachment(), bytes));
    EXPECT_EQ(call.controller.connection()->transport, TransportKind::kRdma);
    CopiedBytes copied = client().copied_bytes();
    for (size_t i = 0; i < kCopyCauses; ++i) copied.by_cause[i] -= before.by_cause[i];
    return copied;
  }

  // What the server answers with in place of what it got; null: that.
  std::function<Buffer(size_t bytes)> answer_;
  RdmaPair pair_;
  RdmaPeers peers_{pair_, WithRdma(LargeBodiesServer()), WithRdma(LargeBodies()),
                   [this](Controller& controller, const test::EchoRequest& request,
                          test::EchoResponse& response, google::protobuf::Closure* done) {
                     Buffer& attachment = controller.request_attachment();
                     if (answer_) attachment = answer_(attachment.size());
                     EchoOrWhere(controller, request, response, done);
                   }};
};

TEST_F(RdmaMemoryTest, WhatIsSentFromRegisteredMemoryIsNotCopied) {
  std::string bytes = PatternBytes(2 * kMiB);
  const RegisteredMemory memory = Registered(bytes);
  const CopiedBytes copied = Echo(memory.Slice(0, bytes.size()));
  EXPECT_EQ(copied[CopyCause::kSentUnregistered], 0u);
  EXPECT_LE(copied[CopyCause::kSentSmall], kHeads);
  EXPECT_TRUE(Eventually([&] { return memory.idle(); }));
}

TEST_F(RdmaMemoryTest, WhatIsSentFromOtherMemoryIsCopiedAndCounted) {
  const std::string bytes = PatternBytes(kMiB);
  Buffer request;
  request.AppendUserData(bytes.data(), bytes.size(), nullptr);
  const CopiedBytes copied = Echo(std::move(request));
  EXPECT_LE(copied[CopyCause::kSentUnregistered], kMiB);
  EXPECT_GE(copied[CopyCause::kSentUnregistered] + copied[CopyCause::kSentSmall], kMiB);
  EXPECT_GE(copied[CopyCause::kSentUnregistered], kMiB - kHeads);
}

TEST_F(RdmaMemoryTest, WhatComesLiesInTheCallersMemory) {
  std::string sent = PatternBytes(2 * kMiB);
  std::string got(sent.size(), '\0');
  const RegisteredMemory memory = Registered(got);
  const RegisteredMemory request = Registered(sent);
  const CopiedBytes copied = Echo(request.Slice(0, sent.size()), memory.Slice(0, memory.size()));
  EXPECT_EQ(got, sent);
  // No byte more than once.
  EXPECT_LE(copied[CopyCause::kNotLanded], sent.size());
  EXPECT_TRUE(Eventually([&] { return memory.idle(); }));
}

TEST_F(RdmaMemoryTest, SmallMessagesAreCopiedOutOfTheirReceives) {
  const CopiedBytes copied = Echo(Buffer(PatternBytes(100)));
  EXPECT_GE(copied[CopyCause::kReceivedSmall], 100u);
  EXPECT_EQ(copied[CopyCause::kNotLanded], 0u);
}

TEST_F(RdmaMemoryTest, TheHandleMayGoWhileItsBytesAreSent) {
  std::string bytes = PatternBytes(kMiB);
  std::atomic<int> released{0};
  RegisteredMemory memory = *client().RegisterMemory(BytesOf(bytes), [&] { ++released; });
  EXPECT_TRUE(Eventually([&] { return memory.status().ok(); }));
  TestCall call;
  call.controller.request_attachment() = memory.Slice(0, bytes.size());
  call.Start(peers_.channel());
  memory = {};
  ASSERT_TRUE(call.Wait());
  EXPECT_TRUE(call.Echoed()) << call.Error();
  EXPECT_TRUE(Eventually([&] { return released == 1; }));
  EXPECT_EQ(pair_.client().registrar().stats().user_bytes, 0u);
}

TEST_F(RdmaMemoryTest, TheCacheRegistersWhatIsSentAgain) {
  const std::string bytes = PatternBytes(8 * kMiB);
  const auto send = [&] {
    Buffer request;
    request.AppendUserData(bytes.data(), bytes.size(), nullptr);
    return Echo(std::move(request))[CopyCause::kSentUnregistered];
  };
  send();
  const RegistrationCache& cache = pair_.client().registrations();
  EXPECT_EQ(cache.stats().misses, 1u);
  EXPECT_TRUE(Eventually([&] {
    return pair_.client().registrar().stats().user_regions == 1 &&
           pair_.client().registrar().stats().registered_bytes >= bytes.size();
  }));
  EXPECT_TRUE(Eventually([&] { return send() == 0; })) << "it is known by now";
  EXPECT_EQ(cache.stats().misses, 1u);
  client().ForgetMemory(bytes.data(), bytes.size());
  EXPECT_EQ(cache.stats().entries, 0u);
  EXPECT_TRUE(Eventually([&] { return pair_.client().registrar().stats().user_regions == 0; }));
}

// The same with RDMA READ: the receiver's device writes it to where it shall be.
class RdmaReadMemoryTest : public RdmaMemoryTest {
 protected:
  RdmaReadMemoryTest() : RdmaMemoryTest(64 << 10) {}
};

TEST_F(RdmaReadMemoryTest, OnlyWhatLiesInSmallPiecesIsCopied) {
  for (const size_t size : {100 * kKiB, 2 * kMiB, 3 * kMiB + 17}) {
    std::string sent = PatternBytes(size);
    std::string got(sent.size(), '\0');
    const RegisteredMemory memory = Registered(got);
    const RegisteredMemory request = Registered(sent);
    const CopiedBytes copied = Echo(request.Slice(0, sent.size()), memory.Slice(0, memory.size()));
    EXPECT_TRUE(got == sent);
    // What lies in smaller pieces than read_at_least is sent: here, the end of what was received.
    EXPECT_LE(copied[CopyCause::kNotLanded], 65 * kKiB) << size;
    EXPECT_EQ(copied[CopyCause::kSentUnregistered], 0u);
    EXPECT_TRUE(Eventually([&] { return memory.idle() && request.idle(); }));
  }
}

TEST_F(RdmaReadMemoryTest, NoByteIsCopiedBetweenRegisteredMemoryAtBothEnds) {
  std::string stored = PatternBytes(20 * kMiB);
  std::string got(stored.size(), '\0');
  const RegisteredMemory store = *pair_.server().runtime().RegisterMemory(BytesOf(stored));
  ASSERT_TRUE(Eventually([&] { return store.status().ok(); })) << store.status();
  const RegisteredMemory memory = Registered(got);
  const RegisteredMemory request = Registered(stored);
  answer_ = [&](size_t bytes) { return store.Slice(0, bytes); };
  for (const size_t size : {64 * kKiB, 100 * kKiB, kMiB + 1, 2 * kMiB, 3 * kMiB + 17, 20 * kMiB}) {
    got.assign(got.size(), '\0');
    const CopiedBytes copied = Echo(request.Slice(0, size), memory.Slice(0, size));
    EXPECT_TRUE(absl::string_view(got).substr(0, size) ==
                absl::string_view(stored).substr(0, size));
    EXPECT_EQ(copied[CopyCause::kNotLanded], 0u) << size;
    EXPECT_EQ(copied[CopyCause::kSentUnregistered], 0u) << size;
    EXPECT_TRUE(Eventually([&] { return memory.idle() && request.idle() && store.idle(); }));
  }
}

TEST(RdmaMemoryEarlyTest, MemoryRegisteredBeforeThereIsADeviceIsKnownToItLater) {
  RdmaPair pair;
  std::string bytes = PatternBytes(100'000);
  const RegisteredMemory memory = *pair.client().runtime().RegisterMemory(BytesOf(bytes));
  EXPECT_EQ(pair.client().registrar().stats().registered_bytes, 0u);
  const RdmaPeers peers(pair);
  ASSERT_TRUE(peers.ComeToRdma()) << pair.Logs();
  EXPECT_TRUE(Eventually([&] { return memory.status().ok(); })) << memory.status();
  EXPECT_EQ(pair.client().registrar().stats().user_regions, 1u);
  const uint64_t before = pair.client().runtime().copied_bytes()[CopyCause::kSentUnregistered];
  TestCall call;
  call.controller.request_attachment() = memory.Slice(0, bytes.size());
  ASSERT_TRUE(call.Call(peers.channel()).Echoed()) << call.Error();
  EXPECT_EQ(pair.client().runtime().copied_bytes()[CopyCause::kSentUnregistered], before);
}

}  // namespace
}  // namespace farcall
