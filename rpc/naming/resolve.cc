// SPDX-License-Identifier: Apache-2.0

#include "rpc/naming/resolve.h"

#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "transport/sockaddr.h"

namespace farcall {
absl::StatusOr<std::vector<Address>> Resolve(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (error != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot resolve ", host, ": ",
                     error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  std::vector<Address> addresses;
  for (const addrinfo* info = list; info != nullptr; info = info->ai_next) {
    if (addresses.size() == kMaxAddresses) break;
    if (info->ai_family != AF_INET && info->ai_family != AF_INET6) continue;
    SocketAddress found;
    found.length = info->ai_addrlen;
    std::memcpy(&found.storage, info->ai_addr, info->ai_addrlen);
    addresses.push_back(FromSocketAddress(found));
  }
  if (addresses.empty()) {
    return absl::UnavailableError(absl::StrCat(host, " has no IPv4 or IPv6 address"));
  }
  return addresses;
}

}  // namespace farcall
