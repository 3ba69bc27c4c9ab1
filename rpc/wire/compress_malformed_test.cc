// SPDX-License-Identifier: Apache-2.0
//
// What Decompress refuses, and what it may cost to be lied to.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rpc/wire/compress.h"
#include "rpc/wire/compress_testing.h"
#include "rpc/wire/frame_testing.h"

namespace farcall {
namespace {

using testing::FromHex;
using ::testing::HasSubstr;
using testing::InPieces;
using testing::kCompressing;

constexpr size_t kBombSize = size_t{64} << 20;

class CompressMalformedTest : public ::testing::Test {
 protected:
  // The error, which is the same in one piece and in single bytes, and names the type.
  absl::Status Refusal(CompressType type, const std::string& bytes, size_t max_size = 1000) {
    const absl::Status status = Decompress(type, Buffer(bytes), max_size, *pool_).status();
    EXPECT_EQ(Decompress(type, InPieces(bytes, 1), max_size, *pool_).status(), status);
    if (!status.ok()) {
      EXPECT_THAT(status.ToString(), HasSubstr(testing::NameOf(type)));
    }
    return status;
  }
  void ExpectMalformed(CompressType type, const std::string& bytes, const std::string& what) {
    const absl::Status status = Refusal(type, bytes);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(status.ToString(), HasSubstr(what));
  }

