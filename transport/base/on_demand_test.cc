// SPDX-License-Identifier: Apache-2.0

#include "transport/base/on_demand.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"

namespace farcall {
namespace {

TEST(OnDemandTest, IsMadeWhenItIsFirstAskedFor) {
  OnDemand<std::string> text;
  EXPECT_FALSE(text.made());
  EXPECT_EQ(text.IfMade(), nullptr);
  text.Get() += "one";
  text.Get() += " and two";
  EXPECT_TRUE(text.made());
  ASSERT_NE(text.IfMade(), nullptr);
  EXPECT_EQ(*text.IfMade(), "one and two");
}

TEST(OnDemandTest, IsMadeAnewAfterItWasCleared) {
  OnDemand<std::string> text;
  text.Clear();
  text.Get() = "long enough to have memory of its own";
  text.Clear();
  EXPECT_FALSE(text.made());
  EXPECT_EQ(text.Get(), "");
}

TEST(OnDemandTest, DestroysWhatWasMade) {
  const auto counted = std::make_shared<int>(0);
  {
    const OnDemand<std::shared_ptr<int>> never;
    OnDemand<std::shared_ptr<int>> one;
    one.Get() = counted;
    EXPECT_EQ(counted.use_count(), 2);
    one.Clear();
    EXPECT_EQ(counted.use_count(), 1);
    one.Get() = counted;
  }
  EXPECT_EQ(counted.use_count(), 1);
}

}  // namespace
}  // namespace farcall
