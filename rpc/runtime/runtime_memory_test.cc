// SPDX-License-Identifier: Apache-2.0
//
// What a runtime does with the program's memory where there is no RDMA.

#include <atomic>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "rpc/controller.h"
#include "rpc/runtime/runtime.h"

namespace farcall {
namespace {

RuntimeOptions Small() {
  RuntimeOptions options;
  options.event_loops = 1;
  return options;
}

std::span<std::byte> BytesOf(std::string& text) {
  return {reinterpret_cast<std::byte*>(text.data()), text.size()};
}

TEST(RuntimeMemoryTest, MemoryIsReleasedWithTheLastSlice) {
  std::string bytes = "some bytes";
  std::atomic<int> released{0};
  const auto runtime = *Runtime::Create(Small());
  auto memory = runtime->RegisterMemory(BytesOf(bytes), [&] { ++released; });
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_TRUE(memory->status().ok());
  Buffer slice = memory->Slice(5, 5);
  EXPECT_EQ(slice.ToString(), "bytes");
  *memory = RegisteredMemory();
  EXPECT_EQ(released, 0);
  slice.Clear();
  EXPECT_EQ(released, 1);
}

TEST(RuntimeMemoryTest, NoBytesAreRefused) {
  const auto runtime = *Runtime::Create(Small());
  EXPECT_EQ(runtime->RegisterMemory({}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(RuntimeMemoryTest, BlocksAreAllocatedAndGivenBack) {
  RuntimeOptions options = Small();
  options.pool.region_bytes = size_t{2} << 20;
  options.pool.max_bytes = size_t{6} << 20;
  const auto runtime = *Runtime::Create(options);
  const auto used = [&] { return runtime->parts().pool->stats().used_bytes; };
  {
    auto buffer = runtime->AllocateBuffer(5000);
    ASSERT_TRUE(buffer.ok()) << buffer.status();
    buffer->CopyFrom("written", 7);
    EXPECT_EQ(buffer->size(), 5000u);
    EXPECT_EQ(buffer->ToString().substr(0, 7), "written");
    EXPECT_EQ(used(), 8192u);
    buffer->RemoveFront(4990);
    const Buffer kept = runtime->RightSized(*std::move(buffer));
    EXPECT_EQ(kept.pinned_bytes(), 10u);
    EXPECT_EQ(used(), 0u);
  }
  EXPECT_EQ(runtime->AllocateBuffer(size_t{7} << 20).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(used(), 0u);
}

TEST(RuntimeMemoryTest, NothingIsCopiedAtFirst) {
  const auto runtime = *Runtime::Create(Small());
  EXPECT_EQ(runtime->copied_bytes(), CopiedBytes());
}

TEST(RuntimeMemoryTest, TheCacheIsOffUnlessItIsAskedFor) {
  const auto plain = *Runtime::Create(Small());
  EXPECT_EQ(plain->parts().registrations, nullptr);
  plain->ForgetMemory("anything", 8);
  RuntimeOptions options = Small();
  options.registration_cache.min_bytes = 65'536;
  const auto runtime = *Runtime::Create(options);
  EXPECT_NE(runtime->parts().registrations, nullptr);
  options.registration_cache.min_bytes = 1;
  EXPECT_NE(Runtime::Create(options).status().message().find("RegistrationCacheOptions.min_bytes"),
            absl::string_view::npos);
}

TEST(RuntimeMemoryTest, AControllerLetsGoOfItsMemory) {
  int released = 0;
  char byte = 0;
  Controller controller;
  for (const bool reset : {true, false}) {
    Buffer memory;
    memory.AppendUserData(&byte, 1, [&] { ++released; });
    controller.set_response_attachment_memory(std::move(memory));
    reset ? controller.Reset() : controller.End(0, "", 0);
    EXPECT_EQ(released, reset ? 1 : 2);
  }
}

}  // namespace
}  // namespace farcall