  std::unique_ptr<BlockPool> pool_ = testing::SmallPool();
};

TEST_F(CompressMalformedTest, BytesThatAreCutShortAreRefused) {
  for (const CompressType type : kCompressing) {
    const std::string whole = testing::ForeignHello(type);
    for (size_t size = 0; size < whole.size(); ++size) {
      const absl::Status status = Refusal(type, whole.substr(0, size));
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << size << " " << status;
    }
    ASSERT_TRUE(Refusal(type, whole).ok());
  }
}

TEST_F(CompressMalformedTest, BytesAfterTheEndAreRefused) {
  for (const CompressType type : kCompressing) {
    for (const std::string& garbage :
         {std::string(1, '\0'), std::string("x"), std::string(100, 'x'), std::string(8, '\0')}) {
      const absl::Status status = Refusal(type, testing::ForeignHello(type) + garbage);
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument)
          << testing::NameOf(type) << garbage.size() << status;
    }
  }
  for (const CompressType type : {COMPRESS_TYPE_GZIP, COMPRESS_TYPE_ZLIB, COMPRESS_TYPE_LZ4}) {
    ExpectMalformed(type, testing::ForeignHello(type) + "xx", "bytes follow its end");
  }
}

TEST_F(CompressMalformedTest, EveryChangedByteIsRefusedOrHarmless) {
  for (const CompressType type : kCompressing) {
    const std::string sound = testing::ForeignHello(type);
    for (size_t at = 0; at < sound.size(); ++at) {
      for (const int change : {0x01, 0x80, 0xff, 0x10}) {
        std::string bytes = sound;
        bytes[at] = static_cast<char>(bytes[at] ^ change);
        const auto out = Decompress(type, Buffer(bytes), 1000, *pool_);
        // Only the trailers of gzip, zlib and LZ4 find all changes of the content, and those
        // of time, name and system in gzip's header do not matter.
        if (type == COMPRESS_TYPE_SNAPPY || !out.ok()) continue;
        EXPECT_EQ(out->ToString(), testing::kHello) << testing::NameOf(type) << " at " << at;
      }
    }
  }
  EXPECT_EQ(pool_->stats().used_bytes, 0u);
}

TEST_F(CompressMalformedTest, NothingAndNoiseAreRefused) {
  for (const CompressType type : kCompressing) {
    EXPECT_FALSE(Refusal(type, "").ok()) << testing::NameOf(type);
    for (uint64_t seed = 1; seed <= 200; ++seed) {
      const absl::Status status = Refusal(type, "\xfe" + testing::Noise(seed, seed));
      EXPECT_FALSE(status.ok()) << testing::NameOf(type) << " seed " << seed;
    }
  }
}

TEST_F(CompressMalformedTest, TypesAreNotMixedUp) {
  for (const CompressType type : kCompressing) {
    for (const CompressType other : kCompressing) {
      if (type == other) continue;
      EXPECT_FALSE(Refusal(type, testing::ForeignHello(other)).ok())
          << testing::NameOf(other) << " read as " << testing::NameOf(type);
    }
  }
}

TEST_F(CompressMalformedTest, ErrorsSayWhatIsWrong) {
  std::string wrong_crc = testing::ForeignHello(COMPRESS_TYPE_GZIP);
  wrong_crc[wrong_crc.size() - 8] ^= 1;
  ExpectMalformed(COMPRESS_TYPE_GZIP, wrong_crc, "incorrect data check");
  ExpectMalformed(COMPRESS_TYPE_GZIP, "GET / HTTP", "incorrect header check");
  ExpectMalformed(COMPRESS_TYPE_GZIP, "\x1f\x8b", "cut short");
  // FDICT, and the number of a dictionary.
  ExpectMalformed(COMPRESS_TYPE_ZLIB, FromHex("78bb 00000001 0000"), "preset dictionary");
  ExpectMalformed(COMPRESS_TYPE_SNAPPY, FromHex("ffffffffff"), "does not begin with a length");
  ExpectMalformed(COMPRESS_TYPE_SNAPPY, FromHex("05 00"), "no block of snappy");
  ExpectMalformed(COMPRESS_TYPE_LZ4, "GET / HTTP/1.1\r\n\r\n", "no frame header");
  ExpectMalformed(COMPRESS_TYPE_LZ4, FromHex("502a4d18 04000000 00000000 0000000000000000"),
                  "skippable frame");
}

TEST_F(CompressMalformedTest, TheLimitIsExact) {
  for (const CompressType type : kCompressing) {
    for (const size_t size : {size_t{1}, size_t{8} << 10, size_t{64} << 10, size_t{100'000}}) {
      const std::string bytes = testing::Compressible(size, size);
      const Buffer compressed = *Compress(type, Buffer(bytes), *pool_);
      EXPECT_EQ(Decompress(type, compressed, size, *pool_)->ToString(), bytes);
      const absl::Status status = Decompress(type, compressed, size - 1, *pool_).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
      EXPECT_THAT(status.ToString(), HasSubstr(absl::StrCat("more than ", size - 1)));
      EXPECT_THAT(status.ToString(), HasSubstr(testing::NameOf(type)));
    }
    const Buffer nothing = *Compress(type, Buffer(), *pool_);
    EXPECT_TRUE(Decompress(type, nothing, 0, *pool_).ok());
  }
}

// 64 MiB from little. The pool gives 6 MiB: with more than the limit and a block, it would say
// so instead. What it gave at all bounds what was in use at once.
TEST_F(CompressMalformedTest, BombsCostNoMoreThanTheLimitAndABlock) {
  constexpr size_t kLimit = 100'000;
  for (const CompressType type : kCompressing) {
    const std::string bomb =
        Compress(type, testing::Zeros(kBombSize), **BlockPool::Create(BlockPoolOptions()))
            ->ToString();
    ASSERT_LT(bomb.size(), kBombSize / 20) << testing::NameOf(type);
    for (const size_t piece : {size_t{1000}, bomb.size()}) {
      const uint64_t before = pool_->stats().allocations;
      const absl::Status status = Decompress(type, InPieces(bomb, piece), kLimit, *pool_).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
      EXPECT_THAT(status.ToString(), HasSubstr("decompresses to more than 100000"));
      // Two blocks of 64 KiB hold the limit.
      EXPECT_LE(pool_->stats().allocations - before, 3u) << testing::NameOf(type);
    }
  }
  EXPECT_EQ(pool_->stats().used_bytes, 0u);
}

TEST_F(CompressMalformedTest, LyingAboutTheSizeCostsNothing) {
  const uint64_t before = pool_->stats().allocations;
  // 4 GiB - 1, in five bytes; 64 KiB, which three elements cannot make.
  ExpectMalformed(COMPRESS_TYPE_SNAPPY, FromHex("ffffffff0f 00"), "announces 4294967295 bytes");
  ExpectMalformed(COMPRESS_TYPE_SNAPPY, FromHex("808004 fe0100 fe0100 fe0100"), "cannot hold");
  // A frame that announces 1 TiB, and one with blocks of 4 MiB where 1000 bytes are allowed.
  EXPECT_THAT(
      Refusal(COMPRESS_TYPE_LZ4, FromHex("04224d18 4840 0000000000010000 8b 00000000")).ToString(),
      HasSubstr("lz4"));
  EXPECT_THAT(Refusal(COMPRESS_TYPE_LZ4, FromHex("04224d18 607073 00000000")).ToString(),
              HasSubstr("more than 1000"));
  EXPECT_EQ(pool_->stats().allocations, before);
}

TEST_F(CompressMalformedTest, PoolAtItsLimitIsSaidAndLosesNothing) {
  const std::string noise = testing::Noise(3 << 20, 5);
  std::vector<BlockRef> hostages;
  const auto take_all = [&] {
    for (BlockRef block; (block = pool_->Allocate(1));) hostages.push_back(std::move(block));
    for (BlockRef block; (block = pool_->Allocate(BlockPool::kMedium));) {
      hostages.push_back(std::move(block));
    }
    for (BlockRef block; (block = pool_->Allocate(BlockPool::kLarge));) {
      hostages.push_back(std::move(block));
    }
  };
  const std::unique_ptr<BlockPool> other = *BlockPool::Create(BlockPoolOptions());
  for (const CompressType type : kCompressing) {
    const Buffer compressed = *Compress(type, Buffer(noise), *other);
    take_all();
    // With some of the blocks that are needed, and with none.
    for (const size_t left : {size_t{2}, size_t{0}}) {
      for (size_t i = 0; i < left; ++i) hostages.pop_back();
      const absl::Status in = Compress(type, Buffer(noise), *pool_).status();
      EXPECT_EQ(in.code(), absl::StatusCode::kResourceExhausted);
      EXPECT_THAT(in.ToString(), HasSubstr(absl::StrCat("no blocks to compress a ",
                                                        testing::NameOf(type), " payload")));
      const absl::Status out = Decompress(type, compressed, noise.size(), *pool_).status();
      EXPECT_EQ(out.code(), absl::StatusCode::kResourceExhausted);
      EXPECT_THAT(out.ToString(), HasSubstr("no blocks to decompress"));
      take_all();
    }
    hostages.clear();
    EXPECT_EQ(pool_->stats().used_bytes, 0u);
  }
}

}  // namespace
}  // namespace farcall
