// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/device/local_addresses.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netpacket/packet.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "transport/rdma/verbs/errno_text.h"
#include "transport/sockaddr.h"

namespace farcall {
namespace {

constexpr size_t kMaxHardware = 20;  // what InfiniBand has

Address AddressOf(const sockaddr& from) {
  SocketAddress address;
  if (from.sa_family == AF_INET) address.length = sizeof(sockaddr_in);
  if (from.sa_family == AF_INET6) address.length = sizeof(sockaddr_in6);
  if (address.length == 0) return Address();
  std::memcpy(&address.storage, &from, address.length);
  return FromSocketAddress(address);
}

int PrefixBits(const sockaddr* mask, AddressFamily family) {
  if (mask == nullptr) return 0;
  const Address address = AddressOf(*mask);
  if (address.family() != family) return 0;
  int bits = 0;
  for (const uint8_t byte : address.ip()) bits += std::popcount(byte);
  return bits;
}

// By the name of the interface.
std::map<std::string, std::vector<uint8_t>> HardwareAddresses(const ifaddrs* list) {
  std::map<std::string, std::vector<uint8_t>> found;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_PACKET) continue;
    // sll_addr has more than 8 bytes where the hardware has: getifaddrs(3).
    const auto* const link = reinterpret_cast<const sockaddr_ll*>(each->ifa_addr);
    const auto* const bytes =
        reinterpret_cast<const uint8_t*>(each->ifa_addr) + offsetof(sockaddr_ll, sll_addr);
    found[each->ifa_name].assign(bytes, bytes + std::min<size_t>(link->sll_halen, kMaxHardware));
  }
  return found;
}

absl::Status Unread(absl::string_view call, int error) {
  return {absl::ErrnoToStatusCode(error), ErrnoText(call, error)};
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
  const auto hardware = HardwareAddresses(list);
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
    const int prefix = PrefixBits(each->ifa_netmask, address.family());
    const auto own = hardware.find(each->ifa_name);
    found.push_back({std::move(address), each->ifa_name, index, prefix,
                     own == hardware.end() ? std::vector<uint8_t>() : own->second});
  }
  return found;
}

}  // namespace farcall
