// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_HTTP_JSON_STRING_H_
#define FARCALL_RPC_HTTP_JSON_STRING_H_

#include <string>

#include "absl/strings/string_view.h"

namespace farcall {

// `text` as a JSON string, with its quotes; what is not UTF-8 becomes U+FFFD.
std::string JsonString(absl::string_view text);

}  // namespace farcall

#endif  // FARCALL_RPC_HTTP_JSON_STRING_H_
