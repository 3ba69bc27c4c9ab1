// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_FARCALL_HTTP_GET_H_
#define FARCALL_TOOLS_FARCALL_HTTP_GET_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "transport/base/time.h"

namespace farcall::cli {

inline constexpr size_t kLargestPage = size_t{16} << 20;

// The body of a page, by HTTP/1.1 on a connection of its own. `target`: "host:port",
// "[v6]:port" or "unix:PATH". kUnavailable: it cannot be reached, or did not answer within
// `limit`; kFailedPrecondition: it is no HTTP server, or has no such page.
absl::StatusOr<std::string> HttpGet(const std::string& target, const std::string& path,
                                    Duration limit);

}  // namespace farcall::cli

#endif  // FARCALL_TOOLS_FARCALL_HTTP_GET_H_
