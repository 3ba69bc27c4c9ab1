// SPDX-License-Identifier: Apache-2.0

#include "rpc/wire/compress.h"

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rpc/wire/compress_testing.h"
#include "rpc/wire/frame_testing.h"

namespace farcall {
namespace {

using testing::Compressible;
using testing::FromHex;
using ::testing::HasSubstr;
using testing::InPieces;
using testing::kCompressing;
using testing::Noise;
using ::testing::StartsWith;

class CompressTest : public ::testing::Test {
 protected:
  // `bytes` in slices of `piece`, there and back, the compressed bytes in slices too.
  void ExpectRoundTrip(CompressType type, const std::string& bytes, size_t piece) {
    SCOPED_TRACE(absl::StrCat(testing::NameOf(type), " of ", bytes.size(), " in ", piece));
    const auto compressed = Compress(type, InPieces(bytes, piece), *pool_);
    ASSERT_TRUE(compressed.ok()) << compressed.status();
    const Buffer pieces = InPieces(compressed->ToString(), piece);
    const auto again = Decompress(type, pieces, bytes.size(), *pool_);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE(again->ToString() == bytes);
  }

  std::unique_ptr<BlockPool> pool_ = *BlockPool::Create(BlockPoolOptions());
};

TEST_F(CompressTest, SmallBuffersComeBackInAnyPieces) {
  for (const CompressType type : kCompressing) {
    for (size_t size = 0; size <= 300; size += size < 20 ? 1 : 35) {
      for (const size_t piece : {1, 2, 7, 1000}) {
        ExpectRoundTrip(type, Compressible(size, size + 1), piece);
        ExpectRoundTrip(type, Noise(size, size + 1), piece);
      }
    }
  }
}

TEST_F(CompressTest, BuffersAroundTheSizesOfBlocksComeBack) {
  for (const size_t edge : {size_t{8} << 10, size_t{64} << 10, size_t{2} << 20}) {
    for (const size_t size : {edge - 1, edge, edge + 1}) {
      const std::string compressible = Compressible(size, size);
      const std::string noise = Noise(size, size);
      for (const CompressType type : kCompressing) {
        ExpectRoundTrip(type, compressible, 8192);
        ExpectRoundTrip(type, noise, 4097);
      }
    }
  }
}

TEST_F(CompressTest, LargeBuffersComeBack) {
  const std::string compressible = Compressible(5'000'000, 1);
  const std::string noise = Noise(5'000'000, 2);
  for (const CompressType type : kCompressing) {
    ExpectRoundTrip(type, compressible, 65'536);
    ExpectRoundTrip(type, noise, size_t{5} << 20);
    ExpectRoundTrip(type, std::string(7'000'000, 'x'), 100'003);
  }
}

TEST_F(CompressTest, TextBecomesSmaller) {
  const std::string bytes = Compressible(100'000, 3);
  for (const CompressType type : kCompressing) {
    const auto compressed = Compress(type, Buffer(bytes), *pool_);
    ASSERT_TRUE(compressed.ok()) << compressed.status();
    EXPECT_LT(compressed->size(), bytes.size() / 2) << testing::NameOf(type);
  }
}

TEST_F(CompressTest, AllBlocksAreOfThePoolAndGoHome) {
  for (const CompressType type : kCompressing) {
    const auto compressed = Compress(type, Buffer(Noise(300'000, 4)), *pool_);
    ASSERT_TRUE(compressed.ok());
    EXPECT_GE(pool_->stats().used_bytes, compressed->size());
    const auto again = Decompress(type, *compressed, 300'000, *pool_);
    ASSERT_TRUE(again.ok());
    EXPECT_GE(pool_->stats().used_bytes, compressed->size() + again->size());
  }
  EXPECT_EQ(pool_->stats().used_bytes, 0u);
}

TEST_F(CompressTest, ReadsWhatOtherProgramsWrite) {
  for (const CompressType type : kCompressing) {
    for (const size_t piece : {1, 2, 100}) {
      const auto bytes =
          Decompress(type, InPieces(testing::ForeignHello(type), piece), 100, *pool_);
      ASSERT_TRUE(bytes.ok()) << bytes.status();
      EXPECT_EQ(bytes->ToString(), testing::kHello);
    }
  }
}

TEST_F(CompressTest, WritesWhatTheTypeSays) {
  const auto begin = [&](CompressType type) {
    return Compress(type, Buffer(testing::kHello), *pool_)->ToString();
  };
  EXPECT_THAT(begin(COMPRESS_TYPE_SNAPPY), StartsWith("\x25"));
  EXPECT_THAT(begin(COMPRESS_TYPE_GZIP), StartsWith("\x1f\x8b\x08"));
  EXPECT_THAT(begin(COMPRESS_TYPE_ZLIB), StartsWith(FromHex("789c")));
  // Magic; version 1, linked blocks, with size and checksum of the content; blocks of 64 KiB.
  EXPECT_THAT(begin(COMPRESS_TYPE_LZ4), StartsWith(FromHex("04224d18 4c40 2500000000000000")));
}

TEST_F(CompressTest, SeveralMembersOfGzipAreOne) {
  const std::string hello = testing::ForeignHello(COMPRESS_TYPE_GZIP);
  const std::string nothing = Compress(COMPRESS_TYPE_GZIP, Buffer(), *pool_)->ToString();
  const std::string members = absl::StrCat(hello, nothing, hello);
  for (const size_t piece : {1, 5, 36, 1000}) {
    const auto bytes = Decompress(COMPRESS_TYPE_GZIP, InPieces(members, piece), 100, *pool_);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    EXPECT_EQ(bytes->ToString(), absl::StrCat(testing::kHello, testing::kHello));
  }
}

TEST_F(CompressTest, FramesOfLz4NeedNeitherSizeNorChecksumOfTheContent) {
  // Version 1, independent blocks, nothing else; one block that is not compressed; the end.
  const auto bytes =
      Decompress(COMPRESS_TYPE_LZ4, Buffer(FromHex("04224d18 604082 05000080 68656c6c6f 00000000")),
                 5, *pool_);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(bytes->ToString(), "hello");
}

TEST_F(CompressTest, TypesThatDoNotExistAreNamed) {
  for (const int type : {-1, 5, 9, 1 << 20}) {
    const absl::Status status = Compress(type, Buffer("x"), *pool_).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.ToString(), HasSubstr(absl::StrCat("compress_type ", type, " is unknown")));
    EXPECT_EQ(Decompress(type, Buffer("x"), 10, *pool_).status(), status);
    EXPECT_EQ(CheckCompressType(type), status);
  }
  EXPECT_EQ(Compress(0, Buffer("x"), *pool_).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Decompress(0, Buffer("x"), 1, *pool_).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace farcall
