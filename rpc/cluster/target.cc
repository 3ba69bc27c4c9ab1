// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/target.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace farcall {
namespace {

// RFC 1035 section 2.3.4, as text.
constexpr size_t kMaxHostName = 253;

// Letters, digits, hyphen and dot (RFC 1123), and the underscore that is seen in use.
bool IsHostName(absl::string_view host) {
  return !host.empty() && host.size() <= kMaxHostName &&
         std::all_of(host.begin(), host.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' ||
                  c == '_';
         });
}

bool LooksNumeric(absl::string_view host) {
  return std::all_of(host.begin(), host.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '.';
  });
}

}  // namespace

absl::StatusOr<Target> Target::Parse(absl::string_view text) {
  Target target;
  target.text = std::string(text);
  absl::StatusOr<Address> address = Address::Parse(text);
  if (address.ok()) {
    target.address = *std::move(address);
    target.port = target.address->port();
    if (target.address->family() != AddressFamily::kUnix && target.port == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("target \"", text, "\": a port to connect to is 1 to 65535"));
    }
    return target;
  }
  const size_t colon = text.rfind(':');
  if (absl::StartsWith(text, "unix:") || absl::StartsWith(text, "[") ||
      colon == absl::string_view::npos || LooksNumeric(text.substr(0, colon))) {
    return address.status();
  }
  const absl::string_view host = text.substr(0, colon);
  uint32_t port = 0;
  if (!IsHostName(host) || !absl::SimpleAtoi(text.substr(colon + 1), &port) || port == 0 ||
      port > 65535) {
    return absl::InvalidArgumentError(absl::StrCat(
        "target \"", text, "\" is none of host:port, 1.2.3.4:port, [::1]:port and unix:PATH"));
  }
  target.host = std::string(host);
  target.port = static_cast<uint16_t>(port);
  return target;
}

}  // namespace farcall
