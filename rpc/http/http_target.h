// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_HTTP_HTTP_TARGET_H_
#define FARCALL_RPC_HTTP_HTTP_TARGET_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "rpc/http/http_message.h"

namespace farcall {

// Fills path and query of `request`, whose method is set, from the target of its request line:
// "/path?query", what proxies are sent ("http://host/path", whose host counts for nothing), or "*"
// with OPTIONS. kInvalidArgument says what is wrong with it.
absl::Status ParseTarget(absl::string_view target, HttpRequest& request);

}  // namespace farcall

#endif  // FARCALL_RPC_HTTP_HTTP_TARGET_H_
