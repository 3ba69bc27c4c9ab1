// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/choice/past_failures.h"

#include "gtest/gtest.h"

namespace farcall {
namespace {

class PastFailuresTest : public testing::Test {
 protected:
  PastFailuresTest() {
    own_.device = "mlx5_0";
    offered_.name = NameOf(Address::Ipv4({10, 0, 0, 1}, 7471));
  }
  uint32_t Count() const { return past_.Count(&own_, offered_, now_); }

  PastFailures past_;
  OwnEnd own_;
  OfferedEnd offered_;
  TimePoint now_ = TimePoint() + std::chrono::hours(1);
};

TEST_F(PastFailuresTest, AreCountedUntilTheyAreLongAgo) {
  EXPECT_EQ(Count(), 0u);
  past_.Add(&own_, offered_, now_);
  now_ += PastFailures::kRemembered - Duration(1);
  EXPECT_EQ(Count(), 1u);
  past_.Add(&own_, offered_, now_);
  EXPECT_EQ(Count(), 2u);
  now_ += PastFailures::kRemembered;
  EXPECT_EQ(Count(), 0u);
  past_.Add(&own_, offered_, now_);
  EXPECT_EQ(Count(), 1u);
}

TEST_F(PastFailuresTest, AreOfOneWay) {
  past_.Add(&own_, offered_, now_);
  EXPECT_EQ(past_.Count(nullptr, offered_, now_), 0u);
  OwnEnd other = own_;
  other.port = 2;
  EXPECT_EQ(past_.Count(&other, offered_, now_), 0u);
  OfferedEnd by_gid = offered_;
  by_gid.gid = GidType::kRoceV2;
  EXPECT_EQ(past_.Count(&own_, by_gid, now_), 0u);
}

TEST_F(PastFailuresTest, AreForgottenWhenTheWayWorks) {
  past_.Add(&own_, offered_, now_);
  past_.OnWorks(&own_, offered_);
  EXPECT_EQ(Count(), 0u);
}

TEST_F(PastFailuresTest, APortThatFailedWithTwoOthersFailsWithAll) {
  OwnEnd own = own_;
  for (const char* const device : {"mlx5_1", "mlx5_2"}) {
    EXPECT_EQ(Count(), 0u);
    own.device = device;
    past_.Add(&own, offered_, now_);
  }
  EXPECT_EQ(Count(), 2u);
  EXPECT_EQ(past_.Count(nullptr, offered_, now_), 2u);
  own.device = "mlx5_3";
  past_.OnWorks(&own, offered_);
  EXPECT_EQ(Count(), 0u) << "it does not fail with that one";
  own.device = "mlx5_1";
  EXPECT_EQ(past_.Count(&own, offered_, now_), 1u);
}

TEST_F(PastFailuresTest, SoDoesAPortOfThisHost) {
  OfferedEnd place = offered_;
  for (const uint8_t last : {7, 8}) {
    EXPECT_EQ(Count(), 0u);
    place.name[15] = last;
    past_.Add(&own_, place, now_);
  }
  EXPECT_EQ(Count(), 2u);
  OwnEnd other = own_;
  other.device = "mlx5_9";
  EXPECT_EQ(past_.Count(&other, offered_, now_), 0u);
  EXPECT_EQ(past_.Count(nullptr, offered_, now_), 0u);
  place.name[15] = 9;
  past_.OnWorks(&own_, place);
  EXPECT_EQ(Count(), 0u);
}

TEST_F(PastFailuresTest, TheOldestIsForgottenWhenThereAreTooMany) {
  past_.Add(&own_, offered_, now_);
  OfferedEnd other = offered_;
  for (size_t i = 0; i < PastFailures::kMax; ++i) {
    past_.OnWorks(&own_, OfferedEnd());
    now_ += Duration(1);
    other.name[0] = static_cast<uint8_t>(i >> 8);
    other.name[1] = static_cast<uint8_t>(i);
    other.name[2] = 1;
    EXPECT_EQ(Count(), 1u) << i;
    if (i + 1 < PastFailures::kMax) past_.Add(&own_, other, now_);
  }
  past_.Add(&own_, other, now_);
  EXPECT_EQ(Count(), 0u);
  EXPECT_EQ(past_.Count(&own_, other, now_), 1u);
}

}  // namespace
}  // namespace farcall
