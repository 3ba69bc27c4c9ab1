// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/device/local_addresses.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "transport/rdma/verbs/errno_told.h"
#include "transport/sockaddr.h"

namespace farcall {
namespace {

Address AddressOf(const sockaddr& from) {
  SocketAddress address;
  if (from.sa_family == AF_INET) address.length = sizeof(sockaddr_in);
  if (from.sa_family == AF_INET6) address.length = sizeof(sockaddr_in6);
  if (address.length == 0) return Address();
  std::memcpy(&address.storage, &from, address.length);
  return FromSocketAddress(address);
}

absl::Status Unread(absl::string_view call, int error) {
  return {absl::ErrnoToStatusCode(error), ErrnoTold(call, error)};
}

}  // namespace

bool ReachableByPeers(const Address& address) {
  const auto& ip = address.ip();
  switch (address.family()) {
    case AddressFamily::kIpv4:
      return ip[0] != 127 && !(ip[0] == 169 && ip[1] == 254);
    case AddressFamily::kIpv6:
      return !(ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80) && !IN6_IS_ADDR_LOOPBACK(ip.data());
    default:
      return false;
  }
}

absl::StatusOr<std::vector<LocalIp>> LocalAddresses() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return Unread("getifaddrs", errno);
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  std::vector<LocalIp> found;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr) continue;
    if ((each->ifa_flags & IFF_UP) == 0 || (each->ifa_flags & IFF_LOOPBACK) != 0) continue;
    Address address = AddressOf(*each->ifa_addr);
    if (!ReachableByPeers(address)) continue;
    const uint32_t index = if_nametoindex(each->ifa_name);
    // One that has just gone is none; but it takes a descriptor to ask.
    if (index == 0 && (errno == EMFILE || errno == ENFILE)) {
      return Unread("if_nametoindex", errno);
    }
    found.push_back({std::move(address), each->ifa_name, index});
  }
  return found;
}

}  // namespace farcall
