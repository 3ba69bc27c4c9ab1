// SPDX-License-Identifier: Apache-2.0

#include "rpc/user_fields.h"

#include <gtest/gtest.h>

namespace farcall {
namespace {

TEST(UserFieldsTest, KeepTheOrderOfSettingAndOneValueForAKey) {
  UserFields fields;
  EXPECT_TRUE(fields.empty());
  fields.Set("b", "1");
  fields.Set("a", "2");
  fields.Set("b", "3");
  EXPECT_EQ(fields.all(), (std::vector<UserFields::Field>{{"b", "3"}, {"a", "2"}}));
  ASSERT_NE(fields.Find("b"), nullptr);
  EXPECT_EQ(*fields.Find("b"), "3");
  EXPECT_EQ(fields.Find("c"), nullptr);
  fields.Clear();
  EXPECT_TRUE(fields.empty());
}

TEST(UserFieldsTest, BearAnyBytes) {
  UserFields fields;
  fields.Set(absl::string_view("\0k", 2), "");
  ASSERT_NE(fields.Find(absl::string_view("\0k", 2)), nullptr);
  EXPECT_EQ(fields.Find("k"), nullptr);
}

}  // namespace
}  // namespace farcall
