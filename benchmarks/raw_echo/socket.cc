// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/raw_echo/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "transport/address.h"
#include "transport/sockaddr.h"

namespace farcall::bench {
namespace {

constexpr char kUnix[] = "unix:";

absl::StatusOr<SocketAddress> Resolve(const std::string& address, int flags) {
  if (absl::StartsWith(address, kUnix)) {
    const absl::StatusOr<Address> path = Address::Parse(address);
    if (!path.ok()) return path.status();
    return ToSocketAddress(*path);
  }
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat("\"", address, "\" has no port"));
  }
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints{};
  hints.ai_flags = flags;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), address.c_str() + colon + 1, &hints, &found);
  if (error != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot resolve \"", address, "\": ", gai_strerror(error)));
  }
  SocketAddress result;
  std::memcpy(&result.storage, found->ai_addr, found->ai_addrlen);
  result.length = found->ai_addrlen;
  freeaddrinfo(found);
  return result;
}

// It fails on unix sockets, which have no such delay.
void SetNoDelay(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

absl::Status Failed(const char* what, const std::string& address) {
  return absl::ErrnoToStatus(errno, absl::StrCat(what, " ", address));
}

}  // namespace

absl::StatusOr<UniqueFd> ListenOn(const std::string& address) {
  const absl::StatusOr<SocketAddress> where = Resolve(address, AI_PASSIVE);
  if (!where.ok()) return where.status();
  UniqueFd fd(socket(where->family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return Failed("no socket for", address);
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (where->family() == AF_UNIX) {
    unlink(address.c_str() + sizeof(kUnix) - 1);
  }
  if (bind(fd.get(), where->get(), where->length) != 0) return Failed("cannot bind", address);
  if (listen(fd.get(), 1024) != 0) return Failed("cannot listen on", address);
  return fd;
}

absl::StatusOr<UniqueFd> ConnectTo(const std::string& address) {
  const absl::StatusOr<SocketAddress> where = Resolve(address, 0);
  if (!where.ok()) return where.status();
  UniqueFd fd(socket(where->family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return Failed("no socket for", address);
  if (connect(fd.get(), where->get(), where->length) != 0) {
    return Failed("cannot connect to", address);
  }
  SetNoDelay(fd.get());
  return fd;
}

UniqueFd AcceptFrom(int listener) {
  UniqueFd fd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (fd.valid()) SetNoDelay(fd.get());
  return fd;
}

std::string AddressOf(int fd) { return LocalAddress(fd).ToString(); }

}  // namespace farcall::bench
