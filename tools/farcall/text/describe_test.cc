// SPDX-License-Identifier: Apache-2.0

#include "tools/farcall/text/describe.h"

#include "gmock/gmock.h"
#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace farcall::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kFile[] = R"pb(
  name: "t.proto"
  package: "t"
  syntax: "proto2"
  enum_type {
    name: "Color"
    value { name: "RED" number: 3 }
    value { name: "BLUE" number: 4 }
  }
  message_type {
    name: "Outer"
    nested_type {
      name: "Inner"
      field {
        name: "again"
        number: 1
        type: TYPE_MESSAGE
        type_name: ".t.Outer"
        label: LABEL_OPTIONAL
      }
    }
    field { name: "id" number: 1 type: TYPE_UINT64 label: LABEL_REQUIRED }
    field { name: "on" number: 2 type: TYPE_BOOL label: LABEL_OPTIONAL }
    field { name: "color" number: 3 type: TYPE_ENUM type_name: ".t.Color" label: LABEL_OPTIONAL }
    field {
      name: "inner"
      number: 4
      type: TYPE_MESSAGE
      type_name: ".t.Outer.Inner"
      label: LABEL_REPEATED
    }
    field { name: "either" number: 5 type: TYPE_STRING label: LABEL_OPTIONAL oneof_index: 0 }
    field { name: "or" number: 6 type: TYPE_DOUBLE label: LABEL_OPTIONAL oneof_index: 0 }
    oneof_decl { name: "choice" }
  }
  message_type { name: "Empty" }
  message_type { name: "Unused" }
  service {
    name: "Store"
    method { name: "Put" input_type: ".t.Outer" output_type: ".t.Empty" }
    method { name: "Drop" input_type: ".t.Empty" output_type: ".t.Outer.Inner" }
  })pb";

class DescribeTest : public testing::Test {
 protected:
  DescribeTest() {
    google::protobuf::FileDescriptorProto file;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kFile, &file));
    file_ = pool_.BuildFile(file);
  }
  google::protobuf::DescriptorPool pool_;
  const google::protobuf::FileDescriptor* file_;
};

TEST_F(DescribeTest, AMethodIsALine) {
  EXPECT_EQ(DescribeMethods(*file_->service(0)),
            "  Put(t.Outer) -> t.Empty\n"
            "  Drop(t.Empty) -> t.Outer.Inner\n");
}

TEST_F(DescribeTest, AServiceComesWithAllItsTypesOnce) {
  const std::string text = DescribeService(*file_->service(0));
  EXPECT_THAT(text, HasSubstr("service Store {\n  rpc Put(.t.Outer) returns (.t.Empty);\n"));
  for (const char* type : {"message Outer {", "message Empty {", "enum Color {"}) {
    const size_t at = text.find(type);
    ASSERT_NE(at, std::string::npos) << type;
    EXPECT_EQ(text.find(type, at + 1), std::string::npos) << type << " twice";
  }
  EXPECT_THAT(text, HasSubstr("  message Inner {\n"));
  EXPECT_THAT(text, Not(HasSubstr("Unused")));
}

TEST_F(DescribeTest, ASampleHasEachFieldAndEndsWhereTypesNestForEver) {
  EXPECT_EQ(SampleJson(*file_->FindMessageTypeByName("Empty")), "{}");
  const std::string sample = SampleJson(*file_->FindMessageTypeByName("Outer"));
  EXPECT_THAT(sample, testing::StartsWith(R"({"id": "0", "on": false, "color": "RED", )"
                                          R"("inner": [{"again": {"id": "0")"));
  EXPECT_THAT(sample, HasSubstr(R"("inner": [{"again": {}}])"));
  EXPECT_THAT(sample, HasSubstr(R"("either": "")"));
  EXPECT_THAT(sample, Not(HasSubstr("\"or\"")));
}

}  // namespace
}  // namespace farcall::cli
