// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"
#include "rpc/wire/frame_testing.h"
#include "rpc/wire/rpc_meta.pb.h"

namespace farcall {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using testing::FromHex;
using wire::RpcMeta;

struct Field {
  const char* name;
  int number;
  FieldDescriptor::Type type;
};

void ExpectFields(const Descriptor* message, std::initializer_list<Field> fields) {
  EXPECT_EQ(message->field_count(), static_cast<int>(fields.size())) << message->full_name();
  for (const Field& expected : fields) {
    const FieldDescriptor* field = message->FindFieldByNumber(expected.number);
    ASSERT_NE(field, nullptr) << expected.name;
    EXPECT_EQ(field->name(), expected.name);
    EXPECT_EQ(field->type(), expected.type) << expected.name;
    EXPECT_FALSE(field->is_required()) << expected.name;
  }
}

constexpr auto kInt32 = FieldDescriptor::TYPE_INT32;
constexpr auto kInt64 = FieldDescriptor::TYPE_INT64;
constexpr auto kBool = FieldDescriptor::TYPE_BOOL;
constexpr auto kBytes = FieldDescriptor::TYPE_BYTES;
constexpr auto kMessage = FieldDescriptor::TYPE_MESSAGE;

TEST(RpcMetaTest, FieldNumbersAreThoseOfThePeers) {
  ExpectFields(RpcMeta::descriptor(), {{"request", 1, kMessage},
                                       {"response", 2, kMessage},
                                       {"compress_type", 3, kInt32},
                                       {"correlation_id", 4, kInt64},
                                       {"attachment_size", 5, kInt32},
                                       {"chunk_info", 6, kMessage},
                                       {"authentication_data", 7, kBytes},
                                       {"stream_settings", 8, kMessage},
                                       {"user_fields", 9, kMessage},
                                       {"content_type", 10, kInt32},
                                       {"checksum_type", 11, kInt32},
                                       {"checksum_value", 12, kBytes},
                                       {"checksum_with_attachment", 13, kBool}});
  ExpectFields(wire::RpcRequestMeta::descriptor(), {{"service_name", 1, kBytes},
                                                    {"method_name", 2, kBytes},
                                                    {"log_id", 3, kInt64},
                                                    {"trace_id", 4, kInt64},
                                                    {"span_id", 5, kInt64},
                                                    {"parent_span_id", 6, kInt64},
                                                    {"request_id", 7, kBytes},
                                                    {"timeout_ms", 8, kInt32}});
  ExpectFields(wire::RpcResponseMeta::descriptor(),
               {{"error_code", 1, kInt32},
                {"error_text", 2, kBytes},
                {"max_body_size", 2101, FieldDescriptor::TYPE_UINT64}});
  ExpectFields(wire::ChunkInfo::descriptor(), {{"stream_id", 1, kInt64}, {"chunk_id", 2, kInt64}});
  ExpectFields(wire::StreamSettings::descriptor(), {{"stream_id", 1, kInt64},
                                                    {"need_feedback", 2, kBool},
                                                    {"writable", 3, kBool},
                                                    {"extra_stream_ids", 4, kInt64}});
}

TEST(RpcMetaTest, UserFieldsLookLikeTheEntriesOfAMap) {
  EXPECT_TRUE(RpcMeta::descriptor()->FindFieldByName("user_fields")->is_repeated());
  ExpectFields(wire::UserField::descriptor(), {{"key", 1, kBytes}, {"value", 2, kBytes}});
}

TEST(RpcMetaTest, ZeroIsToldFromAbsent) {
  RpcMeta meta;
  ASSERT_TRUE(meta.ParseFromString(FromHex("2000")));
  EXPECT_TRUE(meta.has_correlation_id());
  EXPECT_EQ(meta.correlation_id(), 0);
  EXPECT_FALSE(meta.has_attachment_size());
  EXPECT_EQ(meta.SerializeAsString(), FromHex("2000"));
}

TEST(RpcMetaTest, AnEmptyResponseIsPresent) {
  RpcMeta meta;
  ASSERT_TRUE(meta.ParseFromString(FromHex("1200")));
  EXPECT_TRUE(meta.has_response());
  EXPECT_FALSE(meta.response().has_error_code());
}

TEST(RpcMetaTest, RequestIdOfBrpcParses) {
  RpcMeta meta;
  ASSERT_TRUE(meta.ParseFromString(FromHex("0a05 3a03 616263")));
  ASSERT_EQ(meta.request().request_id_size(), 1);
  EXPECT_EQ(meta.request().request_id(0), "abc");
}

TEST(RpcMetaTest, KeysAndValuesOfBrpcJavaParseInItsPlace) {
  // Two ext_fields, {"k1", "v1"} and {"k2", ff}: not even UTF-8.
  RpcMeta meta;
  ASSERT_TRUE(meta.ParseFromString(FromHex("0a13 3a08 0a026b31 12027631 3a07 0a026b32 1201ff")));
  ASSERT_EQ(meta.request().request_id_size(), 2);
  EXPECT_EQ(meta.request().request_id(0), FromHex("0a026b3112027631"));
  EXPECT_EQ(meta.request().request_id(1), FromHex("0a026b321201ff"));
}

TEST(RpcMetaTest, UnknownFieldsAreHarmless) {
  // request {log_id: 5, 110: 1, 111: "x"}, correlation_id 9, 100: fixed32, 200: fixed64.
  RpcMeta meta;
  ASSERT_TRUE(meta.ParseFromString(
      FromHex("0a09 1805 f00601 fa060178 2009 a506 01020304 c10c 0102030405060708")));
  EXPECT_EQ(meta.request().log_id(), 5);
  EXPECT_EQ(meta.correlation_id(), 9);
}

TEST(RpcMetaTest, AKnownFieldOfAnotherWireTypeCountsAsAbsent) {
  // correlation_id as a string, request as a varint.
  RpcMeta meta;
  ASSERT_TRUE(meta.ParseFromString(FromHex("2201 61 0801")));
  EXPECT_FALSE(meta.has_correlation_id());
  EXPECT_FALSE(meta.has_request());
}

TEST(RpcMetaTest, NumbersBeyondTheEnumsStayVisible) {
  RpcMeta meta;
  ASSERT_TRUE(meta.ParseFromString(FromHex("1809 5009 5809")));
  EXPECT_EQ(meta.compress_type(), 9);
  EXPECT_EQ(meta.content_type(), 9);
  EXPECT_EQ(meta.checksum_type(), 9);
}

TEST(RpcMetaTest, TextMayBeAnyBytes) {
  RpcMeta meta;
  ASSERT_TRUE(meta.ParseFromString(FromHex("0a04 0a02c3ff 1204 1202b2bb 4a06 0a0161 1201ff")));
  EXPECT_EQ(meta.request().service_name(), FromHex("c3ff"));
  EXPECT_EQ(meta.response().error_text(), FromHex("b2bb"));
  ASSERT_EQ(meta.user_fields_size(), 1);
  EXPECT_EQ(meta.user_fields(0).key(), "a");
  EXPECT_EQ(meta.user_fields(0).value(), FromHex("ff"));
}

}  // namespace
}  // namespace farcall
