// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/cluster/hosts.h"

#include <netdb.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tools/doctor/peer/networks.h"
#include "tools/farcall/files.h"
#include "transport/sockaddr.h"

namespace farcall::doctor {
namespace {

absl::Status NoHost(absl::string_view word) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", word, "\" is no host, as host, host:18600 or [fd00::1]:18600 is"));
}

absl::StatusOr<HostLine> ParseHost(absl::string_view word, uint16_t port) {
  absl::string_view host = word;
  absl::string_view digits;
  if (absl::ConsumePrefix(&host, "[")) {
    const size_t end = host.find(']');
    if (end == absl::string_view::npos) return NoHost(word);
    digits = host.substr(end + 1);
    host = host.substr(0, end);
  } else if (std::count(host.begin(), host.end(), ':') == 1) {
    digits = host.substr(host.find(':'));
    host = host.substr(0, host.find(':'));
  }
  int number = port;
  if (!digits.empty() && (!absl::ConsumePrefix(&digits, ":") ||
                          !absl::SimpleAtoi(digits, &number) || number < 1 || number > 65535)) {
    return NoHost(word);
  }
  if (host.empty()) return NoHost(word);
  return HostLine{std::string(host), static_cast<uint16_t>(number)};
}

absl::StatusOr<std::vector<HostLine>> Checked(std::vector<HostLine> lines) {
  if (lines.empty()) return absl::InvalidArgumentError("there is no host");
  if (lines.size() > kMaxHosts) {
    return absl::InvalidArgumentError(
        absl::StrCat(lines.size(), " hosts: no more than ", kMaxHosts, " at a time"));
  }
  return lines;
}

absl::StatusOr<std::vector<Address>> AddressesOf(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  if (error != 0) {
    return absl::NotFoundError(absl::StrCat(host, " has no address: ", gai_strerror(error)));
  }
  std::vector<Address> addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    if (each->ai_family != AF_INET && each->ai_family != AF_INET6) continue;
    SocketAddress address;
    address.length = each->ai_addrlen;
    std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
    addresses.push_back(FromSocketAddress(address));
  }
  if (addresses.empty()) return absl::NotFoundError(host + " has no address");
  return addresses;
}

}  // namespace

absl::StatusOr<std::vector<HostLine>> ParseHosts(absl::string_view text, uint16_t port) {
  if (absl::ConsumePrefix(&text, "file://")) {
    const auto file = cli::ReadFile(std::string(text));
    if (!file.ok()) return file.status();
    return ParseHostFile(*file, port);
  }
  const bool all = absl::ConsumePrefix(&text, "dns://");
  std::vector<HostLine> lines;
  for (const absl::string_view word : absl::StrSplit(text, ',')) {
    auto line = ParseHost(absl::StripAsciiWhitespace(word), port);
    if (!line.ok()) return line.status();
    line->all = all;
    lines.push_back(*std::move(line));
  }
  return Checked(std::move(lines));
}

absl::StatusOr<std::vector<HostLine>> ParseHostFile(absl::string_view text, uint16_t port) {
  std::vector<HostLine> lines;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = line.substr(0, line.find('#'));
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (words.empty()) continue;
    auto host = ParseHost(words.front(), port);
    if (!host.ok()) return host.status();
    for (size_t i = 1; i < words.size(); ++i) {
      if (!IpWithPort(words[i], 0).ok()) {
        return absl::InvalidArgumentError(
            absl::StrCat("\"", words[i], "\" is no address of ", words.front()));
      }
      host->addresses.push_back(words[i]);
    }
    lines.push_back(*std::move(host));
  }
  return Checked(std::move(lines));
}

std::vector<Host> Resolve(const std::vector<HostLine>& lines) {
  std::vector<Host> hosts;
  for (const HostLine& line : lines) {
    auto addresses = AddressesOf(line.host, line.port);
    if (!addresses.ok()) {
      hosts.push_back({line.host, {}, {}, std::string(addresses.status().message())});
      continue;
    }
    if (!line.all) addresses->resize(1);
    for (const Address& address : *addresses) {
      if (hosts.size() == kMaxHosts) return hosts;
      hosts.push_back({line.all ? "" : line.host, address, line.addresses});
    }
  }
  return hosts;
}

}  // namespace farcall::doctor
