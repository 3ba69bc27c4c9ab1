// SPDX-License-Identifier: Apache-2.0

#include "transport/buffer/registered_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "transport/buffer/registrar_testing.h"

namespace farcall {
namespace {

class RegisteredMemoryTest : public testing::Test {
 protected:
  std::span<std::byte> Bytes() {
    return {reinterpret_cast<std::byte*>(text_.data()), text_.size()};
  }
  RegisteredMemory Register() {
    return *RegisteredMemory::Register(&registrar_, Bytes(), [this] { ++released_; });
  }

  FakeRegistrar registrar_;
  std::string text_ = "0123456789";
  int released_ = 0;
};

TEST_F(RegisteredMemoryTest, SlicesAreTheMemoryItself) {
  const RegisteredMemory memory = Register();
  const Buffer slice = memory.Slice(3, 4);
  EXPECT_EQ(slice.ToString(), "3456");
  ASSERT_EQ(slice.slices().size(), 1u);
  EXPECT_EQ(slice.slices()[0].view().data(), text_.data() + 3);
  EXPECT_NE(slice.slices()[0].block->keys, nullptr);
  EXPECT_EQ(memory.size(), 10u);
  EXPECT_EQ(memory.memory().data(), Bytes().data());
}

TEST_F(RegisteredMemoryTest, NeighboursJoinInOneBuffer) {
  const RegisteredMemory memory = Register();
  Buffer all = memory.Slice(0, 5);
  all.Append(memory.Slice(5, 5));
  EXPECT_EQ(all.slices().size(), 1u);
  EXPECT_EQ(all.ToString(), text_);
}

TEST_F(RegisteredMemoryTest, NoBytesAreNoMemory) {
  EXPECT_EQ(RegisteredMemory::Register(&registrar_, {}, nullptr).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(registrar_.regions(), 0u);
  const RegisteredMemory memory = Register();
  int done = 0;
  EXPECT_TRUE(memory.Slice(10, 0, [&] { ++done; }).empty());
  EXPECT_EQ(done, 1);
}

TEST_F(RegisteredMemoryTest, ASliceLiesWithin) {
  const RegisteredMemory memory = Register();
  EXPECT_DEATH(memory.Slice(11, 0), "within its memory");
  EXPECT_DEATH(memory.Slice(5, 6), "within its memory");
  EXPECT_DEATH(memory.Slice(1, SIZE_MAX), "within its memory");
}

TEST_F(RegisteredMemoryTest, WhatAPeerAsksForIsRefusedWhereItDoesNotLieWithin) {
  const RegisteredMemory memory = Register();
  int done = 0;
  const auto count = [&] { ++done; };
  EXPECT_EQ(memory.TrySlice(11, 0, count).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(memory.TrySlice(5, 6, count).status().message(),
            "6 bytes from offset 5 on are asked of memory of 10 bytes");
  EXPECT_FALSE(memory.TrySlice(1, SIZE_MAX, count).ok());
  EXPECT_FALSE(memory.TrySlice(SIZE_MAX, 1, count).ok());
  EXPECT_EQ(done, 0) << "a slice that is not has no end";
  EXPECT_EQ(memory.TrySlice(5, 5, count)->ToString(), "56789");
  EXPECT_EQ(done, 1);
}

TEST_F(RegisteredMemoryTest, ASliceCountsAsItsOwnBytesOnly) {
  const RegisteredMemory memory = Register();
  EXPECT_EQ(memory.Slice(2, 3).pinned_bytes(), 3u);
  EXPECT_EQ(memory.Slice(2, 3, [] {}).pinned_bytes(), 3u);
}

TEST_F(RegisteredMemoryTest, ItIsReleasedAfterTheLastHandleAndTheLastSlice) {
  RegisteredMemory memory = Register();
  RegisteredMemory copy = memory;
  Buffer slice = copy.Slice(0, 10);
  memory = {};
  copy = {};
  EXPECT_FALSE(copy);
  EXPECT_EQ(released_, 0);
  EXPECT_EQ(registrar_.regions(), 1u);
  slice.Clear();
  EXPECT_EQ(released_, 1);
  EXPECT_EQ(registrar_.regions(), 0u);
}

TEST_F(RegisteredMemoryTest, ItIsReleasedOnceNoDeviceKnowsIt) {
  registrar_.hold = true;
  Register();
  EXPECT_EQ(released_, 0);
  registrar_.Drop();
  EXPECT_EQ(released_, 1);
}

TEST_F(RegisteredMemoryTest, EachSliceTellsWhenItIsDone) {
  const RegisteredMemory memory = Register();
  EXPECT_TRUE(memory.idle());
  int first = 0;
  int second = 0;
  Buffer one = memory.Slice(0, 4, [&] { ++first; });
  Buffer two = memory.Slice(2, 4, [&] { ++second; });
  EXPECT_FALSE(memory.idle());
  EXPECT_NE(one.slices()[0].block->keys, nullptr);
  Buffer shared = one.Share();
  one.Clear();
  EXPECT_EQ(first, 0);
  shared.RemoveFront(3);
  EXPECT_EQ(first, 0);
  shared.Clear();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 0);
  EXPECT_FALSE(memory.idle());
  two.Clear();
  EXPECT_EQ(second, 1);
  EXPECT_TRUE(memory.idle());
}

TEST_F(RegisteredMemoryTest, MemoryMayBeRegisteredTwiceAndOverlap) {
  const RegisteredMemory memory = Register();
  const RegisteredMemory part =
      *RegisteredMemory::Register(&registrar_, Bytes().subspan(1, 3), nullptr);
  EXPECT_EQ(registrar_.regions(), 2u);
  EXPECT_EQ(part.Slice(0, 3).ToString(), "123");
  EXPECT_NE(part.Slice(0, 3).slices()[0].block->keys, memory.Slice(0, 3).slices()[0].block->keys);
}

TEST_F(RegisteredMemoryTest, WithoutARegistrarItIsOrdinaryMemory) {
  RegisteredMemory memory = *RegisteredMemory::Register(nullptr, Bytes(), [this] { ++released_; });
  EXPECT_TRUE(memory.status().ok());
  EXPECT_EQ(memory.Slice(0, 10).ToString(), text_);
  memory = {};
  EXPECT_EQ(released_, 1);
}

TEST_F(RegisteredMemoryTest, TellsWhatTheRegistrarSays) {
  const RegisteredMemory memory = Register();
  EXPECT_TRUE(memory.status().ok());
  registrar_.status = absl::UnavailableError("not yet");
  EXPECT_EQ(memory.status().message(), "not yet");
}

TEST_F(RegisteredMemoryTest, OverTheLimitNothingIsLeftBehind) {
  registrar_.most = 0;
  const auto memory = RegisteredMemory::Register(&registrar_, Bytes(), [this] { ++released_; });
  EXPECT_EQ(memory.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(released_, 0);
}

// Address space that is never touched.
class HugeMemoryTest : public RegisteredMemoryTest {
 protected:
  static constexpr size_t kBytes = (size_t{5} << 30) + 4096;

  HugeMemoryTest() {
    void* const at = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at != MAP_FAILED) huge_ = {static_cast<std::byte*>(at), kBytes};
  }
  ~HugeMemoryTest() override {
    if (!huge_.empty()) munmap(huge_.data(), huge_.size());
  }

  std::span<std::byte> huge_;
};

TEST_F(HugeMemoryTest, MoreThanABlockHoldsIsRegisteredInPieces) {
  ASSERT_FALSE(huge_.empty());
  RegisteredMemory memory =
      *RegisteredMemory::Register(&registrar_, huge_, [this] { ++released_; });
  EXPECT_EQ(registrar_.regions(), 6u);
  huge_[(size_t{4} << 30) - 1] = std::byte{'a'};
  huge_[size_t{4} << 30] = std::byte{'b'};
  int done = 0;
  Buffer slice = memory.Slice((size_t{4} << 30) - 1, 2, [&] { ++done; });
  EXPECT_EQ(slice.ToString(), "ab");
  EXPECT_EQ(slice.slices().size(), 2u);
  Buffer all = memory.Slice(0, kBytes);
  EXPECT_EQ(all.size(), kBytes);
  EXPECT_EQ(all.slices().size(), 6u);
  memory = {};
  slice.RemoveFront(1);
  EXPECT_EQ(done, 0);
  slice.Clear();
  EXPECT_EQ(done, 1);
  registrar_.hold = true;
  all.Clear();
  EXPECT_EQ(released_, 0);
  registrar_.Drop();
  EXPECT_EQ(released_, 1);
}

TEST_F(HugeMemoryTest, OverTheLimitNoPieceIsLeftBehind) {
  ASSERT_FALSE(huge_.empty());
  registrar_.most = 4;
  EXPECT_FALSE(RegisteredMemory::Register(&registrar_, huge_, nullptr).ok());
  EXPECT_EQ(registrar_.regions(), 0u);
}

// As where the CPU cannot reach it: what is known of a block lies elsewhere.
TEST(RegisteredMemoryAccessTest, PassingItOnNeitherReadsNorWritesIt) {
  constexpr size_t kBytes = size_t{64} << 10;
  void* const at = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(at, MAP_FAILED);
  FakeRegistrar registrar;
  int released = 0;
  {
    RegisteredMemory memory = *RegisteredMemory::Register(
        &registrar, {static_cast<std::byte*>(at), kBytes}, [&] { ++released; });
    Buffer all = memory.Slice(0, kBytes / 2);
    all.Append(memory.Slice(kBytes / 2, kBytes / 2));
    Buffer front = all.CutFront(1000);
    front.Append(all.Share());
    all.RemoveFront(kBytes / 2);
    memory = {};
    EXPECT_EQ(front.size(), kBytes);
    EXPECT_EQ(front.slices().size(), 1u);
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
  munmap(at, kBytes);
}

TEST(RegisteredMemoryThreadsTest, SlicesAreTakenAndDroppedByAnyThread) {
  std::string text(1000, 'x');
  std::atomic<int> released{0};
  std::atomic<int> done{0};
  {
    RegisteredMemory memory = *RegisteredMemory::Register(
        nullptr, {reinterpret_cast<std::byte*>(text.data()), text.size()}, [&] { ++released; });
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([memory, &done] {
        for (size_t n = 0; n < 1000; ++n) {
          const Buffer plain = memory.Slice(n, 1000 - n);
          const Buffer dropped = memory.Slice(0, 1, [&done] { ++done; });
        }
      });
    }
    memory = {};
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(released, 1);
  EXPECT_EQ(done, 4000);
}

}  // namespace
}  // namespace farcall
