// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/json_writer.h"

#include <cstdint>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "rpc/status/json_testing.h"

namespace farcall {
namespace {

std::string Written(absl::string_view text) {
  JsonWriter writer;
  writer.Value(text);
  return writer.text();
}

TEST(JsonWriterTest, ObjectsAndArraysNest) {
  JsonWriter writer;
  writer.BeginObject();
  writer.Field("a", 1);
  writer.Key("b");
  writer.BeginArray();
  writer.Value(true);
  writer.Null();
  writer.BeginObject();
  writer.EndObject();
  writer.BeginArray();
  writer.EndArray();
  writer.Value("x");
  writer.EndArray();
  writer.Field("c", std::string("y"));
  writer.Field("d", 0.25);
  writer.EndObject();
  EXPECT_EQ(writer.text(), R"({"a":1,"b":[true,null,{},[],"x"],"c":"y","d":0.25})");
}

TEST(JsonWriterTest, NumbersAreWholeOrHaveTenDigits) {
  JsonWriter writer;
  writer.BeginArray();
  writer.Value(std::numeric_limits<uint64_t>::max());
  writer.Value(std::numeric_limits<int64_t>::min());
  writer.Value(1234567.125);
  writer.Value(0.1);
  writer.Value(std::numeric_limits<double>::infinity());
  writer.Value(std::numeric_limits<double>::quiet_NaN());
  writer.EndArray();
  EXPECT_EQ(writer.text(), "[18446744073709551615,-9223372036854775808,1234567.125,0.1,null,null]");
}

TEST(JsonWriterTest, WhatHasAMeaningIsEscaped) {
  EXPECT_EQ(Written("a\"b\\c\nd\x7F"), R"("a\"b\\c\u000ad\u007f")");
  EXPECT_EQ(Written(absl::string_view("\0x", 2)), R"("\u0000x")");
  EXPECT_EQ(Written("</script><!--&"), R"("\u003c/script\u003e\u003c!--\u0026")");
  EXPECT_EQ(Written("\xE2\x80\xA8|\xE2\x80\xA9"), R"("\u2028|\u2029")");
}

TEST(JsonWriterTest, Utf8StaysAsItIs) {
  for (const char* text : {"\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF",
                           "\xED\x9F\xBF", "\xE0\xA0\x80"}) {
    EXPECT_EQ(Written(text), "\"" + std::string(text) + "\"");
  }
}

TEST(JsonWriterTest, WhatIsNotUtf8IsReplaced) {
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(Written("\x80"), "\"" + mark + "\"");
  EXPECT_EQ(Written("\xC0\xAF"), "\"" + mark + mark + "\"") << "longer than needed";
  EXPECT_EQ(Written("\xE0\x80\xAF"), "\"" + mark + mark + mark + "\"") << "longer than needed";
  EXPECT_EQ(Written("\xED\xA0\x80"), "\"" + mark + mark + mark + "\"") << "a surrogate";
  EXPECT_EQ(Written("\xF4\x90\x80\x80"), "\"" + mark + mark + mark + mark + "\"") << "too large";
  EXPECT_EQ(Written("a\xE2\x82"), "\"a" + mark + mark + "\"") << "cut off";
  EXPECT_EQ(Written("\xC3z"), "\"" + mark + "z\"");
  EXPECT_EQ(Written("\xFF\xFE"), "\"" + mark + mark + "\"");
}

// Each byte after each of some beginnings: what comes out is JSON to somebody else's parser.
TEST(JsonWriterTest, AnyBytesMakeJson) {
  for (const char* start : {"", "a", "\xC3", "\xE2\x82", "\xF0\x9F\x98", "\\", "\""}) {
    for (int byte = 0; byte < 256; ++byte) {
      JsonWriter writer;
      writer.BeginObject();
      writer.Field("k", std::string(start) + static_cast<char>(byte));
      writer.EndObject();
      EXPECT_TRUE(ParsedJson(writer.text()).Has("k"));
    }
  }
}

}  // namespace
}  // namespace farcall
