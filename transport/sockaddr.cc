// SPDX-License-Identifier: Apache-2.0

#include "transport/sockaddr.h"

#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "absl/status/status.h"

namespace farcall {
namespace {

// The structs go through memcpy: sockaddr_storage is not one of them.
template <typename Sockaddr>
void Put(const Sockaddr& from, size_t length, SocketAddress& to) {
  static_assert(sizeof(Sockaddr) <= sizeof(to.storage));
  std::memcpy(&to.storage, &from, sizeof(from));
  to.length = static_cast<socklen_t>(length);
}

template <typename Sockaddr>
bool Get(const SocketAddress& from, Sockaddr& to) {
  if (from.length < sizeof(to)) return false;
  std::memcpy(&to, &from.storage, sizeof(to));
  return true;
}

SocketAddress Ipv4Sockaddr(const Address& address) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(address.port());
  std::memcpy(&in.sin_addr, address.ip().data(), 4);
  SocketAddress result;
  Put(in, sizeof(in), result);
  return result;
}

SocketAddress Ipv6Sockaddr(const Address& address) {
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(address.port());
  in.sin6_scope_id = address.scope_id();
  std::memcpy(&in.sin6_addr, address.ip().data(), 16);
  SocketAddress result;
  Put(in, sizeof(in), result);
  return result;
}

SocketAddress UnixSockaddr(const Address& address) {
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  static_assert(sizeof(un.sun_path) == Address::kMaxUnixPath + 1);
  std::memcpy(un.sun_path, address.path().data(), address.path().size());
  SocketAddress result;
  Put(un, offsetof(sockaddr_un, sun_path) + address.path().size() + 1, result);
  return result;
}

Address FromIpv4(const SocketAddress& from) {
  sockaddr_in in{};
  if (!Get(from, in)) return Address();
  std::array<uint8_t, 4> ip{};
  std::memcpy(ip.data(), &in.sin_addr, ip.size());
  return Address::Ipv4(ip, ntohs(in.sin_port));
}

Address FromIpv6(const SocketAddress& from) {
  sockaddr_in6 in{};
  if (!Get(from, in)) return Address();
  std::array<uint8_t, 16> ip{};
  std::memcpy(ip.data(), &in.sin6_addr, ip.size());
  if (IN6_IS_ADDR_V4MAPPED(&in.sin6_addr)) {
    return Address::Ipv4({ip[12], ip[13], ip[14], ip[15]}, ntohs(in.sin6_port));
  }
  return Address::Ipv6(ip, ntohs(in.sin6_port), in.sin6_scope_id);
}

Address FromUnix(const SocketAddress& from) {
  constexpr size_t kPathOffset = offsetof(sockaddr_un, sun_path);
  if (from.length <= kPathOffset) return Address();
  const char* const path = reinterpret_cast<const char*>(&from.storage) + kPathOffset;
  const size_t room = std::min<size_t>(from.length, sizeof(sockaddr_un)) - kPathOffset;
  // An abstract name begins with a zero, so it gives no path.
  auto address = Address::Unix(absl::string_view(path, ::strnlen(path, room)));
  return address.ok() ? *std::move(address) : Address();
}

template <typename Ask>
Address AddressBy(Ask ask, int fd) {
  SocketAddress address;
  address.length = sizeof(address.storage);
  if (ask(fd, address.get(), &address.length) != 0) return Address();
  return FromSocketAddress(address);
}

}  // namespace

absl::StatusOr<SocketAddress> ToSocketAddress(const Address& address) {
  switch (address.family()) {
    case AddressFamily::kIpv4:
      return Ipv4Sockaddr(address);
    case AddressFamily::kIpv6:
      return Ipv6Sockaddr(address);
    case AddressFamily::kUnix:
      return UnixSockaddr(address);
    case AddressFamily::kNone:
      break;
  }
  return absl::InvalidArgumentError("no address was given");
}

Address FromSocketAddress(const SocketAddress& from) {
  switch (from.family()) {
    case AF_INET:
      return FromIpv4(from);
    case AF_INET6:
      return FromIpv6(from);
    case AF_UNIX:
      return FromUnix(from);
    default:
      return Address();
  }
}

Address LocalAddress(int fd) { return AddressBy(::getsockname, fd); }
Address PeerAddress(int fd) { return AddressBy(::getpeername, fd); }

}  // namespace farcall
