// SPDX-License-Identifier: Apache-2.0
//
// In the steady state frames are cut and written without an allocation. The global
// operator new is replaced by one that counts, hence a program of its own.

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/frame_testing.h"
#include "transport/testing/allocations/counted_new.h"

namespace farcall {
namespace {

constexpr int kRounds = 100;

TEST(FrameAllocationTest, TheCounterCounts) {
  const size_t before = AllocationsSoFar();
  const auto memory = std::make_unique<std::string>(1000, 'x');
  EXPECT_GE(AllocationsSoFar() - before, 2u);
}

TEST(FrameAllocationTest, CuttingIntoAReusedFrameAllocatesNothing) {
  wire::RpcMeta meta = testing::RequestMeta(1);
  meta.mutable_request()->add_request_id("a request id that is longer than 16 bytes");
  meta.add_user_fields()->set_key("a key that does not fit into a small string");
  meta.mutable_response()->set_error_text("a text that does not fit into a small string");
  const testing::EchoMessage echo = testing::Echo("hello");
  const Buffer bytes(testing::Encode(meta, &echo, "attachment"));

  Frame frame;
  for (int round = 0; round < kRounds; ++round) {
    Buffer input = bytes.Share();
    const size_t before = AllocationsSoFar();
    const auto needed = CutFrame(input, FrameLimits(), frame);
    const size_t after = AllocationsSoFar();
    ASSERT_EQ(*needed, 0u);
    // The first one fills the frame.
    ASSERT_TRUE(round == 0 || after == before) << "round " << round;
  }
}

TEST(FrameAllocationTest, AMetaAcrossTwoBlocksAllocatesNothingEither) {
  wire::RpcMeta meta = testing::RequestMeta(1);
  const testing::EchoMessage echo = testing::Echo("hello");
  const Buffer bytes = testing::SplitAt(testing::Encode(meta, &echo, ""), 30);
  ASSERT_EQ(bytes.slices().size(), 2u);

  Frame frame;
  for (int round = 0; round < kRounds; ++round) {
    Buffer input = bytes.Share();
    const size_t before = AllocationsSoFar();
    const auto needed = CutFrame(input, FrameLimits(), frame);
    const size_t after = AllocationsSoFar();
    ASSERT_EQ(*needed, 0u);
    // The first one fills the frame.
    ASSERT_TRUE(round == 0 || after == before) << "round " << round;
  }
}

TEST(FrameAllocationTest, WritingASmallFrameAllocatesNothing) {
  wire::RpcMeta meta = testing::RequestMeta(1);
  const testing::EchoMessage echo = testing::Echo("hello");
  char out[1024];
  for (int round = 0; round < kRounds; ++round) {
    meta.set_correlation_id(round);
    const size_t before = AllocationsSoFar();
    const auto encoder = FrameEncoder::Create(meta, &echo, 100);
    if (encoder->head_size() <= sizeof(out)) encoder->WriteTo(out);
    const size_t after = AllocationsSoFar();
    ASSERT_LE(encoder->head_size(), sizeof(out));
    ASSERT_EQ(after, before) << "round " << round;
  }
}

}  // namespace
}  // namespace farcall
