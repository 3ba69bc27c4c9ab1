// SPDX-License-Identifier: Apache-2.0

#include "transport/tcp/testing/blocked_listener.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "transport/base/check.h"
#include "transport/sockaddr.h"
#include "transport/tcp/socket_options.h"

namespace farcall {
namespace {

UniqueFd Bound(const Address& address, Address& bound) {
  const auto where = ToSocketAddress(address);
  Check(where.ok(), "a test gives an address");
  auto fd = OpenStreamSocket(where->family());
  Check(fd.ok(), "a test gets file descriptors");
  Check(::bind(fd->get(), where->get(), where->length) == 0, "a test binds to a free address");
  bound = LocalAddress(fd->get());
  return *std::move(fd);
}

// Of a TCP listener; the two counts have these names there, net/ipv4/tcp.c of Linux.
bool QueueIsFull(int fd) {
  tcp_info info{};
  socklen_t length = sizeof(info);
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return false;
  return info.tcpi_unacked > info.tcpi_sacked;
}

}  // namespace

BlockedListener::BlockedListener(const Address& address) {
  fd_ = Bound(address, address_);
  // Even a backlog of 0 holds one.
  Check(::listen(fd_.get(), 0) == 0, "a bound socket listens");
  const auto where = ToSocketAddress(address_);
  while (!QueueIsFull(fd_.get())) {
    auto fd = OpenStreamSocket(where->family());
    Check(fd.ok(), "a test gets file descriptors");
    if (::connect(fd->get(), where->get(), where->length) != 0) {
      if (errno == EAGAIN) return;  // unix(7): it is full
      Check(errno == EINPROGRESS, "connecting to a listener works");
      pollfd answer{fd->get(), POLLOUT, 0};
      Check(::poll(&answer, 1, 10'000) == 1, "a listener with room in its queue answers");
    }
    waiting_.push_back(*std::move(fd));
  }
}

void BlockedListener::Unblock() {
  while (UniqueFd(::accept(fd_.get(), nullptr, nullptr)).valid()) {
  }
}

Address ClosedAddress(const Address& address) {
  // Its port was free a moment ago and is not in use now.
  Address bound;
  Bound(address, bound).Reset();
  return bound;
}

}  // namespace farcall
