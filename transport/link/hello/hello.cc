// SPDX-License-Identifier: Apache-2.0

#include "transport/link/hello/hello.h"

#include <algorithm>
#include <array>

#include "absl/strings/string_view.h"
#include "google/protobuf/message_lite.h"
#include "transport/base/big_endian.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

// The first byte is no letter, so no HTTP; not 16, so no TLS.
constexpr absl::string_view kHelloMagic = "\xFA\x43\x4C\x48";
constexpr absl::string_view kAnswerMagic = "\xFA\x43\x4C\x41";
constexpr size_t kLengthAt = 4;
constexpr size_t kSizeAt = 8;

std::string Encode(absl::string_view magic, const google::protobuf::MessageLite& message) {
  const std::string body = message.SerializeAsString();
  const size_t total = std::max(kHelloLeast, kHelloHeader + body.size());
  Check(total <= kHelloMost, "a hello that this end makes is small");
  std::string bytes(magic);
  AppendBigEndian(static_cast<uint32_t>(total - kSizeAt), bytes);
  AppendBigEndian(static_cast<uint32_t>(body.size()), bytes);
  bytes += body;
  bytes.resize(total, '\0');
  return bytes;
}

HelloCut Cut(Buffer& input, absl::string_view magic, google::protobuf::MessageLite& message) {
  std::array<char, kHelloMost> scratch;
  const absl::string_view front = input.Front(std::min(input.size(), kHelloHeader), scratch.data());
  const absl::string_view begin = front.substr(0, magic.size());
  if (begin != magic.substr(0, begin.size())) return HelloCut::kOther;
  if (front.size() < kHelloHeader) return HelloCut::kMore;
  const size_t total = kSizeAt + GetBigEndian<uint32_t>(front.data() + kLengthAt);
  const size_t size = GetBigEndian<uint32_t>(front.data() + kSizeAt);
  if (total < kHelloLeast || total > kHelloMost || size > total - kHelloHeader) {
    return HelloCut::kBroken;
  }
  if (input.size() < total) return HelloCut::kMore;
  const absl::string_view whole = input.Front(total, scratch.data());
  if (!message.ParseFromArray(whole.data() + kHelloHeader, static_cast<int>(size))) {
    return HelloCut::kBroken;
  }
  input.RemoveFront(total);
  return HelloCut::kWhole;
}

}  // namespace

link::Hello MakeHello(uint32_t window, uint32_t rails) {
  link::Hello hello;
  hello.set_version(kLinkVersion);
  hello.add_transports(kUpgradeToRdma);
  hello.set_window(window);
  if (rails > 1) hello.set_rails(rails);
  return hello;
}

uint32_t AgreedRails(uint32_t asked, uint32_t answered) {
  return std::max(std::min(asked, answered), uint32_t{1});
}

std::string EncodeHello(const link::Hello& hello) { return Encode(kHelloMagic, hello); }
std::string EncodeAnswer(const link::HelloAnswer& answer) { return Encode(kAnswerMagic, answer); }

HelloCut CutHello(Buffer& input, link::Hello& hello) { return Cut(input, kHelloMagic, hello); }
HelloCut CutAnswer(Buffer& input, link::HelloAnswer& answer) {
  return Cut(input, kAnswerMagic, answer);
}

}  // namespace farcall
