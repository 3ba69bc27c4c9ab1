// SPDX-License-Identifier: Apache-2.0

#include "transport/link/hello/hello.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

HelloCut CutFrom(absl::string_view bytes, link::Hello& hello) {
  Buffer input(bytes);
  return CutHello(input, hello);
}

// Header with these fields, and `body` behind it.
std::string Raw(uint32_t length, uint32_t size, absl::string_view body) {
  std::string bytes = "\xFA\x43\x4C\x48";
  for (const uint32_t value : {length, size}) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
  }
  return bytes.append(body.data(), body.size());
}

TEST(HelloTest, ComesBackAndLeavesWhatFollows) {
  Buffer input(EncodeHello(MakeHello(1 << 20)));
  input.Append(absl::string_view("DATA"));
  link::Hello hello;
  ASSERT_EQ(CutHello(input, hello), HelloCut::kWhole);
  EXPECT_EQ(hello.version(), kLinkVersion);
  ASSERT_EQ(hello.transports_size(), 1);
  EXPECT_EQ(hello.transports(0), kUpgradeToRdma);
  EXPECT_EQ(hello.window(), 1u << 20);
  EXPECT_EQ(input.ToString(), "DATA");
}

TEST(HelloTest, AnswerComesBack) {
  link::HelloAnswer answer;
  answer.set_version(kLinkVersion);
  answer.set_why(static_cast<uint32_t>(WhyNotRdma::kPeerOff));
  answer.set_text(std::string("not \xFF text"));
  Buffer input(EncodeAnswer(answer));
  link::HelloAnswer read;
  ASSERT_EQ(CutAnswer(input, read), HelloCut::kWhole);
  EXPECT_EQ(read.why(), 14u);
  EXPECT_EQ(read.text(), "not \xFF text");
  EXPECT_TRUE(input.empty());
}

// The bytes are the specification.
TEST(HelloTest, HasTheseBytes) {
  const std::string bytes = EncodeHello(MakeHello(4096));
  ASSERT_EQ(bytes.size(), 64u);
  const absl::string_view expected(
      "\xFA"
      "CLH\0\0\0\x38\0\0\0\x08\x08\x01\x12\x01\x01\x20\x80\x20",
      20);
  EXPECT_EQ(bytes.substr(0, 20), expected);
  EXPECT_EQ(bytes.substr(20), std::string(44, '\0'));
}

TEST(HelloTest, ARailAloneIsNotMentioned) {
  EXPECT_EQ(EncodeHello(MakeHello(4096, 1)), EncodeHello(MakeHello(4096)));
  const std::string bytes = EncodeHello(MakeHello(4096, 3));
  EXPECT_EQ(bytes.substr(20, 2), absl::string_view("\x28\x03", 2));
  Buffer input(bytes);
  link::Hello hello;
  ASSERT_EQ(CutHello(input, hello), HelloCut::kWhole);
  EXPECT_EQ(hello.rails(), 3u);
}

TEST(HelloTest, BothEndsAgreeOnTheFewerRails) {
  EXPECT_EQ(AgreedRails(4, 2), 2u);
  EXPECT_EQ(AgreedRails(2, 8), 2u);
  EXPECT_EQ(AgreedRails(4, 0), 1u) << "an older server says nothing";
  EXPECT_EQ(AgreedRails(0, 8), 1u) << "an older client asks for nothing";
}

TEST(HelloTest, IsLongEnoughForPeersThatWaitForMore) {
  EXPECT_GE(EncodeHello(link::Hello()).size(), 64u);
  EXPECT_GE(EncodeAnswer(link::HelloAnswer()).size(), 64u);
}

TEST(HelloTest, LooksLikeNothingElse) {
  const std::string bytes = EncodeHello(MakeHello(1));
  for (const char* other : {"RDMA", "RDM3", "PRPC", "GET ", "POST", "PRI ", "HULU", "STRM"}) {
    EXPECT_FALSE(absl::StartsWith(bytes, absl::string_view(other).substr(0, 1))) << other;
  }
  EXPECT_NE(bytes[0], '\x16');  // TLS
}

TEST(HelloTest, EveryPrefixMayBecomeOne) {
  const std::string bytes = EncodeHello(MakeHello(1));
  for (size_t size = 0; size < bytes.size(); ++size) {
    link::Hello hello;
    Buffer input(absl::string_view(bytes).substr(0, size));
    ASSERT_EQ(CutHello(input, hello), HelloCut::kMore) << size;
    EXPECT_EQ(input.size(), size);
  }
}

TEST(HelloTest, OtherBytesAreSeenAtTheFirstThatDiffers) {
  const std::string bytes = EncodeHello(MakeHello(1));
  for (size_t at = 0; at < 4; ++at) {
    std::string other = bytes.substr(0, at + 1);
    other[at] = 'P';
    link::Hello hello;
    Buffer input(other);
    EXPECT_EQ(CutHello(input, hello), HelloCut::kOther) << at;
    EXPECT_EQ(input.ToString(), other);
  }
  link::Hello hello;
  EXPECT_EQ(CutFrom("PRPC", hello), HelloCut::kOther);
}

TEST(HelloTest, AnAnswerIsNoHello) {
  link::Hello hello;
  EXPECT_EQ(CutFrom(EncodeAnswer(link::HelloAnswer()), hello), HelloCut::kOther);
  link::HelloAnswer answer;
  Buffer input(EncodeHello(link::Hello()));
  EXPECT_EQ(CutAnswer(input, answer), HelloCut::kOther);
}

TEST(HelloTest, WrongLengthsAreBroken) {
  link::Hello hello;
  const std::string body(4096, '\0');
  EXPECT_EQ(CutFrom(Raw(55, 0, body), hello), HelloCut::kBroken) << "shorter than any";
  EXPECT_EQ(CutFrom(Raw(4089, 0, body), hello), HelloCut::kBroken) << "longer than any";
  EXPECT_EQ(CutFrom(Raw(0xFFFFFFFF, 0, body), hello), HelloCut::kBroken);
  EXPECT_EQ(CutFrom(Raw(56, 53, body), hello), HelloCut::kBroken) << "larger than its hello";
  EXPECT_EQ(CutFrom(Raw(56, 0xFFFFFFFF, body), hello), HelloCut::kBroken);
  EXPECT_EQ(CutFrom(Raw(4088, 0, body), hello), HelloCut::kWhole) << "the longest";
}

// Long before 4 KiB are there: what half a hello can make a server hold is bounded.
TEST(HelloTest, WrongLengthsAreSeenInTheHeader) {
  link::Hello hello;
  EXPECT_EQ(CutFrom(Raw(1 << 20, 0, ""), hello), HelloCut::kBroken);
}

TEST(HelloTest, AMalformedProtobufIsBroken) {
  link::Hello hello;
  EXPECT_EQ(CutFrom(Raw(56, 2, std::string("\x0A\x7F") + std::string(50, '\0')), hello),
            HelloCut::kBroken);
}

TEST(HelloTest, FieldsOfLaterVersionsAreSkipped) {
  std::string body("\x08\x02\xF8\x01\x07", 5);  // version 2, field 31
  body.resize(52, '\0');
  link::Hello hello;
  ASSERT_EQ(CutFrom(Raw(56, 5, body), hello), HelloCut::kWhole);
  EXPECT_EQ(hello.version(), 2u);
}

}  // namespace
}  // namespace farcall
