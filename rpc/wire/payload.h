// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_WIRE_PAYLOAD_H_
#define FARCALL_RPC_WIRE_PAYLOAD_H_

#include <climits>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message_lite.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// Replaces `message` by what `payload` (not compressed) holds; no bytes
// are a message without fields. kInvalidArgument names the type of the message and what
// is wrong: the bytes, or the required fields that they lack. `message` is then partly
// filled.
absl::Status ParsePayload(const Buffer& payload, google::protobuf::MessageLite& message);
absl::Status ParsePayload(absl::string_view payload, google::protobuf::MessageLite& message);

// The same of bytes in one piece. False: ParsePayload says why.
inline bool TryParsePayload(absl::string_view payload, google::protobuf::MessageLite& message) {
  return payload.size() <= INT_MAX &&
         message.ParsePartialFromArray(payload.data(), static_cast<int>(payload.size())) &&
         message.IsInitialized();
}

// kInvalidArgument, with the type and the names, if `message` lacks required fields.
absl::Status LacksRequiredFields(const google::protobuf::MessageLite& message);
inline absl::Status CheckRequiredFields(const google::protobuf::MessageLite& message) {
  return message.IsInitialized() ? absl::OkStatus() : LacksRequiredFields(message);
}

}  // namespace farcall

#endif  // FARCALL_RPC_WIRE_PAYLOAD_H_
