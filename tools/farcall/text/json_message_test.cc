// SPDX-License-Identifier: Apache-2.0

#include "tools/farcall/text/json_message.h"

#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/dynamic_message.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace farcall::cli {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::DynamicMessageFactory;
using google::protobuf::Message;
using testing::HasSubstr;

// A type that no code was generated for.
class JsonMessageTest : public testing::Test {
 protected:
  JsonMessageTest() {
    google::protobuf::FileDescriptorProto file;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        R"pb(name: "t.proto"
             package: "t"
             syntax: "proto2"
             message_type {
               name: "Point"
               field { name: "x_at" number: 1 type: TYPE_INT64 label: LABEL_REQUIRED }
               field { name: "note" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL }
               field { name: "data" number: 3 type: TYPE_BYTES label: LABEL_OPTIONAL }
               field {
                 name: "next"
                 number: 4
                 type: TYPE_MESSAGE
                 type_name: ".t.Point"
                 label: LABEL_REPEATED
               }
             })pb",
        &file));
    const auto* built = pool_.BuildFile(file);
    point_.reset(factory_.GetPrototype(built->message_type(0))->New());
  }

  DescriptorPool pool_;
  DynamicMessageFactory factory_{&pool_};
  std::unique_ptr<Message> point_;
};

TEST_F(JsonMessageTest, ReadsAndWritesTypesThatAreNotLinked) {
  ASSERT_TRUE(
      ReadJson(R"({"x_at": 7, "note": "ä\n", "data": "AAE=", "next": [{"xAt": "8"}]})", *point_)
          .ok());
  EXPECT_EQ(*WriteJson(*point_, /*compact=*/true),
            R"({"x_at":"7","note":"ä\n","data":"AAE=","next":[{"x_at":"8"}]})");
  EXPECT_EQ(*WriteJson(*point_, /*compact=*/false),
            "{\n \"x_at\": \"7\",\n \"note\": \"ä\\n\",\n \"data\": \"AAE=\",\n"
            " \"next\": [\n  {\n   \"x_at\": \"8\"\n  }\n ]\n}\n");
}

TEST_F(JsonMessageTest, AMissingFieldIsNamed) {
  const absl::Status status = ReadJson(R"({"x_at": 1, "next": [{"note": "n"}]})", *point_);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("this is no t.Point in JSON: (next[0]): missing field x_at"));
}

TEST_F(JsonMessageTest, AnUnknownFieldIsNamed) {
  const absl::Status status = ReadJson(R"({"x_at": 1, "y_at": 2})", *point_);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("y_at"));
}

TEST_F(JsonMessageTest, WhatIsNoJsonIsRefused) {
  for (const char* json : {"", "x", "{", "[]", "7", R"({"x_at": "seven"})", "{\"x_at\": 1}}"}) {
    EXPECT_EQ(ReadJson(json, *point_).code(), absl::StatusCode::kInvalidArgument) << json;
  }
}

}  // namespace
}  // namespace farcall::cli
