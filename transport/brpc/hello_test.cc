// SPDX-License-Identifier: Apache-2.0

#include "transport/brpc/hello.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "transport/brpc/hello_testing.h"

namespace farcall {
namespace {

struct Read {
  absl::StatusOr<size_t> need;
  BrpcHello hello;
  std::string left;
};

// In pieces; what is needed must be more than what is there.
Read ReadHello(absl::string_view bytes, size_t piece = 10'000) {
  Read read;
  Buffer input;
  do {
    input.Append(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    read.need = CutBrpcHello(input, read.hello);
    if (!read.need.ok() || *read.need == 0) break;
    EXPECT_GT(*read.need, input.size());
  } while (!bytes.empty());
  read.left = input.ToString() + std::string(bytes);
  return read;
}

TEST(BrpcHelloTest, BothVersionsAreWrittenAndReadAsInTheFixtures) {
  EXPECT_EQ(EncodeBrpcHello(BrpcVersion::kSecond, BrpcFixtureEnd()), BrpcSecondFixture());
  EXPECT_EQ(EncodeBrpcHello(BrpcVersion::kThird, BrpcFixtureEnd()), BrpcThirdFixture());
  for (const size_t piece : {size_t{1}, size_t{3}, size_t{1000}}) {
    for (const std::string& bytes : {BrpcSecondFixture(), BrpcThirdFixture()}) {
      const Read read = ReadHello(bytes + "next", piece);
      ASSERT_TRUE(read.need.ok()) << read.need.status();
      EXPECT_EQ(*read.need, 0u);
      EXPECT_TRUE(read.hello.usable.ok()) << read.hello.usable;
      EXPECT_EQ(read.hello.end, BrpcFixtureEnd());
      EXPECT_EQ(read.left, "next");
    }
  }
}

TEST(BrpcHelloTest, RefusalsAreThoseOfTheFixtures) {
  EXPECT_EQ(EncodeBrpcRefusal(BrpcVersion::kSecond, BrpcRefusal::kFellBack),
            BrpcBytes("52444D41 0028") + std::string(34, '\0'));
  EXPECT_EQ(EncodeBrpcRefusal(BrpcVersion::kSecond, BrpcRefusal::kOff),
            BrpcBytes("52444D41 0028 FFFF") + std::string(32, '\0'));
  for (const BrpcRefusal how : {BrpcRefusal::kFellBack, BrpcRefusal::kOff}) {
    EXPECT_EQ(EncodeBrpcRefusal(BrpcVersion::kThird, how),
              BrpcBytes("52444D33 0000001C 0800 1000 1800 2000 2A10") + std::string(16, '\0') +
                  BrpcBytes("3000"));
    for (const BrpcVersion version : {BrpcVersion::kSecond, BrpcVersion::kThird}) {
      const Read read = ReadHello(EncodeBrpcRefusal(version, how));
      EXPECT_EQ(*read.need, 0u);
      EXPECT_EQ(read.hello.version, version);
      EXPECT_EQ(read.hello.usable.message(), "the RDMA hello of brpc refuses");
    }
  }
}

TEST(BrpcHelloTest, ASecondOneMayBeLongerThanItsFields) {
  const std::string longer =
      BrpcBytes("52444D41 0030") + BrpcSecondFixture().substr(6) + std::string(8, 'x');
  const Read read = ReadHello(longer + "next");
  EXPECT_EQ(read.hello.end, BrpcFixtureEnd());
  EXPECT_EQ(read.left, "next");
}

void ExpectUnusable(const BrpcHello& hello, absl::string_view why) {
  EXPECT_TRUE(absl::StrContains(hello.usable.message(), why)) << hello.usable << ", not " << why;
}

// Each field, in both versions: fallback to TCP, and no error.
TEST(BrpcHelloTest, WhatIsOutOfItsBoundsIsNotUsed) {
  const auto check = [](auto change, absl::string_view why) {
    BrpcEnd end = BrpcFixtureEnd();
    change(end);
    for (const BrpcVersion version : {BrpcVersion::kSecond, BrpcVersion::kThird}) {
      const Read read = ReadHello(EncodeBrpcHello(version, end));
      EXPECT_EQ(*read.need, 0u);
      ExpectUnusable(read.hello, why);
    }
  };
  check([](BrpcEnd& end) { end.block_bytes = 1023; }, "receives of 1023 bytes");
  check([](BrpcEnd& end) { end.send_slots = 15; }, "queues for 15 sends and 128 receives");
  check([](BrpcEnd& end) { end.receive_slots = 15; }, "128 sends and 15 receives");
  check([](BrpcEnd& end) { end.number = 0; }, "names queue pair 0");
  check([](BrpcEnd& end) { end.number = 1 << 24; }, "names queue pair 16777216");
}

TEST(BrpcHelloTest, OtherVersionsOfTheSecondOneAreNotUsed) {
  std::string bytes = BrpcSecondFixture();
  bytes[7] = 3;
  ExpectUnusable(ReadHello(bytes).hello, "is of version 3.1, not 2.1");
  bytes = BrpcSecondFixture();
  bytes[9] = 2;
  ExpectUnusable(ReadHello(bytes).hello, "is of version 2.2, not 2.1");
}

TEST(BrpcHelloTest, TheThirdOneMustHaveAllFieldsOfTheRightSize) {
  const auto third = [](absl::string_view body) {
    return ReadHello(BrpcBytes("52444D33") + std::string(3, '\0') + static_cast<char>(body.size()) +
                     std::string(body))
        .hello;
  };
  const std::string body = BrpcThirdFixture().substr(8);
  EXPECT_TRUE(third(body).usable.ok());
  ExpectUnusable(third(body.substr(0, body.size() - 2)), "is no message");
  ExpectUnusable(third("\xff\xff"), "is no message");
  ExpectUnusable(third(absl::StrReplaceAll(body, {{BrpcBytes("2A10"), BrpcBytes("2A0F")}})),
                 "is no message");
  ExpectUnusable(third(BrpcBytes("08E03F 108001 188001 2000 2A02 0A00 3011")),
                 "a GID that is not of 16 bytes");
  const std::string gid = BrpcBytes("2A10 00000000000000000000FFFF0A000001");
  ExpectUnusable(third(BrpcBytes("08E03F 10808004 188001 2000") + gid + BrpcBytes("3011")),
                 "is over 65535");
  // Enhanced connection establishment is somebody's who wants it at both ends.
  EXPECT_TRUE(third(body + BrpcBytes("3A06 0801 1002 1803")).usable.ok());
}

void ExpectNoHello(const std::string& bytes, absl::string_view reason) {
  for (const size_t piece : {size_t{1}, bytes.size()}) {
    const Read read = ReadHello(bytes, piece);
    EXPECT_TRUE(!read.need.ok() && absl::StrContains(read.need.status().message(), reason))
        << read.need.status();
  }
}

TEST(BrpcHelloTest, WhatIsMalformedIsAnError) {
  ExpectNoHello("RDMA" + BrpcBytes("0027"),
                "it says that it has 39 bytes, and 40 to 4096 are allowed");
  ExpectNoHello("RDMA" + BrpcBytes("1001"), "4097 bytes");
  ExpectNoHello("RDM3" + BrpcBytes("00000000"), "it has 0 bytes, and 1 to 8192 are allowed");
  ExpectNoHello("RDM3" + BrpcBytes("00002001"), "8193 bytes");
  ExpectNoHello("RDM3" + BrpcBytes("ffffffff"), "4294967295 bytes");
  ExpectNoHello("RDM2", "no RDMA hello of brpc: it begins with \"RDM2\"");
}

TEST(BrpcHelloTest, ThePrefixTells) {
  for (const char* front : {"R", "RD", "RDM", "RDMA", "RDM3", "RDMAx"}) {
    EXPECT_TRUE(MayBeBrpcHello(front)) << front;
  }
  for (const char* front : {"P", "RX", "RDM2", "PRPC"}) EXPECT_FALSE(MayBeBrpcHello(front));
}

TEST(BrpcHelloTest, TheDecisionIsOneBit) {
  EXPECT_EQ(EncodeBrpcDecision(true), BrpcBytes("00000001"));
  EXPECT_EQ(EncodeBrpcDecision(false), BrpcBytes("00000000"));
  Buffer input(absl::string_view("\0\0\0", 3));
  bool rdma = false;
  EXPECT_EQ(*CutBrpcDecision(input, rdma), 4u);
  input.Append(absl::string_view("\1next"));
  EXPECT_EQ(*CutBrpcDecision(input, rdma), 0u);
  EXPECT_TRUE(rdma);
  EXPECT_EQ(input.ToString(), "next");
  EXPECT_FALSE(CutBrpcDecision(input, rdma).ok());
}

}  // namespace
}  // namespace farcall
