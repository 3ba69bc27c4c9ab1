// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_FARCALL_TEXT_METHOD_NAME_H_
#define FARCALL_TOOLS_FARCALL_TEXT_METHOD_NAME_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace farcall::cli {

struct MethodName {
  std::string service;
  std::string method;

  // "EchoService.Echo", "example.EchoService.Echo", or with a slash before the method.
  static absl::StatusOr<MethodName> Parse(absl::string_view text);
};

// The full name among `services` that `name` is, or ends as: "EchoService" is
// "example.EchoService" where no other ends so. Errors tell what there is.
absl::StatusOr<std::string> FullServiceName(absl::string_view name,
                                            const std::vector<std::string>& services);

}  // namespace farcall::cli

#endif  // FARCALL_TOOLS_FARCALL_TEXT_METHOD_NAME_H_
