// SPDX-License-Identifier: Apache-2.0

#include "tools/node/json_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace farcall::node {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Split(absl::string_view text) {
  const auto objects = SplitObjects(text);
  EXPECT_TRUE(objects.ok()) << objects.status().message();
  std::vector<std::string> texts;
  if (!objects.ok()) return texts;
  for (const absl::string_view object : *objects) texts.emplace_back(object);
  return texts;
}

TEST(JsonObjectsTest, LinesArraysAndSingleObjectsAreTaken) {
  EXPECT_THAT(Split("{\"a\":1}\n{\"b\":2}\n"), ElementsAre("{\"a\":1}", "{\"b\":2}"));
  EXPECT_THAT(Split(" [ {\"a\":1}, {\"b\":[2]} ]"), ElementsAre("{\"a\":1}", "{\"b\":[2]}"));
  EXPECT_THAT(Split("{\n \"a\": {\n }\n}"), ElementsAre("{\n \"a\": {\n }\n}"));
  EXPECT_THAT(Split("{}{}"), ElementsAre("{}", "{}"));
  EXPECT_TRUE(Split(" \n").empty());
}

TEST(JsonObjectsTest, BracesInStringsAreText) {
  EXPECT_THAT(Split(R"({"a":"}{\"}"} {"b":"\\"})"),
              ElementsAre(R"({"a":"}{\"}"})", R"({"b":"\\"})"));
}

TEST(JsonObjectsTest, WhatIsNoObjectIsNamedByItsLine) {
  const auto objects = SplitObjects("{}\n[pod/inventory-x] {}\n");
  ASSERT_FALSE(objects.ok());
  EXPECT_THAT(std::string(objects.status().message()),
              HasSubstr("line 2: \"pod/inventory-x] {}\""));
}

TEST(JsonObjectsTest, AnObjectThatIsCutIsNamedByItsLine) {
  for (const char* const text : {"{}\n\n{\"a\": {}", "{}\n\n{\"a", "{}\n\n{\"\\"}) {
    const auto objects = SplitObjects(text);
    ASSERT_FALSE(objects.ok());
    EXPECT_THAT(std::string(objects.status().message()), HasSubstr("line 3: the object"));
  }
}

TEST(JsonObjectsTest, TheirNumberIsBounded) {
  std::string text;
  for (size_t i = 0; i < kMaxJsonObjects; ++i) text += "{}";
  EXPECT_TRUE(SplitObjects(text).ok());
  EXPECT_FALSE(SplitObjects(text + "{}").ok());
}

}  // namespace
}  // namespace farcall::node
