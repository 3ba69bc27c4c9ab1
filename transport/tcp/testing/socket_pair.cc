// SPDX-License-Identifier: Apache-2.0

#include "transport/tcp/testing/socket_pair.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "transport/base/check.h"
#include "transport/sockaddr.h"
#include "transport/tcp/socket_options.h"

namespace farcall {

SocketPair SocketPair::Unix() {
  int fds[2];
  Check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0,
        "a test gets sockets");
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

SocketPair SocketPair::Tcp() {
  auto listener = OpenStreamSocket(AF_INET);
  auto other = OpenStreamSocket(AF_INET);
  Check(listener.ok() && other.ok(), "a test gets sockets");
  const auto any = ToSocketAddress(Address::Ipv4({127, 0, 0, 1}, 0));
  Check(::bind(listener->get(), any->get(), any->length) == 0 && ::listen(listener->get(), 1) == 0,
        "a test gets a port");
  const auto address = ToSocketAddress(LocalAddress(listener->get()));
  Check(::connect(other->get(), address->get(), address->length) == 0 || errno == EINPROGRESS,
        "a test connects");
  pollfd ready{listener->get(), POLLIN, 0};
  Check(::poll(&ready, 1, 10'000) == 1, "a test's connection arrives");
  UniqueFd mine(::accept4(listener->get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  Check(mine.valid(), "a test accepts");
  return {std::move(mine), *std::move(other)};
}

size_t SendSome(int fd, absl::string_view bytes) {
  size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t some = ::send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (some <= 0) break;
    sent += static_cast<size_t>(some);
  }
  return sent;
}

std::string ReceiveAll(int fd) {
  std::string bytes;
  std::array<char, 65536> some;
  for (;;) {
    const ssize_t got = ::recv(fd, some.data(), some.size(), 0);
    if (got <= 0) return bytes;
    bytes.append(some.data(), static_cast<size_t>(got));
  }
}

bool AtEnd(int fd) {
  char byte;
  return ::recv(fd, &byte, 1, MSG_PEEK) == 0;
}

}  // namespace farcall
