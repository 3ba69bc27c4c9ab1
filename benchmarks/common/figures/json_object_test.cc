// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/figures/json_object.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "gtest/gtest.h"

namespace farcall::bench {
namespace {

TEST(JsonObjectTest, EmptyIsAnObject) { EXPECT_EQ(JsonObject().ToString(), "{}"); }

TEST(JsonObjectTest, MembersKeepTheirOrderAndTypes) {
  JsonObject json;
  json.AddText("b", "x");
  json.AddInteger("a", -7);
  json.AddNumber("c", 0.25);
  EXPECT_EQ(json.ToString(), R"({"b": "x", "a": -7, "c": 0.25})");
}

TEST(JsonObjectTest, QuotesBackslashesAndControlsAreEscaped) {
  JsonObject json;
  json.AddText("k\"", absl::string_view("a\\b\n\x01\x1f", 6));
  EXPECT_EQ(json.ToString(), R"({"k\"": "a\\b\u000a\u0001\u001f"})");
}

TEST(JsonObjectTest, AZeroByteDoesNotEndTheText) {
  JsonObject json;
  json.AddText("k", absl::string_view("a\0b", 3));
  EXPECT_EQ(json.ToString(), R"({"k": "a\u0000b"})");
}

TEST(JsonObjectTest, Utf8IsLeftAlone) {
  JsonObject json;
  json.AddText("k", "\xc2\xb5s");
  EXPECT_EQ(json.ToString(), "{\"k\": \"\xc2\xb5s\"}");
}

TEST(JsonObjectTest, TheLargestIntegersAreExact) {
  JsonObject json;
  json.AddInteger("least", std::numeric_limits<int64_t>::min());
  json.AddInteger("most", std::numeric_limits<int64_t>::max());
  EXPECT_EQ(json.ToString(), R"({"least": -9223372036854775808, "most": 9223372036854775807})");
}

TEST(JsonObjectTest, NumbersKeepTheirDigits) {
  JsonObject json;
  json.AddNumber("qps", 2123456.789);
  json.AddNumber("whole", 128);
  json.AddNumber("tiny", 1e-9);
  EXPECT_EQ(json.ToString(), R"({"qps": 2123456.789, "whole": 128, "tiny": 1e-09})");
}

TEST(JsonObjectTest, WhatJsonCannotSayIsNull) {
  JsonObject json;
  json.AddNumber("nan", std::nan(""));
  json.AddNumber("infinite", std::numeric_limits<double>::infinity());
  EXPECT_EQ(json.ToString(), R"({"nan": null, "infinite": null})");
}

TEST(JsonObjectTest, HoldsOtherObjects) {
  JsonObject inner;
  inner.AddInteger("calls", 2);
  JsonObject json;
  json.AddObject("none", JsonObject());
  json.AddObject("ELIMIT", inner);
  EXPECT_EQ(json.ToString(), R"({"none": {}, "ELIMIT": {"calls": 2}})");
}

}  // namespace
}  // namespace farcall::bench
