// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_FARCALL_FILES_H_
#define FARCALL_TOOLS_FARCALL_FILES_H_

#include <istream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/buffer/buffer.h"

namespace farcall::cli {

// What a call can carry at most, less its message.
inline constexpr size_t kLargestFile = size_t{2} << 30;

// Errors name the file.
absl::StatusOr<std::string> ReadFile(const std::string& path);
absl::Status WriteFile(const std::string& path, const Buffer& bytes);

// The JSON of a request: as it stands, "-": from `in`, "@FILE": from a file.
absl::StatusOr<std::string> ReadRequest(const std::string& argument, std::istream& in);

}  // namespace farcall::cli

#endif  // FARCALL_TOOLS_FARCALL_FILES_H_
