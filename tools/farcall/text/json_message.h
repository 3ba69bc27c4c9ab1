// SPDX-License-Identifier: Apache-2.0
//
// Messages of any type as JSON, by protobuf's mapping (protobuf.dev/programming-guides/json).

#ifndef FARCALL_TOOLS_FARCALL_TEXT_JSON_MESSAGE_H_
#define FARCALL_TOOLS_FARCALL_TEXT_JSON_MESSAGE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message.h"

namespace farcall::cli {

// Errors name the message type and what is wrong: the field that is unknown or missing, or the
// place where the text is no JSON.
absl::Status ReadJson(const std::string& json, google::protobuf::Message& message);

// With line ends and the names of fields as the .proto file has them; `compact`: on one line.
absl::StatusOr<std::string> WriteJson(const google::protobuf::Message& message, bool compact);

}  // namespace farcall::cli

#endif  // FARCALL_TOOLS_FARCALL_TEXT_JSON_MESSAGE_H_
