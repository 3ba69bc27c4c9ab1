// SPDX-License-Identifier: Apache-2.0

#include "rpc/http/json.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/http/json_test.pb.h"

namespace farcall {
namespace {

using http_test::Loose;
using http_test::Tree;

// The message as text, or what is wrong.
template <typename Message>
std::string Parsed(absl::string_view json) {
  Message message;
  const absl::Status parsed = ParseJson(json, message);
  return parsed.ok() ? message.ShortDebugString() : std::string(parsed.message());
}

std::string Repeated(absl::string_view part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) absl::StrAppend(&text, part);
  return text;
}

TEST(JsonTest, TakesNamesOfBothKinds) {
  EXPECT_EQ(Parsed<Tree>(R"({"name":"a","big_number":"5","smallNumber":6})"),
            R"(name: "a" big_number: 5 small_number: 6)");
  EXPECT_EQ(Parsed<Tree>(R"( {"name": "a", "children": [{"name":"b"}, {"name":"c"}]} )"),
            R"(name: "a" children { name: "b" } children { name: "c" })");
}

TEST(JsonTest, TakesWhatTheMappingHas) {
  EXPECT_EQ(Parsed<Tree>(R"({"name":"\u00e4\n","big_number":9007199254740993,"raw_bytes":"AAEC",)"
                         R"("color":"DARK_BLUE","ratio":"NaN","flag":true,"small_number":null})"),
            R"(name: "\303\244\n" big_number: 9007199254740993 raw_bytes: "\000\001\002" )"
            R"(color: DARK_BLUE ratio: nan flag: true)");
}

TEST(JsonTest, NothingIsAMessageWithoutFields) {
  EXPECT_EQ(Parsed<Loose>(""), "");
  EXPECT_EQ(Parsed<Loose>(" \r\n"), "");
  EXPECT_EQ(Parsed<Loose>("{}"), "");
}

TEST(JsonTest, ReplacesWhatWasThere) {
  Loose message;
  message.set_text("old");
  EXPECT_TRUE(ParseJson("{}", message).ok());
  EXPECT_FALSE(message.has_text());
}

TEST(JsonTest, ErrorsNameThePlace) {
  struct Sample {
    const char* json;
    const char* text;
  };
  const Sample samples[] = {
      {R"({"name":"a","colour":"RED"})", "colour"},
      {R"({"name":"a","children":[{"name":"b","small_number":"x"}]})", "small_number"},
      {R"({"name":"a","small_number":4294967296})", "small_number"},
      {R"({"name":"a","color":"GREEN"})", "color"},
      {R"({"name":"a","raw_bytes":"!"})", "raw_bytes"},
      {R"({"big_number":1})", "Tree: missing field name"},
      {R"({"name":"a","children":[{"big_number":2}]})", "(children[0]): missing field name"},
      {"", "name"},
      {R"({"name":"a")", "no farcall.http_test.Tree"},
      {R"({"name":"a"} x)", "no farcall.http_test.Tree"},
      {"[]", "no farcall.http_test.Tree"},
      {"7", "no farcall.http_test.Tree"},
      {"{'name':", "no farcall.http_test.Tree"},
      {"{\"name\":\"\xff\"}", "no farcall.http_test.Tree"},
  };
  for (const Sample& sample : samples) {
    const std::string outcome = Parsed<Tree>(sample.json);
    EXPECT_TRUE(absl::StrContains(outcome, sample.text)) << sample.json << ": " << outcome;
  }
}

TEST(JsonTest, DepthIsLimited) {
  EXPECT_EQ(Parsed<Loose>(Repeated(R"({"inner":)", 30) + "{}" + Repeated("}", 30)),
            absl::StrCat(Repeated("inner { ", 30), Repeated("} ", 29), "}"));
  const std::string strings = R"({"text":"[[[{{{\\\"[[[","many":[{"text":'{"'}]})";
  EXPECT_EQ(Parsed<Loose>(strings), R"(text: "[[[{{{\\\"[[[" many { text: "{\"" })");
  for (const int depth : {200, 1'000'000}) {
    const std::string inner = Repeated(R"({"inner":)", depth) + "{}" + Repeated("}", depth);
    EXPECT_TRUE(absl::StartsWith(Parsed<Loose>(inner), "the JSON is no")) << depth;
    const std::string unknown = R"({"many":)" + Repeated("[", depth) + Repeated("]", depth) + "}";
    EXPECT_TRUE(absl::StartsWith(Parsed<Loose>(unknown), "the JSON is no")) << depth;
    EXPECT_TRUE(absl::StartsWith(Parsed<Loose>(Repeated("[", depth)), "the JSON is no")) << depth;
  }
}

TEST(JsonTest, WritesNamesOfTheProtoFile) {
  Tree tree;
  tree.set_name("a\"\n");
  tree.set_big_number(int64_t{1} << 60);
  tree.set_small_number(0);
  tree.set_raw_bytes(std::string("\0\xff", 2));
  tree.set_color(http_test::DARK_BLUE);
  tree.add_children()->set_name("b");
  const auto json = ToJson(tree);
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ(*json, R"({"name":"a\"\n","big_number":"1152921504606846976","small_number":0,)"
                   R"("raw_bytes":"AP8=","color":"DARK_BLUE","children":[{"name":"b"}]})");
  Tree again;
  EXPECT_TRUE(ParseJson(*json, again).ok());
  EXPECT_EQ(again.SerializeAsString(), tree.SerializeAsString());
}

TEST(JsonTest, WhatLacksFieldsIsNotWritten) {
  Tree tree;
  tree.set_name("a");
  tree.add_children();
  const auto json = ToJson(tree);
  ASSERT_FALSE(json.ok());
  EXPECT_TRUE(absl::StrContains(json.status().message(), "children[0].name"));
}

}  // namespace
}  // namespace farcall
