// SPDX-License-Identifier: Apache-2.0

#include "transport/buffer/registration_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "transport/buffer/registrar_testing.h"

namespace farcall {
namespace {

constexpr size_t kPiece = 4096;

class RegistrationCacheTest : public testing::Test {
 protected:
  RegistrationCacheTest()
      : cache_({.min_bytes = kPiece, .max_bytes = 4 * kPiece, .max_entries = 3}, registrar_) {}

  Buffer Data(size_t at, size_t bytes) {
    Buffer buffer;
    buffer.AppendUserData(&memory_[at], bytes, [this] { ++released_; });
    return buffer;
  }
  // Sends it, as it were, and is done.
  void Send(size_t at, size_t bytes) { cache_.Adopt(Data(at, bytes)).Clear(); }
  static bool Known(const Buffer& buffer) { return buffer.slices()[0].block->keys != nullptr; }

  FakeRegistrar registrar_;
  std::string memory_ = std::string(16 * kPiece, 'x');
  int released_ = 0;
  RegistrationCache cache_;
};

TEST_F(RegistrationCacheTest, APieceIsRegisteredOnce) {
  for (int i = 0; i < 3; ++i) {
    Buffer sent = cache_.Adopt(Data(kPiece, kPiece));
    EXPECT_EQ(sent.size(), kPiece);
    EXPECT_TRUE(Known(sent));
    EXPECT_EQ(sent.slices()[0].view().data(), &memory_[kPiece]);
    EXPECT_EQ(registrar_.regions(), 1u);
    EXPECT_EQ(released_, i);
    sent.Clear();
    EXPECT_EQ(released_, i + 1) << "the caller hears when it was sent";
  }
  EXPECT_EQ(cache_.stats().hits, 2u);
  EXPECT_EQ(cache_.stats().misses, 1u);
  EXPECT_EQ(cache_.stats().bytes, kPiece);
}

TEST_F(RegistrationCacheTest, PartsOfAPieceAreFoundInIt) {
  Send(0, 4 * kPiece);
  EXPECT_TRUE(Known(cache_.Adopt(Data(kPiece, 2 * kPiece))));
  EXPECT_EQ(cache_.stats().hits, 1u);
  // Beyond its end.
  Send(2 * kPiece, 3 * kPiece);
  EXPECT_EQ(cache_.stats().misses, 2u);
}

TEST_F(RegistrationCacheTest, ALongerPieceTakesTheShorterOnesPlace) {
  Send(0, kPiece);
  Send(0, 2 * kPiece);
  EXPECT_EQ(registrar_.regions(), 1u);
  EXPECT_EQ(cache_.stats().bytes, 2 * kPiece);
  EXPECT_EQ(cache_.stats().evictions, 0u);
}

TEST_F(RegistrationCacheTest, SmallAndOtherMemoryStaysAsItIs) {
  Buffer small = cache_.Adopt(Data(0, kPiece - 1));
  EXPECT_FALSE(Known(small));
  Buffer heap(absl::string_view(memory_).substr(0, 2 * kPiece));
  heap = cache_.Adopt(std::move(heap));
  EXPECT_FALSE(Known(heap)) << "the library frees it when it likes";
  Buffer huge = cache_.Adopt(Data(0, 5 * kPiece));
  EXPECT_FALSE(Known(huge));
  EXPECT_EQ(cache_.stats().misses, 0u);
  EXPECT_TRUE(cache_.Adopt(Buffer()).empty());
}

TEST_F(RegistrationCacheTest, OnlyLargePiecesOfABufferAreTouched) {
  Buffer mixed(absl::string_view("head"));
  mixed.Append(Data(0, kPiece));
  mixed.Append("tail");
  const std::string bytes = mixed.ToString();
  mixed = cache_.Adopt(std::move(mixed));
  EXPECT_EQ(mixed.ToString(), bytes);
  EXPECT_EQ(mixed.slices().size(), 3u);
  EXPECT_NE(mixed.slices()[1].block->keys, nullptr);
}

TEST_F(RegistrationCacheTest, TheLeastRecentlySentGoesFirst) {
  Send(0, kPiece);
  Send(2 * kPiece, kPiece);
  Send(4 * kPiece, kPiece);
  Send(0, kPiece);
  Send(6 * kPiece, kPiece);  // a fourth entry
  EXPECT_EQ(cache_.stats().evictions, 1u);
  EXPECT_EQ(registrar_.regions(), 3u);
  Send(0, kPiece);
  EXPECT_EQ(cache_.stats().hits, 2u);
  Send(2 * kPiece, kPiece);
  EXPECT_EQ(cache_.stats().hits, 2u) << "it was dropped";
}

TEST_F(RegistrationCacheTest, BytesAreLimitedToo) {
  Send(0, 3 * kPiece);
  Send(8 * kPiece, 2 * kPiece);
  EXPECT_EQ(cache_.stats().entries, 1u);
  EXPECT_EQ(cache_.stats().bytes, 2 * kPiece);
  EXPECT_EQ(registrar_.regions(), 1u);
}

TEST_F(RegistrationCacheTest, WhatIsUnderWayStaysRegistered) {
  Buffer sent = cache_.Adopt(Data(0, 4 * kPiece));
  Send(8 * kPiece, 4 * kPiece);
  EXPECT_EQ(cache_.stats().entries, 1u);
  EXPECT_EQ(registrar_.regions(), 2u);
  sent.Clear();
  EXPECT_EQ(registrar_.regions(), 1u);
}

TEST_F(RegistrationCacheTest, WhatIsForgottenIsRegisteredAnew) {
  Send(0, 2 * kPiece);
  Send(4 * kPiece, kPiece);
  cache_.Forget(&memory_[2 * kPiece], kPiece);
  EXPECT_EQ(cache_.stats().entries, 2u) << "it touches none";
  cache_.Forget(&memory_[2 * kPiece - 1], 1);
  EXPECT_EQ(cache_.stats().entries, 1u);
  EXPECT_EQ(registrar_.regions(), 1u);
  Send(0, 2 * kPiece);
  EXPECT_EQ(cache_.stats().hits, 0u);
  cache_.Forget(memory_.data(), memory_.size());
  EXPECT_EQ(cache_.stats().entries, 0u);
  EXPECT_EQ(cache_.stats().bytes, 0u);
}

TEST_F(RegistrationCacheTest, WithoutRoomAtTheRegistrarItIsSentAsItIs) {
  registrar_.most = 0;
  EXPECT_FALSE(Known(cache_.Adopt(Data(0, kPiece))));
  EXPECT_EQ(cache_.stats().refused, 1u);
  EXPECT_EQ(cache_.stats().entries, 0u);
}

TEST(RegistrationCacheOptionsTest, SayWhatIsWrongWithThem) {
  const auto why = [](RegistrationCacheOptions options) {
    return std::string(options.Validate().message());
  };
  EXPECT_TRUE(RegistrationCacheOptions().Validate().ok());
  EXPECT_TRUE(RegistrationCacheOptions({.min_bytes = 4096}).Validate().ok());
  EXPECT_EQ(why({.min_bytes = 100}),
            "RegistrationCacheOptions.min_bytes is 100; it must be 0, or 4096 to 1073741824");
  EXPECT_NE(why({.min_bytes = 8192, .max_bytes = 4096}).find("max_bytes is 4096"),
            std::string::npos);
  EXPECT_NE(why({.min_bytes = 4096, .max_entries = 0}).find("1 to 2048"), std::string::npos);
}

TEST(RegistrationCacheThreadsTest, ThreadsSendAndForget) {
  // FakeRegistrar is one thread's; without devices a registrar is not asked much more.
  class Registrar final : public MemoryRegistrar {
   public:
    const RegionKeys* OnMap(std::span<std::byte> region, int node) override {
      const std::lock_guard lock(mutex_);
      return fake_.OnMap(region, node);
    }
    void OnUnmap(const RegionKeys* keys) override {
      const std::lock_guard lock(mutex_);
      fake_.OnUnmap(keys);
    }
    const RegionKeys* OnMapUser(std::span<std::byte> memory) override { return OnMap(memory, -1); }
    void OnUnmapUser(const RegionKeys* keys, absl::AnyInvocable<void()> done) override {
      OnUnmap(keys);
      if (done) done();
    }
    absl::Status UserStatus(const RegionKeys*) const override { return absl::OkStatus(); }

   private:
    std::mutex mutex_;
    FakeRegistrar fake_;
  } registrar;
  std::string memory(8 * kPiece, 'x');
  RegistrationCache cache({.min_bytes = kPiece, .max_bytes = 3 * kPiece, .max_entries = 2},
                          registrar);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (size_t n = 0; n < 500; ++n) {
        Buffer buffer;
        buffer.AppendUserData(&memory[(i + n) % 7 * kPiece], kPiece, nullptr);
        EXPECT_EQ(cache.Adopt(std::move(buffer)).size(), kPiece);
        if (n % 50 == 0) cache.Forget(memory.data(), memory.size());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace farcall
