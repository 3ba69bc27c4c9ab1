// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/flow/message_plan.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "transport/buffer/buffer.h"
#include "transport/rdma/flow/message_plan_testing.h"

namespace farcall {
namespace {

using Segment = MessagePlan::Segment;
constexpr uint32_t kCopied = MessagePlan::kCopied;
constexpr auto kAllKnown = [](const Block&) { return true; };
constexpr auto kNoneKnown = [](const Block&) { return false; };

// Slices of these lengths, each a block of its own.
Buffer Slices(const std::vector<uint32_t>& lengths) {
  Buffer buffer;
  char fill = 'a';
  for (const uint32_t length : lengths) buffer.Append(Buffer(std::string(length, fill++)));
  EXPECT_EQ(buffer.slices().size(), lengths.size());
  return buffer;
}

::testing::AssertionResult Are(const MessagePlan& plan, const std::vector<Segment>& segments) {
  if (SegmentsOf(plan) == segments) return ::testing::AssertionSuccess();
  auto result = ::testing::AssertionFailure();
  for (const Segment& segment : SegmentsOf(plan)) {
    result << "{" << static_cast<int32_t>(segment.slice) << ", " << segment.offset << ", "
           << segment.length << "} ";
  }
  return result;
}

TEST(MessagePlanTest, NothingIsABareHeader) {
  const MessagePlan plan = PlanMessage({}, 0, {}, kAllKnown);
  EXPECT_EQ(plan.bytes, 0u);
  EXPECT_FALSE(plan.send_inline);
  EXPECT_TRUE(Are(plan, {{kCopied, 0, 0}}));
  EXPECT_TRUE(PlanMessage({}, 0, {.max_inline = 8}, kAllKnown).send_inline);
  EXPECT_FALSE(PlanMessage({}, 0, {.max_inline = 7}, kAllKnown).send_inline);
}

TEST(MessagePlanTest, WithoutAHeaderAllOfAMessageIsBytes) {
  const Buffer buffer = Slices({40, 5000, 60});
  MessageLimits limits{.header = 0, .max_message = 1024, .max_inline = 64};
  MessagePlan plan = PlanMessage(buffer.slices(), 0, limits, kAllKnown);
  EXPECT_EQ(plan.bytes, 1024u) << "as many as the peer's receives hold";
  EXPECT_EQ(plan.own_bytes(), 40u);
  EXPECT_TRUE(Are(plan, {{kCopied, 0, 40}, {1, 0, 984}}));
  const Buffer large = Slices({5000});
  plan = PlanMessage(large.slices(), 0, limits, kAllKnown);
  EXPECT_EQ(plan.own_bytes(), 0u);
  EXPECT_TRUE(Are(plan, {{kCopied, 0, 0}, {0, 0, 1024}})) << "the first has nothing";
  for (const uint32_t bytes : {64u, 65u}) {
    const Buffer small = Slices({bytes});
    plan = PlanMessage(small.slices(), 0, limits, kAllKnown);
    EXPECT_EQ(plan.send_inline, bytes == 64);
    EXPECT_EQ(plan.own_bytes(), bytes);
  }
}

TEST(MessagePlanTest, ALargeSliceStaysWhereItIs) {
  const Buffer buffer = Slices({5000});
  const MessagePlan plan = PlanMessage(buffer.slices(), 0, {}, kAllKnown);
  EXPECT_EQ(plan.bytes, 5000u);
  EXPECT_EQ(plan.copied, 0u);
  EXPECT_TRUE(Are(plan, {{kCopied, 0, 0}, {0, 0, 5000}}));
}

TEST(MessagePlanTest, AReferenceIsSentOfALargeSliceThatTheDeviceKnows) {
  const Buffer buffer = Slices({40, 20'000, 60, 8191, 8192});
  const MessageLimits limits{.reference_from = 8192, .max_reference = 8500};
  Buffer rest = buffer.Share();
  const auto next = [&](IsKnown is_known) {
    const MessagePlan plan = PlanMessage(rest.slices(), 0, limits, is_known);
    rest.RemoveFront(plan.bytes);
    return plan;
  };
  MessagePlan plan = next(kAllKnown);
  EXPECT_FALSE(plan.reference);
  EXPECT_EQ(plan.bytes, 40u) << "a message ends before a reference";
  plan = next(kAllKnown);
  EXPECT_TRUE(plan.reference);
  EXPECT_EQ(plan.bytes, 8500u);
  EXPECT_EQ(plan.copied, 0u);
  EXPECT_EQ(plan.own_bytes(), 24u);
  EXPECT_TRUE(Are(plan, {{kCopied, 0, 16}}));
  EXPECT_FALSE(plan.send_inline);
  plan = next(kAllKnown);
  EXPECT_TRUE(plan.reference);
  EXPECT_EQ(plan.bytes, 11'500u) << "what would be left of it is too little for a reference";
  plan = next(kAllKnown);
  EXPECT_FALSE(plan.reference);
  EXPECT_EQ(plan.bytes, 60u + 8191u);
  EXPECT_FALSE(PlanMessage(rest.slices(), 0, limits, kNoneKnown).reference);
  EXPECT_FALSE(PlanMessage(rest.slices(), 0, {}, kAllKnown).reference);
  EXPECT_TRUE(next(kAllKnown).reference);
  EXPECT_TRUE(rest.empty());
}

TEST(MessagePlanTest, AReferenceGoesInlineWhereItFits) {
  const Buffer buffer = Slices({9000});
  for (const uint32_t max_inline : {0u, 23u, 24u}) {
    const MessagePlan plan = PlanMessage(
        buffer.slices(), 0, {.max_inline = max_inline, .reference_from = 4096}, kAllKnown);
    EXPECT_TRUE(plan.reference);
    EXPECT_EQ(plan.send_inline, max_inline == 24);
  }
}

TEST(MessagePlanTest, SmallSlicesAreCopiedBehindTheHeader) {
  const Buffer buffer = Slices({40, 60, 5000});
  const MessagePlan plan = PlanMessage(buffer.slices(), 0, {}, kAllKnown);
  EXPECT_EQ(plan.bytes, 5100u);
  EXPECT_EQ(plan.copied, 100u);
  EXPECT_TRUE(Are(plan, {{kCopied, 0, 100}, {2, 0, 5000}}));
}

TEST(MessagePlanTest, SmallSlicesBetweenLargeOnesShareASegment) {
  const Buffer buffer = Slices({30, 5000, 40, 50, 6000, 7});
  const MessagePlan plan = PlanMessage(buffer.slices(), 0, {.max_segments = 8}, kAllKnown);
  EXPECT_TRUE(Are(
      plan, {{kCopied, 0, 30}, {1, 0, 5000}, {kCopied, 30, 90}, {4, 0, 6000}, {kCopied, 120, 7}}));
  std::string copied(plan.copied, '?');
  GatherCopied(buffer.slices(), 0, plan, copied.data());
  EXPECT_EQ(copied, std::string(30, 'a') + std::string(40, 'c') + std::string(50, 'd') + "fffffff");
}

TEST(MessagePlanTest, TheBoundOfCopying) {
  const MessageLimits limits{.copy_below = 100};
  EXPECT_EQ(PlanMessage(Slices({99}).slices(), 0, limits, kAllKnown).copied, 99u);
  EXPECT_EQ(PlanMessage(Slices({100}).slices(), 0, limits, kAllKnown).copied, 0u);
}

TEST(MessagePlanTest, AMessageIsNoLongerThanTheBlockOfThePeer) {
  const Buffer buffer = Slices({70000});
  MessagePlan plan = PlanMessage(buffer.slices(), 0, {}, kAllKnown);
  EXPECT_EQ(plan.bytes, 65528u);
  plan = PlanMessage(buffer.slices(), 65528, {}, kAllKnown);
  EXPECT_TRUE(Are(plan, {{kCopied, 0, 0}, {0, 65528, 4472}}));
}

TEST(MessagePlanTest, WhenSegmentsAreUsedUpTheMessageEnds) {
  const Buffer buffer = Slices({1000, 2000, 3000, 10});
  const MessagePlan plan = PlanMessage(buffer.slices(), 0, {.max_segments = 3}, kAllKnown);
  EXPECT_TRUE(Are(plan, {{kCopied, 0, 0}, {0, 0, 1000}, {1, 0, 2000}}));
}

TEST(MessagePlanTest, WithASingleSegmentAllIsCopied) {
  const Buffer buffer = Slices({10, 1000, 10});
  const MessageLimits limits{.max_segments = 1};
  EXPECT_TRUE(Are(PlanMessage(buffer.slices(), 0, limits, kAllKnown), {{kCopied, 0, 10}}));
  EXPECT_TRUE(
      Are(PlanMessage(buffer.slices().subspan(1), 0, limits, kAllKnown), {{kCopied, 0, 1010}}));
}

TEST(MessagePlanTest, MemoryThatTheDeviceDoesNotKnowIsCopiedAsFarAsThereIsRoom) {
  const Buffer buffer = Slices({20000});
  EXPECT_EQ(PlanMessage(buffer.slices(), 0, {}, kNoneKnown).copied, 20000u);
  const MessagePlan plan = PlanMessage(buffer.slices(), 5, {.max_copy = 8184}, kNoneKnown);
  EXPECT_EQ(plan.bytes, 8184u);
  EXPECT_TRUE(Are(plan, {{kCopied, 0, 8184}}));
}

TEST(MessagePlanTest, WhatFitsGoesInline) {
  const MessageLimits limits{.max_inline = 220};
  const Buffer fits = Slices({100, 112});
  const MessagePlan plan = PlanMessage(fits.slices(), 0, limits, kNoneKnown);
  EXPECT_TRUE(plan.send_inline);
  EXPECT_TRUE(Are(plan, {{kCopied, 0, 212}}));
  EXPECT_FALSE(PlanMessage(Slices({100, 113}).slices(), 0, limits, kAllKnown).send_inline);
  EXPECT_TRUE(PlanMessage(Slices({100, 113}).slices(), 1, limits, kAllKnown).send_inline);
}

TEST(MessagePlanTest, WhatDoesNotFitInlineIsStillPacked) {
  const Buffer buffer = Slices({200, 200});
  const MessagePlan plan = PlanMessage(buffer.slices(), 0, {.max_inline = 220}, kAllKnown);
  EXPECT_FALSE(plan.send_inline);
  EXPECT_EQ(plan.bytes, 400u);
}

TEST(MessagePlanTest, TellsWhichCopiesRegistrationWouldSpare) {
  const Buffer buffer = Slices({99, 1000, 300});
  const MessageLimits limits{.max_segments = 8, .copy_below = 100};
  EXPECT_EQ(PlanMessage(buffer.slices(), 0, limits, kAllKnown).unknown, 0u);
  const MessagePlan plan = PlanMessage(buffer.slices(), 0, limits, kNoneKnown);
  EXPECT_EQ(plan.copied, 1399u);
  EXPECT_EQ(plan.unknown, 1300u) << "a small slice is copied anyway";
  // What goes inline needs no registration.
  EXPECT_EQ(PlanMessage(buffer.slices(), 0, {.max_inline = 2000}, kNoneKnown).unknown, 0u);
  // With one segment all is copied, known or not.
  EXPECT_EQ(PlanMessage(Slices({1000}).slices(), 0, {.max_segments = 1}, kAllKnown).unknown, 0u);
}

}  // namespace
}  // namespace farcall
