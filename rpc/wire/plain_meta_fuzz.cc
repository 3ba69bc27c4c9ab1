// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a meta. What must hold: no byte outside is read, what is read by hand is what
// generated code reads, and what is written by hand is what generated code writes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "rpc/wire/plain_meta.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

void Write(const wire::RpcMeta& read) {
  const wire::RpcRequestMeta& from = read.request();
  if (from.service_name().size() + from.method_name().size() > PlainMeta::kMaxNames) return;
  PlainMeta plain(PlainMeta::Request{.service_name = from.service_name(),
                                     .method_name = from.method_name(),
                                     .log_id = from.log_id(),
                                     .timeout_ms = from.timeout_ms(),
                                     .correlation_id = read.correlation_id()});
  wire::RpcMeta meta;
  meta.mutable_request()->set_service_name(from.service_name());
  meta.mutable_request()->set_method_name(from.method_name());
  if (from.log_id() != 0) meta.mutable_request()->set_log_id(from.log_id());
  if (from.timeout_ms() > 0) meta.mutable_request()->set_timeout_ms(from.timeout_ms());
  meta.set_correlation_id(read.correlation_id());
  if (read.attachment_size() > 0) {
    meta.set_attachment_size(read.attachment_size());
    plain.SetAttachmentSize(read.attachment_size());
  }
  Check(plain.bytes() == meta.SerializeAsString(), "a request is written as by generated code");

  meta.clear_request();
  meta.clear_attachment_size();
  meta.mutable_response()->set_error_code(0);
  const PlainMeta answer(PlainMeta::Answer{read.correlation_id()});
  Check(answer.bytes() == meta.SerializeAsString(), "an answer is written as by generated code");
}

struct Reused {
  PlainMetaReader reader;
  wire::RpcMeta meta;
};

// Of its own, so that a byte read too many is seen.
void Read(const std::string& given, Reused& reused) {
  const auto copy = std::make_unique<char[]>(given.size());
  std::copy(given.begin(), given.end(), copy.get());
  const absl::string_view bytes(copy.get(), given.size());
  if (!reused.reader.Read(bytes, reused.meta)) return;
  wire::RpcMeta expected;
  Check(expected.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size())),
        "what is malformed is not read by hand");
  Check(reused.meta.SerializePartialAsString() == expected.SerializePartialAsString(),
        "what is read by hand is what generated code reads");
}

}  // namespace
}  // namespace farcall

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static farcall::Reused* const reused = new farcall::Reused;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  farcall::Read(bytes, *reused);
  // Then its beginning may be known: compressed, with an id and an attachment; as before; with one
  // more request.
  farcall::Read(bytes + "\x18\x02\x20\x07\x28\x05", *reused);
  farcall::Read(bytes, *reused);
  farcall::Read(bytes + "\x0a\x02\x18\x05", *reused);
  farcall::wire::RpcMeta meta;
  static_cast<void>(meta.ParsePartialFromArray(data, static_cast<int>(size)));
  farcall::Write(meta);
  return 0;
}
