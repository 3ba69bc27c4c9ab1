// SPDX-License-Identifier: Apache-2.0

#include "tools/farcall/text/method_name.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace farcall::cli {
namespace {

using testing::HasSubstr;

TEST(MethodNameTest, TheMethodIsWhatFollowsTheLastDotOrSlash) {
  for (const char* text : {"pkg.Echo.Say", "pkg.Echo/Say"}) {
    const auto name = MethodName::Parse(text);
    ASSERT_TRUE(name.ok()) << name.status();
    EXPECT_EQ(name->service, "pkg.Echo");
    EXPECT_EQ(name->method, "Say");
  }
  EXPECT_EQ(MethodName::Parse("Echo.Say")->service, "Echo");
}

TEST(MethodNameTest, HalvesAreRefusedWithAnExample) {
  for (const char* text : {"", ".", "Echo", "Echo.", ".Say", "/Say", "Echo/"}) {
    const auto name = MethodName::Parse(text);
    ASSERT_FALSE(name.ok()) << text;
    EXPECT_THAT(std::string(name.status().message()), HasSubstr("such as EchoService.Echo"));
  }
}

TEST(FullServiceNameTest, AShortNameIsEnoughWhereItIsTheOnlyOne) {
  const std::vector<std::string> services = {"a.Echo", "a.b.Store", "Bare"};
  EXPECT_EQ(*FullServiceName("Echo", services), "a.Echo");
  EXPECT_EQ(*FullServiceName("a.Echo", services), "a.Echo");
  EXPECT_EQ(*FullServiceName("b.Store", services), "a.b.Store");
  EXPECT_EQ(*FullServiceName("Bare", services), "Bare");
}

TEST(FullServiceNameTest, AFullNameWinsOverTheEndOfAnother) {
  EXPECT_EQ(*FullServiceName("Echo", {"a.Echo", "Echo"}), "Echo");
}

TEST(FullServiceNameTest, ErrorsTellWhatThereIs) {
  EXPECT_THAT(std::string(FullServiceName("cho", {"a.Echo", "b.Two"}).status().message()),
              HasSubstr("there is no service cho; there are: a.Echo, b.Two"));
  EXPECT_THAT(std::string(FullServiceName("Echo", {"a.Echo", "b.Echo"}).status().message()),
              HasSubstr("several services are called Echo: a.Echo, b.Echo"));
}

}  // namespace
}  // namespace farcall::cli
