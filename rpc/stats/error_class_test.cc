// SPDX-License-Identifier: Apache-2.0

#include "rpc/stats/error_class.h"

#include <cerrno>
#include <limits>
#include <set>

#include "gtest/gtest.h"
#include "rpc/errors.h"

namespace farcall {
namespace {

TEST(ErrorClassTest, SuccessIsTheFirst) {
  EXPECT_EQ(ErrorClassOf(0), 0U);
  EXPECT_EQ(ErrorClassName(0), "OK");
}

TEST(ErrorClassTest, EveryErrorOfTheFrameworkHasItsOwn) {
  for (int code = 1000; code < 4000; ++code) {
    const absl::string_view name = ErrorName(code);
    const absl::string_view counted = ErrorClassName(ErrorClassOf(code));
    EXPECT_EQ(counted, name == "UNKNOWN" ? "OTHER" : name) << code;
  }
}

TEST(ErrorClassTest, ErrnosAreCountedTogether) {
  EXPECT_EQ(ErrorClassName(ErrorClassOf(1)), "ERRNO");
  EXPECT_EQ(ErrorClassName(ErrorClassOf(ECANCELED)), "ERRNO");
  EXPECT_EQ(ErrorClassName(ErrorClassOf(999)), "ERRNO");
}

TEST(ErrorClassTest, AnyOtherNumberIsOther) {
  for (const int code :
       {-1, 1000, 123'456, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
    EXPECT_EQ(ErrorClassName(ErrorClassOf(code)), "OTHER") << code;
  }
}

TEST(ErrorClassTest, NamesAreDistinct) {
  std::set<absl::string_view> names;
  for (size_t i = 0; i < kErrorClasses; ++i) names.insert(ErrorClassName(i));
  EXPECT_EQ(names.size(), kErrorClasses);
}

}  // namespace
}  // namespace farcall
