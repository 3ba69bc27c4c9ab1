// SPDX-License-Identifier: Apache-2.0

#include "tools/farcall/text/method_name.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace farcall::cli {

absl::StatusOr<MethodName> MethodName::Parse(absl::string_view text) {
  const size_t slash = text.rfind('/');
  const size_t at = slash == absl::string_view::npos ? text.rfind('.') : slash;
  if (at == absl::string_view::npos || at == 0 || at + 1 == text.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", text, "\" is no method: write Service.Method, such as EchoService.Echo"));
  }
  return MethodName{std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
}

absl::StatusOr<std::string> FullServiceName(absl::string_view name,
                                            const std::vector<std::string>& services) {
  if (std::find(services.begin(), services.end(), name) != services.end()) {
    return std::string(name);
  }
  std::vector<std::string> matches;
  for (const std::string& service : services) {
    if (absl::EndsWith(service, absl::StrCat(".", name))) matches.push_back(service);
  }
  if (matches.size() == 1) return matches.front();
  if (matches.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no service ", name, "; there are: ", absl::StrJoin(services, ", ")));
  }
  return absl::InvalidArgumentError(absl::StrCat("several services are called ", name, ": ",
                                                 absl::StrJoin(matches, ", "),
                                                 "; write the whole name"));
}

}  // namespace farcall::cli
