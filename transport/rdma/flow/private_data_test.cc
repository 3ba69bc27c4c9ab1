// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/flow/private_data.h"

#include <cstdint>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace farcall {
namespace {

using ::testing::HasSubstr;

template <typename Bytes>
std::string Text(const Bytes& bytes) {
  return std::string(bytes.data(), bytes.size());
}

constexpr ReceiveTerms kTerms{.block_bytes = 65536, .initial_receives = 4, .receive_slots = 128};

ConnectData SomeConnectData() {
  ConnectData data{.generation = 0x01020304, .receives = kTerms};
  for (size_t i = 0; i < data.token.size(); ++i) data.token[i] = static_cast<uint8_t>(0xf0 + i);
  return data;
}

const AcceptData kAccept{.generation = 7, .receives = kTerms};
const RejectData kReject{.why = WhyNotRdma::kCapacity, .text = "no receives"};

TEST(PrivateDataTest, AnAnswerStandsBehindEverythingElse) {
  AcceptData data = kAccept;
  data.answer.fill(0xab);
  for (const uint8_t windows : {0, 16}) {
    data.receives.windows = data.receives.reads = windows;
    const std::string bytes = Text(EncodeAcceptData(data));
    EXPECT_EQ(bytes.size(), AcceptData::kMaxBytes);
    EXPECT_EQ(bytes.substr(24), std::string(16, '\xab'));
    EXPECT_EQ(DecodeAcceptData(bytes + std::string(100, '\0')).value(), data);
  }
  // One that has only a part of it has none.
  std::string part = Text(EncodeAcceptData(data)).substr(0, 39);
  part[5] = 39;
  EXPECT_EQ(DecodeAcceptData(part).value().answer, AcceptData().answer);
}

TEST(PrivateDataTest, TheBytesAreFrozen) {
  EXPECT_EQ(absl::BytesToHexString(Text(EncodeConnectData(SomeConnectData()))),
            "46437271"
            "01"
            "24"
            "0000"
            "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
            "01020304"
            "00010000"
            "0004"
            "0080");
  EXPECT_EQ(absl::BytesToHexString(Text(EncodeAcceptData(kAccept))),
            "46436163"
            "01"
            "14"
            "0000"
            "00000007"
            "00010000"
            "0004"
            "0080");
  EXPECT_EQ(absl::BytesToHexString(EncodeRejectData(kReject)),
            "4643726a"
            "01"
            "13"
            "0b"
            "00"
            "6e6f207265636569766573");
}

TEST(PrivateDataTest, WhatIsEncodedIsDecodedWithAnyBytesAfterIt) {
  for (const std::string& after : {std::string(), std::string(20, '\0'), std::string("rest")}) {
    EXPECT_EQ(DecodeConnectData(Text(EncodeConnectData(SomeConnectData())) + after).value(),
              SomeConnectData());
    EXPECT_EQ(DecodeAcceptData(Text(EncodeAcceptData(kAccept)) + after).value(), kAccept);
    EXPECT_EQ(DecodeRejectData(EncodeRejectData(kReject) + after).value(), kReject);
  }
}

TEST(PrivateDataTest, TheExtremesOfEachTerm) {
  for (const ReceiveTerms& terms :
       {ReceiveTerms{.block_bytes = 1 << 10, .initial_receives = 4, .receive_slots = 4},
        ReceiveTerms{.block_bytes = 1 << 30, .initial_receives = 16384, .receive_slots = 16384}}) {
    const AcceptData data{.generation = ~0u, .receives = terms};
    EXPECT_EQ(DecodeAcceptData(Text(EncodeAcceptData(data))).value(), data);
  }
}

TEST(PrivateDataTest, AnyPieceOfItIsAnError) {
  const std::string connect = Text(EncodeConnectData(SomeConnectData()));
  for (size_t size = 0; size < connect.size(); ++size) {
    EXPECT_FALSE(DecodeConnectData(connect.substr(0, size)).ok()) << size;
  }
  const std::string accept = Text(EncodeAcceptData(kAccept));
  for (size_t size = 0; size < accept.size(); ++size) {
    EXPECT_FALSE(DecodeAcceptData(accept.substr(0, size)).ok()) << size;
  }
  const std::string reject = EncodeRejectData(kReject);
  for (size_t size = 0; size < reject.size(); ++size) {
    EXPECT_FALSE(DecodeRejectData(reject.substr(0, size)).ok()) << size;
  }
}

TEST(PrivateDataTest, ReferencesStandBehindTheRest) {
  AcceptData accept = kAccept;
  accept.receives.windows = 16;
  accept.receives.reads = 64;
  ConnectData connect = SomeConnectData();
  connect.receives.reads = 1;
  const std::string accepted = EncodeAcceptData(accept);
  EXPECT_EQ(absl::BytesToHexString(accepted.substr(0, 6)), "464361630118");
  EXPECT_EQ(absl::BytesToHexString(accepted.substr(20)), "10400000");
  EXPECT_EQ(absl::BytesToHexString(EncodeConnectData(connect).substr(36)), "00010000");
  EXPECT_EQ(DecodeAcceptData(accepted + "rest").value(), accept);
  EXPECT_EQ(DecodeConnectData(EncodeConnectData(connect)).value(), connect);
  for (const size_t at : {20, 21}) {
    std::string bad = accepted;
    bad[at] = 65;
    EXPECT_FALSE(DecodeAcceptData(bad).ok()) << at;
  }
}

TEST(PrivateDataTest, ReferencesGoWhereBothEndsDoTheirPart) {
  const ReceiveTerms none = kTerms;
  ReceiveTerms sends = kTerms;
  sends.windows = 4;
  ReceiveTerms reads = kTerms;
  reads.reads = 4;
  EXPECT_TRUE(sends.RefersTo(reads));
  EXPECT_FALSE(reads.RefersTo(sends));
  EXPECT_TRUE(reads.AgreeOnReferences(sends));
  EXPECT_FALSE(sends.AgreeOnReferences(none));
  EXPECT_FALSE(sends.AgreeOnReferences(sends));
  EXPECT_FALSE(reads.AgreeOnReferences(reads));
}

TEST(PrivateDataTest, OneIsNotTakenForAnother) {
  const std::string connect = Text(EncodeConnectData(SomeConnectData()));
  EXPECT_THAT(DecodeAcceptData(connect).status().message(), HasSubstr("not farcall's"));
  EXPECT_THAT(DecodeRejectData(connect).status().message(), HasSubstr("not farcall's"));
  EXPECT_THAT(DecodeConnectData(EncodeRejectData(kReject)).status().message(),
              HasSubstr("not farcall's"));
  EXPECT_FALSE(DecodeConnectData(std::string(56, '\0')).ok());
}

TEST(PrivateDataTest, ALaterVersionMayBeLongerAnEarlierOneIsNone) {
  std::string accept = Text(EncodeAcceptData(kAccept)) + "new";
  accept[4] = 2;
  accept[5] = static_cast<char>(accept.size());
  EXPECT_EQ(DecodeAcceptData(accept).value(), kAccept);
  accept[4] = 0;
  EXPECT_THAT(DecodeAcceptData(accept).status().message(), HasSubstr("version 0, not 1"));
}

TEST(PrivateDataTest, ALengthBeyondTheBytesIsAnError) {
  std::string accept = Text(EncodeAcceptData(kAccept));
  accept[5] = 21;
  EXPECT_THAT(DecodeAcceptData(accept).status().message(), HasSubstr("length of 21, not 20 to 20"));
  accept[5] = 19;
  EXPECT_FALSE(DecodeAcceptData(accept).ok());
  accept[5] = static_cast<char>(255);
  EXPECT_FALSE(DecodeAcceptData(accept).ok());
}

// The terms lie at `at` of the encoded bytes.
template <typename Decode>
void ExpectTermsChecked(const std::string& good, size_t at, Decode decode) {
  ASSERT_TRUE(decode(good).ok());
  const auto refused = [&](const char* hex) {
    const std::string terms = absl::HexStringToBytes(hex);
    EXPECT_FALSE(decode(std::string(good).replace(at, terms.size(), terms)).ok()) << hex;
  };
  refused(
      "00000000"
      "0004"
      "0080");
  refused(
      "000003ff"
      "0004"
      "0080");
  refused(
      "40000001"
      "0004"
      "0080");
  refused(
      "00010000"
      "0003"
      "0080");
  refused(
      "00010000"
      "0081"
      "0080");
  refused(
      "00010000"
      "0000"
      "0000");
  refused(
      "00010000"
      "0004"
      "4001");
}

TEST(PrivateDataTest, TermsThatNobodyCanKeepAreErrors) {
  ExpectTermsChecked(Text(EncodeConnectData(SomeConnectData())), 28,
                     [](absl::string_view bytes) { return DecodeConnectData(bytes); });
  ExpectTermsChecked(Text(EncodeAcceptData(kAccept)), 12,
                     [](absl::string_view bytes) { return DecodeAcceptData(bytes); });
}

TEST(PrivateDataDeathTest, TermsThatThePeerWouldRefuseAreNotSent) {
  EXPECT_DEATH(EncodeAcceptData({.generation = 1}), "the peer gets terms");
}

TEST(PrivateDataTest, AReasonThatThisVersionDoesNotKnowIsARejection) {
  std::string reject = EncodeRejectData(kReject);
  for (const int why : {0, static_cast<int>(kWhyNotRdmaCount), 255}) {
    reject[6] = static_cast<char>(why);
    EXPECT_EQ(DecodeRejectData(reject).value().why, WhyNotRdma::kRejected) << why;
  }
}

TEST(PrivateDataTest, TheTextIsCutAndPrintable) {
  const std::string bytes =
      EncodeRejectData({.why = WhyNotRdma::kRejected, .text = "a\nb" + std::string(500, 'x')});
  EXPECT_EQ(bytes.size(), RejectData::kHeaderBytes + RejectData::kMaxText);
  EXPECT_EQ(DecodeRejectData(bytes).value().text, "a?b" + std::string(93, 'x'));
  std::string other = EncodeRejectData({.why = WhyNotRdma::kRejected, .text = "ab"});
  other[8] = '\x1b';
  EXPECT_EQ(DecodeRejectData(other).value().text, "?b");
  EXPECT_EQ(DecodeRejectData(EncodeRejectData({})).value().text, "");
}

}  // namespace
}  // namespace farcall
