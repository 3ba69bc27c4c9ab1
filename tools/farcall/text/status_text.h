// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_FARCALL_TEXT_STATUS_TEXT_H_
#define FARCALL_TOOLS_FARCALL_TEXT_STATUS_TEXT_H_

#include <string>

#include "absl/status/statusor.h"

namespace farcall::cli {

// What a server's /status says in JSON (rpc/status/status_fields.h), as tables for people. What is
// not there is shown as 0 or left out, so that servers of other versions can be read.
absl::StatusOr<std::string> StatusText(const std::string& json);

}  // namespace farcall::cli

#endif  // FARCALL_TOOLS_FARCALL_TEXT_STATUS_TEXT_H_
