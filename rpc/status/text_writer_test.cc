// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/text_writer.h"

#include <string>

#include "gtest/gtest.h"

namespace farcall {
namespace {

// An array of two objects; one of them is empty.
void WriteList(absl::string_view key, FieldWriter& out) {
  out.Objects(key, std::string("ab"), [&](char name) {
    out.Field("name", name == 'a' ? "x" : "");
    out.Field("count", name == 'a' ? 3 : 0);
    out.Object("inner", [&] { out.Field("ratio", name == 'a' ? 0.25 : 0.0); });
  });
}

TEST(TextWriterTest, ObjectsAreSectionsAndWhatIsInThemLines) {
  TextWriter text;
  text.BeginObject();
  text.Field("top", 0);
  text.Moment("when", std::chrono::system_clock::time_point(std::chrono::milliseconds(1500)));
  text.Object("section", [&] {
    text.Field("empty", "");
    text.Key("limit");
    text.Null();
    text.Object("one_line", [&] {
      text.Field("yes", true);
      text.Field("no", false);
      text.Field("zero", 0);
    });
    text.Object("nothing", [] {});
    WriteList("list", text);
    text.Field("behind", 1);
  });
  WriteList("lines", text);
  text.Key("words");
  text.BeginArray();
  text.Value("a b");
  text.Value("c");
  text.EndArray();
  text.EndObject();
  EXPECT_EQ(text.Take(),
            "top 0\nwhen 1970-01-01T00:00:01.500Z\n"
            "\n[section]\nempty \nlimit no limit\none_line: yes yes, no no\n"
            "list:\n  name x, count 3, inner (ratio 0.25)\nbehind 1\n"
            "\n[lines]\nname x, count 3, inner (ratio 0.25)\n"
            "\n[words]\na b\nc\n");
}

}  // namespace
}  // namespace farcall
