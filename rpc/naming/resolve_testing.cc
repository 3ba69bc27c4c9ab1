// SPDX-License-Identifier: Apache-2.0

#include "rpc/naming/resolve_testing.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

constexpr size_t kHeader = 12;
constexpr uint16_t kCname = 5;
constexpr char kQuestionName[] = "\xc0\x0c";  // a pointer to it, RFC 1035, section 4.1.4

std::string Be(uint32_t value, int bytes) {
  std::string out;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(value >> shift));
  }
  return out;
}

std::string WireName(absl::string_view name) {
  std::string out;
  for (const absl::string_view label : absl::StrSplit(name, '.')) {
    absl::StrAppend(&out, Be(static_cast<uint32_t>(label.size()), 1), label);
  }
  return out + std::string(1, '\0');
}

std::string Record(absl::string_view name, uint16_t type, uint32_t ttl, absl::string_view data) {
  return absl::StrCat(name, Be(type, 2), Be(1, 2), Be(ttl, 4),
                      Be(static_cast<uint32_t>(data.size()), 2), data);
}

std::string Ip(const std::string& text, uint16_t type) {
  std::array<char, 16> ip;
  const bool ipv6 = type == TestNameServer::kAaaa;
  Check(::inet_pton(ipv6 ? AF_INET6 : AF_INET, text.c_str(), ip.data()) == 1, "an address");
  return std::string(ip.data(), ipv6 ? 16 : 4);
}

UniqueFd Bind(int type, uint16_t& port) {
  UniqueFd fd(::socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof(address);
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) return UniqueFd();
  Check(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0, "bound");
  port = ntohs(address.sin_port);
  return fd;
}

}  // namespace

TestNameServer::TestNameServer(absl::string_view conf) {
  // Whoever has the number for TCP already: another one.
  while (!tcp_.valid()) {
    port_ = 0;
    udp_ = Bind(SOCK_DGRAM, port_);
    tcp_ = Bind(SOCK_STREAM, port_);
  }
  Check(::listen(tcp_.get(), 16) == 0, "it listens");
  files_.Write("resolv.conf", absl::StrCat("nameserver 127.0.0.1\n", conf));
}

void TestNameServer::Set(const std::string& name, const std::vector<std::string>& ipv4,
                         const std::vector<std::string>& ipv6, uint32_t ttl) {
  for (const Type type : {kA, kAaaa}) {
    TestRecords records;
    records.ips = type == kA ? ipv4 : ipv6;
    records.ttl = ttl;
    records_[{name, type}] = records;
  }
}

void TestNameServer::Remove(const std::string& name) {
  records_.erase({name, kA});
  records_.erase({name, kAaaa});
}

bool TestNameServer::Serve() {
  const bool udp = ServeUdp();
  return ServeTcp() || udp;
}

// Empty: none.
std::string TestNameServer::Answer(absl::string_view query, bool tcp) {
  std::string name;
  size_t at = kHeader;
  while (query.at(at) != '\0') {
    const size_t length = static_cast<uint8_t>(query[at]);
    absl::StrAppend(&name, name.empty() ? "" : ".", query.substr(at + 1, length));
    at += 1 + length;
  }
  absl::AsciiStrToLower(&name);
  const auto type = static_cast<uint16_t>(static_cast<uint8_t>(query.at(at + 2)));
  const absl::string_view question = query.substr(kHeader, at + 5 - kHeader);
  asked_.push_back(absl::StrCat(name, type == kA ? "/A" : "/AAAA", tcp ? "/tcp" : ""));

  TestRecords records;
  records.rcode = 3;
  const auto found = records_.find({name, type});
  if (found != records_.end()) records = found->second;
  if (records.silent) return "";
  if (!records.bytes.empty()) return absl::StrCat(query.substr(0, 2), records.bytes);
  std::string body;
  std::string owner(kQuestionName);
  if (!records.alias.empty()) {
    body = Record(owner, kCname, records.ttl, WireName(records.alias));
    owner = WireName(records.alias);
  }
  size_t count = records.alias.empty() ? 0 : 1;
  for (const std::string& ip : records.ips) {
    absl::StrAppend(&body, Record(owner, type, records.ttl, Ip(ip, type)));
    ++count;
  }
  const bool cut = records.only_tcp && !tcp;
  // A response, recursion wanted and offered; perhaps truncated.
  const uint32_t flags = 0x8180u | (cut ? 0x0200u : 0u) | static_cast<uint32_t>(records.rcode);
  return absl::StrCat(query.substr(0, 2), Be(flags, 2), Be(1, 2),
                      Be(cut ? 0 : static_cast<uint32_t>(count), 2), Be(0, 4), question,
                      cut ? "" : body);
}

bool TestNameServer::ServeUdp() {
  char buffer[1024];
  sockaddr_in from{};
  socklen_t size = sizeof(from);
  bool any = false;
  for (;;) {
    const ssize_t got = ::recvfrom(udp_.get(), buffer, sizeof(buffer), 0,
                                   reinterpret_cast<sockaddr*>(&from), &size);
    if (got < 0) return any;
    any = true;
    const std::string answer = Answer({buffer, static_cast<size_t>(got)}, false);
    if (answer.empty()) continue;
    ::sendto(udp_.get(), answer.data(), answer.size(), 0, reinterpret_cast<sockaddr*>(&from), size);
  }
}

// On loopback a query comes whole.
bool TestNameServer::ServeTcp() {
  bool any = false;
  for (;;) {
    UniqueFd accepted(::accept4(tcp_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!accepted.valid()) break;
    connections_.push_back(std::move(accepted));
    any = true;
  }
  for (const UniqueFd& connection : connections_) {
    char buffer[4096];
    const ssize_t got = ::recv(connection.get(), buffer, sizeof(buffer), 0);
    absl::string_view left(buffer, got > 0 ? static_cast<size_t>(got) : 0);
    while (left.size() > 2) {
      any = true;
      const size_t length = static_cast<uint8_t>(left[0]) * 256u + static_cast<uint8_t>(left[1]);
      const std::string answer = Answer(left.substr(2, length), true);
      left.remove_prefix(2 + length);
      const std::string framed = absl::StrCat(Be(static_cast<uint32_t>(answer.size()), 2), answer);
      ::send(connection.get(), framed.data(), framed.size(), MSG_NOSIGNAL);
    }
  }
  return any;
}

}  // namespace farcall
