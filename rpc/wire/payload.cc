// SPDX-License-Identifier: Apache-2.0

#include "rpc/wire/payload.h"

#include <climits>

#include "absl/strings/str_cat.h"
#include "transport/buffer/zero_copy_stream.h"

namespace farcall {
namespace {

absl::Status Unparsable(size_t size, const google::protobuf::MessageLite& message) {
  return absl::InvalidArgumentError(absl::StrCat("payload of ", size, " bytes is not a ",
                                                 message.GetTypeName(),
                                                 ": do both sides use the same .proto file?"));
}

}  // namespace

// Partial: libprotobuf writes to standard error when required fields are missing, and a peer must
// not be able to fill the log.
absl::Status ParsePayload(absl::string_view payload, google::protobuf::MessageLite& message) {
  if (payload.size() > INT_MAX ||
      !message.ParsePartialFromArray(payload.data(), static_cast<int>(payload.size()))) {
    return Unparsable(payload.size(), message);
  }
  return CheckRequiredFields(message);
}

// The same of all of `payload`.
absl::Status ParsePayload(const Buffer& payload, google::protobuf::MessageLite& message) {
  const auto slices = payload.slices();
  if (slices.size() == 1) return ParsePayload(slices[0].view(), message);
  BufferInputStream stream(payload);
  if (payload.size() > INT_MAX || !message.ParsePartialFromZeroCopyStream(&stream)) {
    return Unparsable(payload.size(), message);
  }
  return CheckRequiredFields(message);
}

absl::Status LacksRequiredFields(const google::protobuf::MessageLite& message) {
  return absl::InvalidArgumentError(absl::StrCat(
      message.GetTypeName(), " lacks required fields: ", message.InitializationErrorString()));
}

}  // namespace farcall
