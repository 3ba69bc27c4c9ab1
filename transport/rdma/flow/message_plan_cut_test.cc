// SPDX-License-Identifier: Apache-2.0
//
// Any slices, cut into messages under any limits, arrive in order.

#include <cstdint>
#include <span>
#include <string>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "transport/buffer/buffer.h"
#include "transport/rdma/flow/message_header.h"
#include "transport/rdma/flow/message_plan_testing.h"
#include "transport/testing/seeds_here.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

using Segment = MessagePlan::Segment;
constexpr uint32_t kCopied = MessagePlan::kCopied;

// The bytes that the plan sends, put together as the device does it.
std::string Sent(std::span<const Buffer::Slice> slices, uint32_t skip, const MessagePlan& plan) {
  std::string copied(plan.copied, '?');
  GatherCopied(slices, skip, plan, copied.data());
  std::string sent;
  for (const Segment& segment : SegmentsOf(plan)) {
    const absl::string_view from =
        segment.slice == kCopied ? absl::string_view(copied) : slices[segment.slice].view();
    sent += std::string(from.substr(segment.offset, segment.length));
  }
  return sent;
}

void ExpectPlanKeeps(const MessagePlan& plan, const MessageLimits& limits) {
  EXPECT_LE(plan.bytes + kMessageHeaderBytes, limits.max_message);
  EXPECT_LE(plan.segment_count, limits.max_segments);
  if (plan.send_inline) {
    EXPECT_EQ(plan.segment_count, 1u);
    EXPECT_LE(plan.bytes + kMessageHeaderBytes, limits.max_inline);
  } else {
    EXPECT_LE(plan.copied, limits.max_copy);
  }
  uint32_t copied = 0;
  for (uint32_t i = 0; i < plan.segment_count; ++i) {
    const Segment& segment = plan.segments[i];
    EXPECT_TRUE(segment.length > 0 || i == 0);
    if (segment.slice != kCopied) continue;
    EXPECT_EQ(segment.offset, copied);
    copied += segment.length;
    EXPECT_TRUE(i == 0 || plan.segments[i - 1].slice != kCopied) << "neighbours are one segment";
  }
  EXPECT_EQ(copied, plan.copied);
}

void CutAllIntoMessages(uint64_t seed) {
  TestRandom random(seed);
  Buffer buffer;
  for (uint64_t n = 1 + random.Below(12); n > 0; --n) {
    std::string bytes(random.Size(9000), '\0');
    for (char& c : bytes) c = static_cast<char>(random.Next());
    buffer.Append(Buffer(bytes));
  }
  const MessageLimits limits{.max_message = static_cast<uint32_t>(9 + random.Size(16000)),
                             .max_segments = static_cast<uint32_t>(1 + random.Below(8)),
                             .max_inline = random.Chance(0.5) ? 220u : 0u,
                             .copy_below = static_cast<uint32_t>(random.Below(700)),
                             .max_copy = static_cast<uint32_t>(random.Size(9000))};
  const uint64_t known = random.Next();
  const auto is_known = [known](const Block& block) { return (known >> block.capacity % 64) & 1; };
  const std::string all = buffer.ToString();
  std::string sent;
  std::span<const Buffer::Slice> slices = buffer.slices();
  uint32_t skip = 0;
  while (!slices.empty()) {
    const MessagePlan plan = PlanMessage(slices, skip, limits, is_known);
    ASSERT_GT(plan.bytes, 0u);
    ExpectPlanKeeps(plan, limits);
    for (const Segment& segment : SegmentsOf(plan)) {
      EXPECT_TRUE(segment.slice == kCopied || is_known(*slices[segment.slice].block));
    }
    const std::string message = Sent(slices, skip, plan);
    ASSERT_EQ(message.size(), plan.bytes);
    sent += message;
    skip += plan.bytes;
    while (!slices.empty() && skip >= slices[0].length) {
      skip -= slices[0].length;
      slices = slices.subspan(1);
    }
  }
  ASSERT_EQ(sent, all);
}

TEST(MessagePlanTest, AnySlicesArriveInOrder) {
  for (uint64_t seed = 0; seed < SeedsHere(1000); ++seed) {
    CutAllIntoMessages(seed);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace farcall
