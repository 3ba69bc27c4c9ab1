// SPDX-License-Identifier: Apache-2.0

#include "transport/base/big_endian.h"

#include <string>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace farcall {
namespace {

template <typename Number>
void ExpectBytes(Number number, absl::string_view bytes) {
  // Not aligned, and nothing beside them is touched.
  char room[] = "0123456789ab";
  PutBigEndian(number, room + 1);
  EXPECT_EQ(absl::string_view(room + 1, sizeof(Number)), bytes);
  EXPECT_EQ(room[0], '0');
  EXPECT_EQ(room[1 + sizeof(Number)], "0123456789ab"[1 + sizeof(Number)]);
  EXPECT_EQ(GetBigEndian<Number>(room + 1), number);
  std::string end = "before";
  AppendBigEndian(number, end);
  EXPECT_EQ(absl::string_view(end).substr(6), bytes);
}

TEST(BigEndianTest, TheHighestByteComesFirst) {
  ExpectBytes<uint8_t>(0xA1, "\xA1");
  ExpectBytes<uint16_t>(0xA1B2, "\xA1\xB2");
  ExpectBytes<uint32_t>(0xA1B2C3D4, "\xA1\xB2\xC3\xD4");
  ExpectBytes<uint64_t>(0xA1B2C3D4E5F60718, "\xA1\xB2\xC3\xD4\xE5\xF6\x07\x18");
}

}  // namespace
}  // namespace farcall
