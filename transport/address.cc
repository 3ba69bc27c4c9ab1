// SPDX-License-Identifier: Apache-2.0

#include "transport/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace farcall {
namespace {

constexpr absl::string_view kUnixPrefix = "unix:";

// The text comes from users and peers: made printable, and cut to what a log line bears.
absl::Status Bad(absl::string_view text, absl::string_view cure) {
  constexpr size_t kShown = 120;
  return absl::InvalidArgumentError(absl::StrCat("address \"",
                                                 absl::CHexEscape(text.substr(0, kShown)),
                                                 text.size() > kShown ? "..." : "", "\": ", cure));
}

// Decimal digits only, without leading zeros, so that each number has one spelling.
std::optional<uint32_t> ParseNumber(absl::string_view digits, uint32_t max) {
  const bool plain = std::all_of(digits.begin(), digits.end(),
                                 [](unsigned char c) { return absl::ascii_isdigit(c); });
  uint32_t number = 0;
  if (!plain || digits.empty() || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
  if (!absl::SimpleAtoi(digits, &number) || number > max) return std::nullopt;
  return number;
}

std::optional<uint16_t> ParsePort(absl::string_view digits) {
  const std::optional<uint32_t> port = ParseNumber(digits, std::numeric_limits<uint16_t>::max());
  if (!port) return std::nullopt;
  return static_cast<uint16_t>(*port);
}

// inet_pton(3) reads a C string: a zero inside would hide what follows it.
bool ParseIp(int family, absl::string_view text, void* out) {
  if (text.size() >= INET6_ADDRSTRLEN || absl::StrContains(text, '\0')) return false;
  return inet_pton(family, std::string(text).c_str(), out) == 1;
}

absl::StatusOr<Address> ParseIpv4(absl::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return Bad(text, "has no port; write 1.2.3.4:80");
  const absl::string_view host = text.substr(0, colon);
  if (absl::StrContains(host, ':')) return Bad(text, "IPv6 needs brackets; write [::1]:80");
  std::array<uint8_t, 4> ip{};
  if (!ParseIp(AF_INET, host, ip.data())) {
    return Bad(text, "is not a number; write 1.2.3.4:80 or [::1]:80, or resolve the name first");
  }
  const std::optional<uint16_t> port = ParsePort(text.substr(colon + 1));
  if (!port) return Bad(text, "the port is not a number from 0 to 65535");
  return Address::Ipv4(ip, *port);
}

// `text` starts with a bracket.
absl::StatusOr<Address> ParseIpv6(absl::string_view text) {
  const size_t end = text.find(']');
  if (end == absl::string_view::npos) return Bad(text, "the bracket is not closed; write [::1]:80");
  absl::string_view host = text.substr(1, end - 1);
  absl::string_view rest = text.substr(end + 1);
  if (!absl::ConsumePrefix(&rest, ":")) return Bad(text, "has no port; write [::1]:80");
  const std::optional<uint16_t> port = ParsePort(rest);
  if (!port) return Bad(text, "the port is not a number from 0 to 65535");
  uint32_t scope_id = 0;
  if (const size_t percent = host.find('%'); percent != absl::string_view::npos) {
    const std::optional<uint32_t> scope =
        ParseNumber(host.substr(percent + 1), std::numeric_limits<uint32_t>::max());
    if (!scope || *scope == 0) {
      return Bad(text,
                 "the scope is not a number from 1; write the interface's index, as in "
                 "[fe80::1%2]:80 (ip link shows it)");
    }
    scope_id = *scope;
    host = host.substr(0, percent);
  }
  std::array<uint8_t, 16> ip{};
  if (!ParseIp(AF_INET6, host, ip.data())) {
    return Bad(text, "is not an IPv6 number in brackets; write [::1]:80");
  }
  return Address::Ipv6(ip, *port, scope_id);
}

}  // namespace

Address Address::Ipv4(std::array<uint8_t, 4> ip, uint16_t port) {
  Address address;
  address.family_ = AddressFamily::kIpv4;
  std::copy(ip.begin(), ip.end(), address.ip_.begin());
  address.port_ = port;
  return address;
}

Address Address::Ipv6(std::array<uint8_t, 16> ip, uint16_t port, uint32_t scope_id) {
  Address address;
  address.family_ = AddressFamily::kIpv6;
  address.ip_ = ip;
  address.port_ = port;
  address.scope_id_ = scope_id;
  return address;
}

absl::StatusOr<Address> Address::Unix(absl::string_view path) {
  if (path.empty()) return Bad(kUnixPrefix, "has no path; write unix:/run/echo.sock");
  if (path.size() > kMaxUnixPath) {
    return Bad(path,
               absl::StrCat("the path of a unix socket has ", path.size(), " bytes, but at most ",
                            kMaxUnixPath, " fit; choose a shorter one"));
  }
  if (absl::StrContains(path, '\0')) {
    return Bad(path, "the path of a unix socket holds a zero byte; abstract sockets are not used");
  }
  Address address;
  address.family_ = AddressFamily::kUnix;
  address.path_ = std::string(path);
  return address;
}

absl::StatusOr<Address> Address::Parse(absl::string_view text) {
  absl::string_view path = text;
  if (absl::ConsumePrefix(&path, kUnixPrefix)) return Unix(path);
  if (text.empty()) return Bad(text, "is empty; write 1.2.3.4:80, [::1]:80 or unix:PATH");
  return text.front() == '[' ? ParseIpv6(text) : ParseIpv4(text);
}

absl::StatusOr<Address> Address::ParseIp(absl::string_view text) {
  if (absl::StrContains(text, ':')) return ParseIpv6(absl::StrCat("[", text, "]:0"));
  return ParseIpv4(absl::StrCat(text, ":0"));
}

std::string Address::ToString() const {
  char text[INET6_ADDRSTRLEN] = {};
  switch (family_) {
    case AddressFamily::kNone:
      break;
    case AddressFamily::kIpv4:
      inet_ntop(AF_INET, ip_.data(), text, sizeof(text));
      return absl::StrCat(text, ":", port_);
    case AddressFamily::kIpv6:
      inet_ntop(AF_INET6, ip_.data(), text, sizeof(text));
      if (scope_id_ == 0) return absl::StrCat("[", text, "]:", port_);
      return absl::StrCat("[", text, "%", scope_id_, "]:", port_);
    case AddressFamily::kUnix:
      return absl::StrCat(kUnixPrefix, path_);
  }
  return "(none)";
}

}  // namespace farcall
