// SPDX-License-Identifier: Apache-2.0

#include "transport/tcp/acceptor.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/errno_status.h"
#include "transport/sockaddr.h"
#include "transport/tcp/socket_options.h"
#include "transport/tcp/tcp_connection.h"
#include "transport/tcp/watched_socket.h"

namespace farcall {

Acceptor::Acceptor(Parts parts, Transport::OnAccept on_accept)
    : parts_(std::move(parts)),
      loop_(parts_.loops.Next()),
      gate_(std::move(on_accept)),
      wait_log_(parts_.log),
      drop_log_(parts_.log),
      timer_([this] { watched_ ? AcceptSome() : Watch(); }) {}

Acceptor::~Acceptor() {
  // The loop ends with the task that Close posted still in its mailbox.
  if (loop_.held()) Unwatch();
}

void Acceptor::Open() {
  loop_.RunOrPost([self = shared_from_this()] { self->Watch(); });
}

void Acceptor::Close() {
  TakeLast();
  gate_.Close();
  loop_.RunOrPost([self = shared_from_this()] { self->Unwatch(); });
}

auto Acceptor::PostAccept(EventLoop& target, UniqueFd fd, Address peer) {
  pending_accepts_.Begin();
  return
      [self = shared_from_this(), &target, fd = std::move(fd), peer = std::move(peer)]() mutable {
        if (const AcceptGate::Pass pass = self->gate_.Enter(); pass.owns_lock()) {
          self->Hand(target, std::move(fd), std::move(peer));
        }
        self->pending_accepts_.End();
      };
}

// Who has connected may have sent a request, and only a server that has the connection can
// tell it that this was not run: from a socket that is closed unseen it learns nothing.
void Acceptor::TakeLast() {
  for (int i = 0; i < kLast; ++i) {
    SocketAddress peer;
    UniqueFd fd = AcceptOne(peer);
    if (!fd.valid()) break;
    EventLoop& target = parts_.loops.Next();
    target.RunOrPost(PostAccept(target, std::move(fd), FromSocketAddress(peer)));
  }
  // accept4 fails from now on, and connecting is refused, whoever holds the loop now. The
  // number of the descriptor stays taken until the loop lets go of it.
  ::shutdown(parts_.fd.get(), SHUT_RDWR);
  static_cast<void>(pending_accepts_.WaitForNone(kLastWait));
}

void Acceptor::Watch() {
  auto watch = loop_.fds().Add(parts_.fd.get(), EPOLLIN | EPOLLET, *this);
  if (!watch.ok()) {
    wait_log_.OnFailure(absl::StrCat("accepting connections on ", parts_.address.ToString(),
                                     " must wait: ", watch.status().message()));
    return RetryLater();
  }
  watch_ = *watch;
  watched_ = true;
}

void Acceptor::Unwatch() {
  loop_.CancelTimer(timer_);
  if (std::exchange(watched_, false)) loop_.fds().Remove(watch_, parts_.fd.get());
  parts_.fd.Reset();
}

void Acceptor::AcceptSome() {
  // Counted before the first accept4, so that Close waits for what this loop is taking, too.
  const InFlightOne dealing(&pending_accepts_);
  const AcceptGate::Pass pass = gate_.Enter();
  if (!pass.owns_lock()) return;
  for (int i = 0; i < kPerTurn; ++i) {
    SocketAddress peer;
    UniqueFd fd = AcceptOne(peer);
    if (fd.valid()) {
      Deal(std::move(fd), FromSocketAddress(peer));
    } else if (!OnAcceptError(errno)) {
      return;
    }
  }
  loop_.SetTimer(timer_, loop_.now());
}

UniqueFd Acceptor::AcceptOne(SocketAddress& peer) {
  peer.length = sizeof(peer.storage);
  return UniqueFd(
      ::accept4(parts_.fd.get(), peer.get(), &peer.length, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

// True: there may be another connection.
bool Acceptor::OnAcceptError(int error) {
  switch (error) {
    case EAGAIN:
      retry_.Reset();
      wait_log_.OnRecovery();
      return false;
    case EINVAL:  // it listens no more: Close
      return false;
    // That connection came to nothing; accept(2) hands on what its network said.
    case EINTR:
    case ECONNABORTED:
    case EPERM:
    case EPROTO:
    case ENOPROTOOPT:
    case EOPNOTSUPP:
    case ENETDOWN:
    case ENETUNREACH:
    case ENONET:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ETIMEDOUT:
      return true;
    default:
      break;
  }
  const bool descriptors = error == EMFILE || error == ENFILE;
  wait_log_.OnFailure(absl::StrCat(
      "cannot accept connections on ", parts_.address.ToString(), ": ",
      ErrnoStatus(error).message(), "; they wait, and are tried again",
      descriptors ? " (raise the limit on open files: ulimit -n, LimitNOFILE of systemd)" : ""));
  RetryLater();
  return false;
}

void Acceptor::RetryLater() { loop_.SetTimer(timer_, loop_.now() + retry_.NextUncut()); }

void Acceptor::Deal(UniqueFd fd, Address peer) {
  EventLoop& target = parts_.loops.Next();
  if (&target == &loop_) return Hand(loop_, std::move(fd), std::move(peer));
  target.Post(PostAccept(target, std::move(fd), std::move(peer)));
}

void Acceptor::Hand(EventLoop& loop, UniqueFd fd, Address peer) {
  auto connection = MakeConnection(loop, std::move(fd), std::move(peer));
  if (connection.ok()) {
    drop_log_.OnRecovery();
    return gate_.Accept(loop, *std::move(connection));
  }
  drop_log_.OnFailure(absl::StrCat("a connection accepted on ", parts_.address.ToString(),
                                   " is dropped: ", connection.status().message()));
}

absl::StatusOr<std::unique_ptr<Connection>> Acceptor::MakeConnection(EventLoop& loop, UniqueFd fd,
                                                                     Address peer) {
  Address local = LocalAddress(fd.get());
  const int family = parts_.address.family() == AddressFamily::kUnix   ? AF_UNIX
                     : parts_.address.family() == AddressFamily::kIpv6 ? AF_INET6
                                                                       : AF_INET;
  const absl::Status configured =
      ConfigureConnection(fd.get(), family, parts_.options.traffic_class);
  if (!configured.ok()) return configured;
  auto socket = WatchedSocket::Create(loop, std::move(fd));
  if (!socket.ok()) return socket.status();
  return std::make_unique<TcpConnection>(*std::move(socket), parts_.pool.OnNode(loop.memory_node()),
                                         parts_.options, std::move(local), std::move(peer));
}

}  // namespace farcall
