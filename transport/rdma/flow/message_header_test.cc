// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/flow/message_header.h"

#include <cstdint>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace farcall {
namespace {

using ::testing::HasSubstr;

std::string Encoded(const MessageHeader& header) {
  std::string bytes(kMessageHeaderBytes, 'x');
  EncodeMessageHeader(header, bytes.data());
  return bytes;
}

TEST(BigEndianTest, NumbersOfEachSize) {
  char bytes[8];
  PutBigEndian<uint64_t>(0x0123456789abcdef, bytes);
  EXPECT_EQ(absl::BytesToHexString(absl::string_view(bytes, 8)), "0123456789abcdef");
  EXPECT_EQ(GetBigEndian<uint64_t>(bytes), 0x0123456789abcdefu);
  EXPECT_EQ(GetBigEndian<uint32_t>(bytes + 1), 0x23456789u);
  EXPECT_EQ(GetBigEndian<uint16_t>(bytes + 6), 0xcdefu);
  EXPECT_EQ(GetBigEndian<uint8_t>(bytes + 7), 0xefu);
}

TEST(MessageHeaderTest, TheBytesAreFrozen) {
  EXPECT_EQ(absl::BytesToHexString(Encoded({.count = 0xa1b2c3d4})), "a1b2c3d400000000");
  EXPECT_EQ(absl::BytesToHexString(Encoded({.count = 5, .fin = true})), "0000000501000000");
}

TEST(MessageHeaderTest, WhatIsEncodedIsDecoded) {
  for (const uint32_t count : {0u, 1u, 0x80000000u, 0xffffffffu}) {
    for (const bool fin : {false, true}) {
      const auto header = DecodeMessageHeader(Encoded({.count = count, .fin = fin}) + "bytes");
      ASSERT_TRUE(header.ok());
      EXPECT_EQ(header->count, count);
      EXPECT_EQ(header->fin, fin);
    }
  }
}

TEST(MessageHeaderTest, ShorterThanAHeaderIsAnError) {
  const std::string bytes = Encoded({});
  for (size_t size = 0; size < kMessageHeaderBytes; ++size) {
    EXPECT_THAT(DecodeMessageHeader(bytes.substr(0, size)).status().message(),
                HasSubstr("is shorter than its header"))
        << size;
  }
}

TEST(MessageHeaderTest, EachUnknownBitIsAnError) {
  for (int bit = 0; bit < 32; ++bit) {
    std::string bytes = Encoded({.count = 7});
    bytes[static_cast<size_t>(4 + bit / 8)] = static_cast<char>(1 << bit % 8);
    const auto header = DecodeMessageHeader(bytes);
    EXPECT_EQ(header.ok(), bit == 0) << bit;
    EXPECT_EQ(header.status().code(),
              bit == 0 ? absl::StatusCode::kOk : absl::StatusCode::kInvalidArgument);
  }
  EXPECT_THAT(DecodeMessageHeader(absl::string_view("\0\0\0\0\2\0\0\0", 8)).status().message(),
              HasSubstr("unknown flags 0x02000000"));
}

TEST(MessageHeaderTest, TheBytesWithReferencesAreFrozen) {
  EXPECT_EQ(absl::BytesToHexString(Encoded({.count = 5, .reference = true})), "0000000502000000");
  EXPECT_EQ(absl::BytesToHexString(
                Encoded({.count = 5, .fin = true, .reference = true, .references_read = 0xabcd})),
            "000000050300abcd");
  std::string bytes(RemoteBytes::kEncodedBytes, 'x');
  EncodeRemoteBytes({.address = 0x0123456789abcdef, .key = 0x80000701, .length = 0x00012345},
                    bytes.data());
  EXPECT_EQ(absl::BytesToHexString(bytes),
            "0123456789abcdef"
            "80000701"
            "00012345");
}

TEST(MessageHeaderTest, OnlyWhatWasAgreedOnIsKnown) {
  for (int bit = 0; bit < 32; ++bit) {
    std::string bytes = Encoded({.count = 7});
    bytes[static_cast<size_t>(4 + bit / 8)] = static_cast<char>(1 << bit % 8);
    const auto header = DecodeMessageHeader(bytes, References::kYes);
    // The two flags, and the 16 bits of the count.
    EXPECT_EQ(header.ok(), bit <= 1 || bit >= 16) << bit;
    if (header.ok()) {
      EXPECT_EQ(Encoded(*header), bytes);
    }
  }
  EXPECT_FALSE(DecodeMessageHeader(Encoded({.reference = true})).ok());
  EXPECT_FALSE(DecodeMessageHeader(Encoded({.references_read = 1})).ok());
}

TEST(MessageHeaderTest, AReferenceIsOfItsLengthAndRefersToSome) {
  const auto with = [](const RemoteBytes& remote) {
    std::string bytes = Encoded({.reference = true});
    bytes.resize(kMessageHeaderBytes + RemoteBytes::kEncodedBytes);
    EncodeRemoteBytes(remote, bytes.data() + kMessageHeaderBytes);
    return bytes;
  };
  const RemoteBytes good{.address = ~uint64_t{0}, .key = ~0u, .length = RemoteBytes::kMax};
  EXPECT_EQ(DecodeRemoteBytes(with(good)).value(), good);
  for (size_t size = 0; size < with(good).size(); ++size) {
    EXPECT_FALSE(DecodeRemoteBytes(with(good).substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(DecodeRemoteBytes(with(good) + "x").ok());
  EXPECT_THAT(DecodeRemoteBytes(with({.length = 0})).status().message(),
              HasSubstr("refers to 0 bytes"));
  EXPECT_FALSE(DecodeRemoteBytes(with({.length = RemoteBytes::kMax + 1})).ok());
}

}  // namespace
}  // namespace farcall
