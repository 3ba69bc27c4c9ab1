// SPDX-License-Identifier: Apache-2.0
//
// Valid frames with damaged bytes, in pieces whose ends AddressSanitizer watches. Whatever
// the bytes are: the input loses nothing or a whole frame, and pieces do not matter.

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/frame_testing.h"
#include "rpc/wire/payload.h"

namespace farcall {
namespace {

using testing::EchoMessage;
using testing::Encode;
using testing::RequestMeta;

// What a receiver makes of `bytes`: the frames and how it ended, as text.
std::string Outcome(const std::string& bytes, size_t piece) {
  const FrameLimits limits{.max_body_size = 1 << 16};
  Buffer input = testing::InPieces(bytes, piece);
  Frame frame;
  std::string outcome;
  for (;;) {
    const size_t before = input.size();
    const auto needed = CutFrame(input, limits, frame);
    if (!needed.ok() || *needed > 0) {
      EXPECT_EQ(input.size(), before);
      EXPECT_TRUE(!needed.ok() || *needed > before);
      return absl::StrCat(outcome, needed.status().ToString(), needed.value_or(0));
    }
    EXPECT_EQ(before - input.size(),
              kFrameHeaderSize + frame.meta_size + frame.payload.size() + frame.attachment.size());
    EXPECT_EQ(frame.attachment.size(), static_cast<size_t>(frame.meta.attachment_size()));
    EchoMessage message;
    absl::StrAppend(&outcome, frame.meta.ByteSizeLong(), " ", frame.payload.ToString(),
                    frame.attachment.ToString(), ParsePayload(frame.payload, message).ToString(),
                    "\n");
  }
}

std::string ValidBytes() {
  wire::RpcMeta request = RequestMeta(1);
  request.mutable_request()->add_request_id("id");
  const EchoMessage echo = testing::Echo("a message of some length");
  wire::RpcMeta response;
  response.mutable_response()->set_error_code(1002);
  response.mutable_response()->set_error_text("text");
  response.add_user_fields()->set_key("key");
  response.mutable_user_fields(0)->set_value("value");
  response.set_correlation_id(-1);
  return absl::StrCat(Encode(request, &echo, "attachment"), Encode(response, nullptr, ""));
}

void ExpectPiecesDoNotMatter(const std::string& bytes) {
  const std::string whole = Outcome(bytes, bytes.size() + 1);
  EXPECT_EQ(Outcome(bytes, 1), whole);
  EXPECT_EQ(Outcome(bytes, 13), whole);
}

TEST(FrameMutationTest, EveryBitFlippedAlone) {
  const std::string valid = ValidBytes();
  for (size_t at = 0; at < valid.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = valid;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      ExpectPiecesDoNotMatter(bytes);
    }
  }
}

TEST(FrameMutationTest, EveryByteReplacedByExtremes) {
  const std::string valid = ValidBytes();
  for (size_t at = 0; at < valid.size(); ++at) {
    for (const int value : {0x00, 0x7f, 0x80, 0xff}) {
      std::string bytes = valid;
      bytes[at] = static_cast<char>(value);
      ExpectPiecesDoNotMatter(bytes);
    }
  }
}

TEST(FrameMutationTest, EveryPlaceCutOffOrWithAByteLeftOut) {
  const std::string valid = ValidBytes();
  for (size_t at = 0; at < valid.size(); ++at) {
    ExpectPiecesDoNotMatter(valid.substr(0, at));
    ExpectPiecesDoNotMatter(absl::StrCat(valid.substr(0, at), valid.substr(at + 1)));
  }
}

TEST(FrameMutationTest, ManyRandomBytesAtOnce) {
  std::mt19937_64 random(20240229);
  const std::string valid = ValidBytes();
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = valid;
    for (uint64_t i = 1 + random() % 8; i > 0; --i) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    ExpectPiecesDoNotMatter(bytes);
  }
}

}  // namespace
}  // namespace farcall
