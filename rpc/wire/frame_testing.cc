// SPDX-License-Identifier: Apache-2.0

#include "rpc/wire/frame_testing.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "transport/base/check.h"

namespace farcall::testing {
namespace {

std::string BigEndian32(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
  return bytes;
}

void AppendPiece(absl::string_view bytes, Buffer& out) {
  auto copy = std::make_unique<char[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copy.get());
  const char* const data = copy.get();
  out.AppendUserData(data, bytes.size(), [copy = std::move(copy)]() mutable { copy.reset(); });
}

}  // namespace

std::string Header(uint32_t body_size, uint32_t meta_size) {
  return absl::StrCat("PRPC", BigEndian32(body_size), BigEndian32(meta_size));
}

std::string RawFrame(absl::string_view meta, absl::string_view payload,
                     absl::string_view attachment) {
  const size_t body_size = meta.size() + payload.size() + attachment.size();
  return absl::StrCat(Header(static_cast<uint32_t>(body_size), static_cast<uint32_t>(meta.size())),
                      meta, payload, attachment);
}

std::string Encode(wire::RpcMeta& meta, const google::protobuf::MessageLite* payload,
                   absl::string_view attachment) {
  const auto encoder = FrameEncoder::Create(meta, payload, attachment.size());
  Check(encoder.ok(), "a test encodes what can be encoded");
  std::string out(encoder->head_size(), '\0');
  encoder->WriteTo(out.data());
  return absl::StrCat(out, attachment);
}

Buffer InPieces(absl::string_view bytes, size_t piece) {
  Buffer out;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    AppendPiece(bytes.substr(0, piece), out);
  }
  return out;
}

Buffer SplitAt(absl::string_view bytes, size_t at) {
  Buffer out = InPieces(bytes.substr(0, at), bytes.size());
  out.Append(InPieces(bytes.substr(at), bytes.size()));
  return out;
}

std::string FromHex(absl::string_view hex) {
  return absl::HexStringToBytes(absl::StrReplaceAll(hex, {{" ", ""}}));
}

wire::RpcMeta RequestMeta(int64_t correlation_id) {
  wire::RpcMeta meta;
  meta.mutable_request()->set_service_name("example.EchoService");
  meta.mutable_request()->set_method_name("Echo");
  meta.mutable_request()->set_log_id(7);
  meta.mutable_request()->set_timeout_ms(1500);
  meta.set_correlation_id(correlation_id);
  return meta;
}

EchoMessage Echo(absl::string_view message) {
  EchoMessage echo;
  echo.set_message(message.data(), message.size());
  return echo;
}

}  // namespace farcall::testing
