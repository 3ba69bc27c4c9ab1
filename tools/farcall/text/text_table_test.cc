// SPDX-License-Identifier: Apache-2.0

#include "tools/farcall/text/text_table.h"

#include "gtest/gtest.h"

namespace farcall::cli {
namespace {

TEST(TextTableTest, ColumnsAreAsWideAsTheirWidestCell) {
  TextTable table({0, 2});
  table.Add({"name", "calls", "errors"});
  table.Add({"a.b.C", "1", "none"});
  table.Add({"x", "1,000,000", ""});
  EXPECT_EQ(table.ToString(),
            "name       calls  errors\n"
            "a.b.C          1  none\n"
            "x      1,000,000\n");
}

TEST(TextTableTest, AHeadAloneIsEmpty) {
  TextTable table({});
  EXPECT_TRUE(table.empty());
  table.Add({"head"});
  EXPECT_TRUE(table.empty());
  table.Add({"row"});
  EXPECT_FALSE(table.empty());
}

TEST(TextTableTest, RowsMayBeShorter) {
  TextTable table({0});
  table.Add({"a", "b"});
  table.Add({"long"});
  EXPECT_EQ(table.ToString(), "a     b\nlong\n");
}

}  // namespace
}  // namespace farcall::cli
