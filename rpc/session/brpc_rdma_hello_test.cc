// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/brpc_rdma_hello.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"

namespace farcall {
namespace {

std::string FromHex(absl::string_view hex) {
  return absl::HexStringToBytes(absl::StrReplaceAll(hex, {{" ", ""}}));
}

const std::string& SecondHello() {
  static const auto* const bytes =
      new std::string(FromHex("52444D41 0028 0002 0001 00001FE0 0080 0080 0000"
                              "00000000000000000000FFFF0A000001 00000011"));
  return *bytes;
}
const std::string& ThirdHello() {
  static const auto* const bytes =
      new std::string(FromHex("52444D33 0000001F 08E03F 108001 188001 2000"
                              "2A10 00000000000000000000FFFF0A000001 3011"));
  return *bytes;
}
const std::string& SecondRefusal() {
  static const auto* const bytes =
      new std::string(FromHex("52444D41 0028 FFFF") + std::string(32, '\0'));
  return *bytes;
}
const std::string& ThirdRefusal() {
  static const auto* const bytes =
      new std::string(FromHex("52444D33 0000001C 0800 1000 1800 2000 2A10") +
                      std::string(16, '\0') + FromHex("3000"));
  return *bytes;
}
const std::string kStay(4, '\0');

struct Seen {
  absl::Status status;
  std::string answer;
  std::string left;
  bool done = false;
};

Seen Read(absl::string_view bytes, size_t piece = 10'000) {
  BrpcRdmaHello hello;
  Buffer input;
  Seen seen;
  while (!bytes.empty() && seen.status.ok()) {
    input.Append(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    seen.status = hello.OnRead(input, seen.answer).status();
  }
  seen.left = input.ToString();
  seen.done = hello.done();
  return seen;
}

TEST(BrpcRdmaHelloTest, EachVersionIsRefusedInItsOwnWay) {
  for (const size_t piece : {1, 3, 44, 1000}) {
    const Seen second = Read(SecondHello() + kStay + "PRPC", piece);
    EXPECT_TRUE(second.done) << second.status;
    EXPECT_EQ(second.answer, SecondRefusal());
    EXPECT_EQ(second.left, "PRPC");
    const Seen third = Read(ThirdHello() + kStay + "PRPC", piece);
    EXPECT_TRUE(third.done) << third.status;
    EXPECT_EQ(third.answer, ThirdRefusal());
    EXPECT_EQ(third.left, "PRPC");
  }
}

TEST(BrpcRdmaHelloTest, TheAnswerDoesNotWaitForTheDecision) {
  const Seen seen = Read(SecondHello());
  EXPECT_EQ(seen.answer, SecondRefusal());
  EXPECT_FALSE(seen.done);
}

TEST(BrpcRdmaHelloTest, ItTellsHowManyBytesItNeeds) {
  BrpcRdmaHello hello;
  Buffer input(absl::string_view("RDM"));
  std::string answer;
  EXPECT_EQ(*hello.OnRead(input, answer), 4u);
  input.Append(absl::string_view("A"));
  EXPECT_EQ(*hello.OnRead(input, answer), 6u);
  input.Append(absl::string_view("\0\x30", 2));
  EXPECT_EQ(*hello.OnRead(input, answer), 48u);
  EXPECT_TRUE(answer.empty());
}

// A version that is still to come may have more fields; what they say does not matter.
TEST(BrpcRdmaHelloTest, LongerHellosAndAnyFieldsAreRefusedAlike) {
  const std::string longest = "RDMA" + FromHex("1000") + std::string(4090, '\xff');
  EXPECT_TRUE(Read(longest + kStay).done);
  EXPECT_EQ(Read(longest).answer, SecondRefusal());
  const std::string third = "RDM3" + FromHex("00002000") + std::string(8192, '\xff');
  EXPECT_TRUE(Read(third + kStay).done);
  EXPECT_EQ(Read(third).answer, ThirdRefusal());
  EXPECT_TRUE(Read("RDMA" + FromHex("0028") + std::string(34, '\0') + kStay).done);
}

void ExpectError(const std::string& bytes, absl::string_view reason) {
  for (const size_t piece : {size_t{1}, bytes.size()}) {
    const Seen seen = Read(bytes, piece);
    EXPECT_FALSE(seen.done);
    EXPECT_TRUE(absl::StrContains(seen.status.message(), reason)) << seen.status;
  }
}

TEST(BrpcRdmaHelloTest, WhatIsMalformedIsAnError) {
  ExpectError("RDMA" + FromHex("0027"), "it says that it has 39 bytes, and 40 to 4096 are allowed");
  ExpectError("RDMA" + FromHex("1001"), "4097 bytes");
  ExpectError("RDM3" + FromHex("00000000"), "it has 0 bytes, and 1 to 8192 are allowed");
  ExpectError("RDM3" + FromHex("00002001"), "8193 bytes");
  ExpectError("RDM3" + FromHex("ffffffff"), "4294967295 bytes");
  ExpectError("RDM2", "no RDMA hello of brpc: it begins with \"RDM2\"");
}

TEST(BrpcRdmaHelloTest, WhoWasRefusedMayNotWantRdma) {
  ExpectError(SecondHello() + FromHex("00000001"), "wants RDMA although it was refused");
  ExpectError(ThirdHello() + FromHex("00000002"), "the client's decision is 0x00000002");
  ExpectError(SecondHello() + SecondHello(), "the client's decision is 0x52444d41");
}

}  // namespace
}  // namespace farcall
