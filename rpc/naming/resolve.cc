// SPDX-License-Identifier: Apache-2.0

#include "rpc/naming/resolve.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"

namespace farcall {
namespace {

template <size_t kBytes>
std::array<uint8_t, kBytes> Bytes(const void* from) {
  std::array<uint8_t, kBytes> bytes;
  std::memcpy(bytes.data(), from, kBytes);
  return bytes;
}

}  // namespace

absl::StatusOr<std::vector<Address>> Resolve(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (error != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot resolve ", host, ": ",
                     error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  std::vector<Address> addresses;
  for (const addrinfo* info = list; info != nullptr; info = info->ai_next) {
    if (addresses.size() == kMaxAddresses) break;
    if (info->ai_family == AF_INET) {
      sockaddr_in ipv4;
      std::memcpy(&ipv4, info->ai_addr, sizeof(ipv4));
      addresses.push_back(Address::Ipv4(Bytes<4>(&ipv4.sin_addr), port));
    } else if (info->ai_family == AF_INET6) {
      sockaddr_in6 ipv6;
      std::memcpy(&ipv6, info->ai_addr, sizeof(ipv6));
      addresses.push_back(Address::Ipv6(Bytes<16>(&ipv6.sin6_addr), port, ipv6.sin6_scope_id));
    }
  }
  if (addresses.empty()) {
    return absl::UnavailableError(absl::StrCat(host, " has no IPv4 or IPv6 address"));
  }
  return addresses;
}

}  // namespace farcall
