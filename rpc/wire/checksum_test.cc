// SPDX-License-Identifier: Apache-2.0

#include "rpc/wire/checksum.h"

#include <string>

#include "gtest/gtest.h"
#include "rpc/wire/frame_testing.h"

namespace farcall {
namespace {

using testing::InPieces;
using testing::SplitAt;

// RFC 3720, B.4, and the check value of the catalogues.
TEST(ChecksumTest, CrcsAreThoseOfTheStandard) {
  EXPECT_EQ(Crc32c(Buffer()), 0u);
  EXPECT_EQ(Crc32c(Buffer("123456789")), 0xe3069283u);
  EXPECT_EQ(Crc32c(Buffer(std::string(32, '\0'))), 0x8a9136aau);
  EXPECT_EQ(Crc32c(Buffer(std::string(32, '\xff'))), 0x62a8ab43u);
  std::string counting;
  for (char c = 0; c < 32; ++c) counting.push_back(c);
  EXPECT_EQ(Crc32c(Buffer(counting)), 0x46dd794eu);
}

TEST(ChecksumTest, PiecesDoNotMatter) {
  std::string bytes;
  for (int i = 0; i < 70'000; ++i) bytes.push_back(static_cast<char>(i * 7 + i / 256));
  const uint32_t whole = Crc32c(Buffer(bytes));
  for (const size_t piece : {1, 3, 16, 4097, 65'536}) {
    EXPECT_EQ(Crc32c(InPieces(bytes, piece)), whole) << piece;
  }
  const std::string some = bytes.substr(0, 100);
  for (size_t at = 0; at <= some.size(); ++at) {
    EXPECT_EQ(Crc32c(SplitAt(some, at)), Crc32c(Buffer(some))) << at;
  }
}

TEST(ChecksumTest, GoesOnWhereAnotherOneEnded) {
  const std::string bytes = "payload and attachment";
  for (size_t at = 0; at <= bytes.size(); ++at) {
    const uint32_t first = Crc32c(Buffer(bytes.substr(0, at)));
    EXPECT_EQ(Crc32c(Buffer(bytes.substr(at)), first), Crc32c(Buffer(bytes))) << at;
  }
}

TEST(ChecksumTest, MaskTurnsAndShifts) {
  EXPECT_EQ(MaskCrc32c(0), 0xa282ead8u);
  EXPECT_EQ(MaskCrc32c(0xe3069283u), 0xc78ab0e5u);
  EXPECT_EQ(MaskCrc32c(0x00008000u), 0xa282ead9u);
}

}  // namespace
}  // namespace farcall
