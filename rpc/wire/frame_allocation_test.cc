// SPDX-License-Identifier: Apache-2.0
//
// In the steady state frames are cut and written without an allocation. The global
// operator new is replaced by one that counts, hence a program of its own.

#include <cstdlib>
#include <memory>
#include <new>
#include <string>

#include "gtest/gtest.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/frame_testing.h"

namespace {
thread_local size_t allocations = 0;
}  // namespace

void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void* operator new[](size_t size) { return ::operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace farcall {
namespace {

constexpr int kRounds = 100;

TEST(FrameAllocationTest, TheCounterCounts) {
  const size_t before = allocations;
  const auto memory = std::make_unique<std::string>(1000, 'x');
  EXPECT_GE(allocations - before, 2u);
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
    const size_t before = allocations;
    const auto needed = CutFrame(input, FrameLimits(), frame);
    const size_t after = allocations;
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
    const size_t before = allocations;
    const auto needed = CutFrame(input, FrameLimits(), frame);
    const size_t after = allocations;
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
    const size_t before = allocations;
    const auto encoder = FrameEncoder::Create(meta, &echo, 100);
    if (encoder->head_size() <= sizeof(out)) encoder->WriteTo(out);
    const size_t after = allocations;
    ASSERT_LE(encoder->head_size(), sizeof(out));
    ASSERT_EQ(after, before) << "round " << round;
  }
}

}  // namespace
}  // namespace farcall
