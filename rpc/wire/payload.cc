// SPDX-License-Identifier: Apache-2.0

#include "rpc/wire/payload.h"

#include <climits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "transport/buffer/zero_copy_stream.h"

namespace farcall {
namespace {

// Of all of `payload`. Partial: libprotobuf writes to standard error when required
// fields are missing, and a peer must not be able to fill the log.
bool ParseBytes(const Buffer& payload, google::protobuf::MessageLite& message) {
  if (payload.size() > INT_MAX) return false;
  const auto slices = payload.slices();
  if (slices.size() == 1) {
    const absl::string_view bytes = slices[0].view();
    return message.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()));
  }
  BufferInputStream stream(payload);
  return message.ParsePartialFromZeroCopyStream(&stream);
}

}  // namespace

absl::Status ParsePayload(const Buffer& payload, google::protobuf::MessageLite& message) {
  if (!ParseBytes(payload, message)) {
    return absl::InvalidArgumentError(absl::StrCat("payload of ", payload.size(),
                                                   " bytes is not a ", message.GetTypeName(),
                                                   ": do both sides use the same .proto file?"));
  }
  return CheckRequiredFields(message);
}

absl::Status LacksRequiredFields(const google::protobuf::MessageLite& message) {
  return absl::InvalidArgumentError(absl::StrCat(
      message.GetTypeName(), " lacks required fields: ", message.InitializationErrorString()));
}

}  // namespace farcall
