// SPDX-License-Identifier: Apache-2.0

#include "rpc/wire/plain_meta.h"

#include <climits>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/frame_testing.h"
#include "rpc/wire/rpc_meta.pb.h"

namespace farcall {
namespace {

using testing::FromHex;

// A meta that was used before: what was in it must not shine through.
wire::RpcMeta Used() {
  wire::RpcMeta meta = testing::RequestMeta(99);
  meta.mutable_request()->add_request_id("old");
  meta.mutable_request()->set_trace_id(5);
  meta.mutable_response()->set_error_code(7);
  meta.mutable_response()->set_error_text("old");
  meta.mutable_response()->set_max_body_size(7);
  meta.set_compress_type(2);
  meta.set_attachment_size(8);
  meta.set_authentication_data("old");
  meta.add_user_fields()->set_key("old");
  meta.set_checksum_type(1);
  return meta;
}

// Whether it was read by hand; then it is what generated code reads. The bytes have an allocation
// of just their size, so that AddressSanitizer sees a byte read too many.
bool Read(PlainMetaReader& reader, absl::string_view bytes, wire::RpcMeta& meta) {
  const auto copy = std::make_unique<char[]>(bytes.size());
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  if (!reader.Read({copy.get(), bytes.size()}, meta)) return false;
  wire::RpcMeta expected;
  EXPECT_TRUE(expected.ParsePartialFromArray(copy.get(), static_cast<int>(bytes.size())));
  EXPECT_EQ(meta.SerializePartialAsString(), expected.SerializePartialAsString());
  return true;
}

bool ReadByHand(absl::string_view bytes) {
  PlainMetaReader reader;
  wire::RpcMeta meta = Used();
  const bool by_hand = Read(reader, bytes, meta);
  // The same again, when its beginning is known.
  EXPECT_EQ(Read(reader, bytes, meta), by_hand);
  return by_hand;
}

wire::RpcMeta Generated(const PlainMeta::Request& request) {
  wire::RpcMeta meta;
  meta.mutable_request()->set_service_name(std::string(request.service_name));
  meta.mutable_request()->set_method_name(std::string(request.method_name));
  if (request.log_id != 0) meta.mutable_request()->set_log_id(request.log_id);
  if (request.timeout_ms > 0) meta.mutable_request()->set_timeout_ms(request.timeout_ms);
  meta.set_correlation_id(request.correlation_id);
  return meta;
}

constexpr int64_t kNumbers[] = {0,       1,         127,       128,       16383,    16384,
                                1 << 21, 1LL << 28, 1LL << 35, 1LL << 62, INT64_MAX};

TEST(PlainMetaTest, ARequestIsWrittenAsGeneratedCodeDoes) {
  const std::string name(PlainMeta::kMaxNames, 'n');
  for (const size_t service : {0, 1, 20, 115, 116, 117, 118, 119, 120, 127, 128, 200}) {
    for (const int64_t number : kNumbers) {
      for (const int32_t timeout_ms : {-1, 0, 1, 1500, INT32_MAX}) {
        const PlainMeta::Request request{.service_name = absl::string_view(name).substr(0, service),
                                         .method_name = "Echo",
                                         .log_id = number,
                                         .timeout_ms = timeout_ms,
                                         .correlation_id = number};
        const PlainMeta plain(request);
        ASSERT_EQ(plain.bytes(), Generated(request).SerializeAsString());
        ASSERT_TRUE(ReadByHand(plain.bytes()));
      }
    }
  }
}

TEST(PlainMetaTest, NegativeNumbersAreWrittenAndLeftToGeneratedCodeToRead) {
  const PlainMeta::Request request{
      .service_name = "S", .method_name = "M", .log_id = -1, .correlation_id = INT64_MIN};
  const PlainMeta plain(request);
  EXPECT_EQ(plain.bytes(), Generated(request).SerializeAsString());
  EXPECT_FALSE(ReadByHand(plain.bytes()));
}

TEST(PlainMetaTest, TheLargestHasRoom) {
  const std::string name(PlainMeta::kMaxNames / 2, 'n');
  const PlainMeta::Request request{.service_name = name,
                                   .method_name = name,
                                   .log_id = -1,
                                   .timeout_ms = INT32_MAX,
                                   .correlation_id = -1};
  PlainMeta plain(request);
  plain.SetAttachmentSize(INT32_MAX);
  wire::RpcMeta expected = Generated(request);
  expected.set_attachment_size(INT32_MAX);
  EXPECT_EQ(plain.bytes(), expected.SerializeAsString());
}

TEST(PlainMetaDeathTest, NamesThatHaveNoRoomAreNoticed) {
  const std::string name(PlainMeta::kMaxNames, 'n');
  EXPECT_DEATH(PlainMeta(PlainMeta::Request{.service_name = name, .method_name = "M"}), "room");
}

TEST(PlainMetaTest, AnAnswerIsWrittenAsGeneratedCodeDoes) {
  for (const int64_t number : kNumbers) {
    wire::RpcMeta expected;
    expected.mutable_response()->set_error_code(0);
    expected.set_correlation_id(number);
    PlainMeta plain(PlainMeta::Answer{number});
    ASSERT_EQ(plain.bytes(), expected.SerializeAsString());
    ASSERT_TRUE(ReadByHand(plain.bytes()));
    expected.set_attachment_size(77);
    plain.SetAttachmentSize(77);
    ASSERT_EQ(plain.bytes(), expected.SerializeAsString());
    ASSERT_TRUE(ReadByHand(plain.bytes()));
  }
}

struct Case {
  const char* what;
  const char* hex;
  bool by_hand;
};

class PlainMetaReadTest : public ::testing::TestWithParam<Case> {};

TEST(PlainMetaReaderTest, TellsWhetherTheRequestIsThatOfTheMetaBefore) {
  PlainMetaReader reader;
  wire::RpcMeta meta;
  const auto same = [&](absl::string_view method, int64_t id) {
    const PlainMeta plain(
        PlainMeta::Request{.service_name = "S", .method_name = method, .correlation_id = id});
    EXPECT_TRUE(reader.Read(plain.bytes(), meta));
    EXPECT_EQ(meta.request().method_name(), std::string(method));
    return reader.same();
  };
  EXPECT_FALSE(same("A", 1));
  EXPECT_TRUE(same("A", 2));
  EXPECT_FALSE(same("B", 3));
  EXPECT_FALSE(same("A", 4));
  EXPECT_FALSE(reader.Read("\x7f", meta));
  EXPECT_FALSE(reader.same());
  EXPECT_FALSE(same("A", 5)) << "what it was read into may have been changed by others";
}

TEST_P(PlainMetaReadTest, IsReadAsGeneratedCodeDoesOrLeftToIt) {
  EXPECT_EQ(ReadByHand(FromHex(GetParam().hex)), GetParam().by_hand) << GetParam().what;
}

constexpr Case kCases[] = {
    {"nothing", "", true},
    {"an id", "20 01", true},
    {"compressed", "18 02 20 01", true},
    {"a longer number than it needs", "20 81 00", true},
    {"a number of 9 bytes", "20 ffffffffffffffff 7f", true},
    {"a number of 10 bytes: negative", "20 ffffffffffffffffff 01", false},
    {"a number of 10 bytes: cut", "20 ffffffffffffffffff 7f", false},
    {"a number of 11 bytes", "20 8080808080808080808001", false},
    {"a tag and no number", "20", false},
    {"a number that goes on", "20 80", false},
    {"the last of two counts", "20 01 28 03 20 02", true},
    {"the largest int32", "28 ffffffff 07", true},
    {"over an int32", "28 ffffffff 0f", false},
    {"over an int32 by all", "18 ffffffffffffffff 7f", false},
    {"an id in 8 bytes", "21 0102030405060708", false},
    {"an id in 4 bytes", "25 01020304", false},
    {"an id with a length", "22 01 41", false},
    {"a group", "23 24", false},
    {"the end of a group", "24", false},
    {"a request that is a number", "08 01", false},
    {"field 0", "00 00", false},
    {"a tag of two bytes", "a000 01", false},
    {"an unknown field", "f801 01", false},
    {"a credential", "3a 01 78", false},
    {"user fields", "4a 03 0a 01 61", false},
    {"a checksum", "58 01", false},
    {"an empty request", "0a 00", true},
    {"the names", "0a 06 0a0161 120162", true},
    {"two requests are one", "0a 03 0a0161 0a 03 120162", true},
    {"the last name counts", "0a 06 0a0161 0a0162", true},
    {"an empty name", "0a 05 0a00 120162", true},
    {"log id and timeout", "0a 05 1807 40dc0b", true},
    {"a timeout over an int32", "0a 06 40 ffffffff 0f", false},
    {"a negative timeout", "0a 0b 40 ffffffffffffffffff 01", false},
    {"a trace id", "0a 02 20 01", false},
    {"a request id", "0a 03 3a0161", false},
    {"a name of another type", "0a 02 08 01", false},
    {"a request that is cut", "0a 05 0a0361", false},
    {"a name beyond the request", "0a 02 0a05 6162636465", false},
    {"a number across the request's end", "0a 02 1880 01", false},
    {"a tag at the request's end", "0a 01 18 07", false},
    {"a length that goes on", "0a 80", false},
    {"a length of 2^63 - 1", "0a ffffffffffffffff 7f", false},
    {"a length of 2^64 - 1", "0a ffffffffffffffffff 01", false},
    {"a name of 2^32 + 1 bytes", "0a 07 0a 8180808010 61", false},
    {"success", "12 02 0800 20 05", true},
    {"an empty answer", "12 00", true},
    {"an error", "12 06 08d20f 120168", true},
    {"two answers are one", "12 02 0805 12 03 120168", true},
    {"a negative error", "12 0b 08 ffffffffffffffffff 01", false},
    {"an error over an int32", "12 06 08 ffffffff 0f", false},
    {"an answer with the server's limit", "12 03 a88301", false},
    {"an error text beyond the answer", "12 03 1205 68 20 01", false},
};

// What was read before changes nothing: not the same beginning, not what was malformed.
TEST(PlainMetaReaderTest, EachIsReadAfterEachOther) {
  for (const Case& before : kCases) {
    for (const Case& after : kCases) {
      SCOPED_TRACE(std::string(before.what) + ", " + after.what);
      PlainMetaReader reader;
      wire::RpcMeta meta;
      static_cast<void>(Read(reader, FromHex(before.hex), meta));
      EXPECT_EQ(Read(reader, FromHex(after.hex), meta), after.by_hand);
      // With something else behind the same beginning.
      for (const char* const more : {"18 02 20 07 28 05", "0a 02 1805", "12 02 0805"}) {
        static_cast<void>(Read(reader, FromHex(after.hex) + FromHex(more), meta));
        EXPECT_EQ(Read(reader, FromHex(after.hex), meta), after.by_hand);
      }
    }
  }
}

TEST(PlainMetaReaderTest, AnotherMetaIsReadFromItsBeginning) {
  const std::string bytes = FromHex("0a 06 0a0161 120162 20 01");
  PlainMetaReader reader;
  wire::RpcMeta first;
  wire::RpcMeta second;
  EXPECT_TRUE(Read(reader, bytes, first));
  EXPECT_TRUE(Read(reader, bytes, second));
  EXPECT_TRUE(Read(reader, bytes, first));
}

TEST(PlainMetaReaderTest, AFrameThatWasMovedFromIsReadFromItsBeginning) {
  const std::string bytes = FromHex("0a 06 0a0161 120162 20 01");
  Frame frame;
  EXPECT_TRUE(Read(frame.reader, bytes, frame.meta));
  Frame taken = std::move(frame);
  EXPECT_TRUE(Read(frame.reader, bytes, frame.meta));
  EXPECT_TRUE(Read(taken.reader, bytes, taken.meta));
  frame = Frame();
  EXPECT_TRUE(Read(frame.reader, bytes, frame.meta));
}

INSTANTIATE_TEST_SUITE_P(Metas, PlainMetaReadTest, ::testing::ValuesIn(kCases));

}  // namespace
}  // namespace farcall
