// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_HTTP_JSON_H_
#define FARCALL_RPC_HTTP_JSON_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"

namespace farcall {

// Replaces `message` by what `text` says in protobuf's JSON mapping: fields by their names in the
// .proto file or in lowerCamelCase; no text, or only space, is a message without fields. Nested at
// most 100 deep. kInvalidArgument names what is wrong: the place, a field that the message does
// not have, required fields that are missing. `message` is then partly filled.
absl::Status ParseJson(absl::string_view text, google::protobuf::Message& message);

// On one line; fields by their names in the .proto file, 64-bit integers as strings, bytes in
// base64, as the mapping has it. Fields that are not set (proto3: or zero) are left out. An error
// says what the message lacks.
absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message);

}  // namespace farcall

#endif  // FARCALL_RPC_HTTP_JSON_H_
