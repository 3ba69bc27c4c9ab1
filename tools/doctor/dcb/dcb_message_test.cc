// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/dcb/dcb_message.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tools/doctor/dcb/dcb_testing.h"

namespace farcall::doctor {
namespace {

using Eight = std::array<uint8_t, kPriorities>;

TEST(DcbMessageTest, AllThatAnAdapterTells) {
  const auto dcb = ParseDcbAnswer(AnswerNamed("mlx5"), 1);
  ASSERT_TRUE(dcb.ok()) << dcb.status();
  ASSERT_TRUE(dcb->ets.has_value());
  EXPECT_EQ(dcb->ets->class_of, (Eight{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(dcb->ets->share, (Eight{20, 0, 0, 50, 0, 30, 0, 0}));
  EXPECT_EQ(dcb->ets->algorithm[3], Ets::kShared);
  ASSERT_TRUE(dcb->pfc.has_value());
  EXPECT_EQ(dcb->pfc->on, 0x8);
  EXPECT_EQ(dcb->pfc->pauses_sent[3], 41u);
  EXPECT_EQ(dcb->pfc->pauses_received[3], 7u);
  EXPECT_EQ(dcb->priority_of_dscp.size(), 64u);
  EXPECT_EQ(dcb->priority_of_dscp.at(26), 3);
  EXPECT_FALSE(dcb->trusts_dscp.has_value()) << "this kernel has no such list";
  EXPECT_FALSE(dcb->roce_priority.has_value());
}

TEST(DcbMessageTest, EntriesOfRoceAndOfTheRest) {
  const auto bnxt = ParseDcbAnswer(AnswerNamed("bnxt"), 1);
  ASSERT_TRUE(bnxt.ok()) << bnxt.status();
  EXPECT_EQ(bnxt->roce_priority, 3);
  EXPECT_EQ(bnxt->priority_of_dscp, (std::map<uint8_t, uint8_t>{{26, 3}, {48, 7}}));
  EXPECT_EQ(bnxt->ets->class_of, (Eight{0, 0, 0, 1, 0, 0, 0, 2}));
  const auto list = ParseDcbAnswer(AnswerNamed("trust_list"), 1);
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->trusts_dscp, true);
  EXPECT_EQ(list->default_priority, 0);
  EXPECT_FALSE(list->ets.has_value());
  const auto pcp = ParseDcbAnswer(AnswerNamed("mlx5_pcp"), 1);
  ASSERT_TRUE(pcp.ok()) << pcp.status();
  EXPECT_TRUE(pcp->priority_of_dscp.empty());
  EXPECT_EQ(pcp->pfc->on, 0);
}

TEST(DcbMessageTest, AnInterfaceWithoutItSaysSo) {
  const auto dcb = ParseDcbAnswer(AnswerNamed("no_dcb"), 1);
  EXPECT_EQ(dcb.status().code(), absl::StatusCode::kUnimplemented);
  std::string other = AnswerNamed("no_dcb");
  other[16] = -19;  // ENODEV
  const absl::Status gone = ParseDcbAnswer(other, 1).status();
  EXPECT_EQ(gone.code(), absl::StatusCode::kInternal);
  EXPECT_NE(gone.message().find("No such device"), std::string::npos) << gone;
}

TEST(DcbMessageTest, OtherMessagesArePassedOver) {
  const std::string answer = AnswerNamed("mlx5");
  EXPECT_EQ(ParseDcbAnswer(answer, 2).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ParseDcbAnswer("", 1).status().code(), absl::StatusCode::kNotFound);
  std::string two = AnswerNamed("bnxt");
  two[8] = 9;  // its sequence number
  ASSERT_TRUE(ParseDcbAnswer(two + answer, 1).ok());
  EXPECT_EQ(ParseDcbAnswer(two + answer, 1)->priority_of_dscp.size(), 64u);
}

TEST(DcbMessageTest, NoCutOffAnswerIsTakenForAWholeOne) {
  const std::string whole = AnswerNamed("mlx5");
  for (size_t size = 1; size < whole.size(); ++size) {
    EXPECT_FALSE(ParseDcbAnswer(whole.substr(0, size), 1).ok()) << size;
  }
  // What is whole, with a length inside it that is not.
  std::string shorter = AnswerNamed("bnxt");
  const size_t ets = shorter.find(std::string("\x3f\0\x01\0", 4));  // 59 bytes and their head
  ASSERT_NE(ets, std::string::npos);
  shorter[ets] = 20;
  EXPECT_EQ(ParseDcbAnswer(shorter, 1).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(DcbMessageTest, NumbersOutOfBoundsAreRefused) {
  std::string answer = AnswerNamed("bnxt");
  const size_t entry = answer.find(std::string("\x05\x03\x1a\0", 4));  // DSCP 26 has priority 3
  ASSERT_NE(entry, std::string::npos);
  answer[entry + 1] = 8;
  EXPECT_EQ(ParseDcbAnswer(answer, 1).status().code(), absl::StatusCode::kInvalidArgument);
  answer[entry + 1] = 3;
  answer[entry + 2] = 64;
  ASSERT_TRUE(ParseDcbAnswer(answer, 1).ok());
  EXPECT_EQ(ParseDcbAnswer(answer, 1)->priority_of_dscp.size(), 1u) << "a DSCP of 64";
}

TEST(DcbMessageTest, TheQuestionIsWhatTheKernelTakes) {
  // As dcb(8) of iproute2 lays it out, but for its sequence number.
  const std::string question = DcbQuestion("ens1f0np0", 1);
  const std::string expected(
      "\x24\0\0\0\x4e\0\x01\0\x01\0\0\0\0\0\0\0\0\x15\0\0\x0e\0\x01\0ens1f0np0\0\0\0", 36);
  EXPECT_EQ(question, expected);
}

}  // namespace
}  // namespace farcall::doctor
