// SPDX-License-Identifier: Apache-2.0

#include "transport/tcp/watched_socket.h"

namespace farcall {

absl::StatusOr<std::unique_ptr<WatchedSocket>> WatchedSocket::Create(EventLoop& loop, UniqueFd fd) {
  std::unique_ptr<WatchedSocket> socket(new WatchedSocket(loop, std::move(fd)));
  auto watch = loop.fds().Add(socket->fd(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, *socket);
  if (!watch.ok()) return watch.status();
  socket->watch_ = *watch;
  socket->watched_ = true;
  return socket;
}

void WatchedSocket::Close() {
  if (std::exchange(watched_, false)) loop_.fds().Remove(watch_, fd_.get());
  fd_.Reset();
}

}  // namespace farcall
