// SPDX-License-Identifier: Apache-2.0

#include "rpc/naming/target.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
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
  return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '.';
  });
}

// Digits only: SimpleAtoi bears signs and spaces.
std::optional<uint16_t> ParsePort(absl::string_view digits) {
  const bool plain = std::all_of(digits.begin(), digits.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c));
  });
  uint32_t port = 0;
  if (!plain || !absl::SimpleAtoi(digits, &port) || port > 65535) return std::nullopt;
  return static_cast<uint16_t>(port);
}

// The text may come from anywhere: made printable, and cut to what a log line bears.
absl::Status Bad(absl::string_view text, absl::string_view cure) {
  constexpr size_t kShown = 300;
  return absl::InvalidArgumentError(absl::StrCat("target \"",
                                                 absl::CHexEscape(text.substr(0, kShown)),
                                                 text.size() > kShown ? "..." : "", "\" ", cure));
}

absl::Status BadPort(absl::string_view text, uint16_t lowest_port) {
  return Bad(text,
             absl::StrCat("has no good port: it is a number from ", lowest_port, " to 65535"));
}

// What the writer may have meant; "": unknown.
std::string HintFor(absl::string_view text, uint16_t lowest_port) {
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return "";
  const std::string bracketed = absl::StrCat("[", text.substr(0, colon), "]", text.substr(colon));
  if (Address::Parse(bracketed).ok()) {
    return absl::StrCat("; IPv6 needs brackets: write ", bracketed);
  }
  const bool to_connect = lowest_port > 0;
  const bool several = absl::StrContains(text, ',') && !absl::StrContains(text, "://");
  return to_connect && several ? "; several servers are written list://a:1,b:2" : "";
}

}  // namespace

absl::StatusOr<Target> Target::Parse(absl::string_view text, uint16_t lowest_port) {
  Target target;
  target.text = std::string(text);
  absl::StatusOr<Address> address = Address::Parse(text);
  if (address.ok()) {
    target.address = *std::move(address);
    target.port = target.address->port();
    if (target.address->family() != AddressFamily::kUnix && target.port < lowest_port) {
      return BadPort(text, lowest_port);
    }
    return target;
  }
  const size_t colon = text.rfind(':');
  if (absl::StartsWith(text, "unix:") || absl::StartsWith(text, "[") ||
      LooksNumeric(text.substr(0, colon))) {
    return address.status();
  }
  const absl::string_view host = text.substr(0, colon);
  if (colon == absl::string_view::npos || !IsHostName(host)) {
    return Bad(text, absl::StrCat("is none of host:port, 1.2.3.4:port, [::1]:port and unix:PATH",
                                  HintFor(text, lowest_port)));
  }
  const std::optional<uint16_t> port = ParsePort(text.substr(colon + 1));
  if (!port || *port < lowest_port) return BadPort(text, lowest_port);
  target.host = std::string(host);
  target.port = *port;
  return target;
}

}  // namespace farcall
