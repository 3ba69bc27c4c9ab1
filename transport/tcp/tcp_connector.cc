// SPDX-License-Identifier: Apache-2.0

#include "transport/tcp/tcp_connector.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "transport/base/check.h"
#include "transport/base/errno_status.h"
#include "transport/sockaddr.h"
#include "transport/tcp/socket_options.h"
#include "transport/tcp/tcp_connection.h"

namespace farcall {
namespace {

absl::Status Validate(const ConnectOptions& options) {
  if (options.timeout <= Duration::zero()) {
    return absl::InvalidArgumentError("the timeout of a connect must be above 0");
  }
  return options.connection.Validate();
}

// What a non-blocking connect(2) came to, once the socket is writable.
absl::Status ConnectError(int fd) {
  int error = 0;
  socklen_t length = sizeof(error);
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  return error == 0 ? absl::OkStatus() : ErrnoStatus(error);
}

}  // namespace

void TcpConnector::Start(EventLoop& loop, BlockPool& pool, const Address& peer,
                         const ConnectOptions& options, Transport::OnConnect done) {
  Check(loop.held(), "who connects holds the loop");
  std::unique_ptr<TcpConnector> connector(
      new TcpConnector(loop, pool, peer, options, std::move(done)));
  TcpConnector& self = *connector;
  self.self_ = std::move(connector);
  absl::Status started = Validate(options);
  if (started.ok()) started = self.StartConnect();
  if (!started.ok()) self.Finish(std::move(started));
}

TcpConnector::TcpConnector(EventLoop& loop, BlockPool& pool, const Address& peer,
                           const ConnectOptions& options, Transport::OnConnect done)
    : loop_(loop),
      pool_(pool),
      peer_(peer),
      options_(options),
      deadline_(loop.now() + options.timeout),
      done_(std::move(done)),
      timer_([this] { OnTime(); }) {}

// OK: an event or the timer goes on with it.
absl::Status TcpConnector::StartConnect() {
  auto address = ToSocketAddress(peer_);
  if (!address.ok()) return address.status();
  auto fd = OpenStreamSocket(address->family());
  if (!fd.ok()) return fd.status();
  const absl::Status configured =
      ConfigureConnection(fd->get(), address->family(), options_.connection.traffic_class);
  if (!configured.ok()) return configured;
  const bool connected = ::connect(fd->get(), address->get(), address->length) == 0;
  if (!connected && errno == EAGAIN) {
    RetryUntilDeadline();
    return absl::OkStatus();
  }
  if (!connected && errno != EINPROGRESS) return ErrnoStatus(errno);
  // After connect(2): a socket that was never connected counts as hung up, tcp(7). If it
  // is connected already, the first look at it says so.
  auto socket = WatchedSocket::Create(loop_, *std::move(fd));
  if (!socket.ok()) return socket.status();
  socket_ = *std::move(socket);
  socket_->SetHandler(this);
  loop_.SetTimer(timer_, deadline_);
  return absl::OkStatus();
}

void TcpConnector::OnReady(uint32_t events) {
  if ((events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) == 0) return;
  absl::Status status = ConnectError(socket_->fd());
  // Two ends of one socket: the kernel gave it as its own port the one that it looks for
  // on this host, where nothing listens (simultaneous open, RFC 9293, 3.5).
  if (status.ok() && peer_.family() != AddressFamily::kUnix &&
      LocalAddress(socket_->fd()) == PeerAddress(socket_->fd())) {
    status = ErrnoStatus(ECONNREFUSED);
  }
  Finish(std::move(status));
}

// connect(2) of a unix socket says EAGAIN while the listener's queue is full, and no
// event tells when it is not.
void TcpConnector::RetryUntilDeadline() {
  loop_.SetTimer(timer_, std::min(deadline_, loop_.now() + kRetry));
}

void TcpConnector::OnTime() {
  if (loop_.now() >= deadline_) {
    const absl::Duration timeout = absl::FromChrono(options_.timeout);
    return Finish(absl::DeadlineExceededError(
        absl::StrCat("no answer within ", absl::FormatDuration(timeout))));
  }
  absl::Status started = StartConnect();
  if (!started.ok()) Finish(std::move(started));
}

void TcpConnector::Finish(absl::Status status) {
  loop_.CancelTimer(timer_);
  status_ = std::move(status);
  if (socket_ != nullptr) socket_->SetHandler(nullptr);
  if (socket_ != nullptr && !status_.ok()) socket_->Close();
  loop_.Post([self = std::move(self_)] { self->done_(self->Result()); });
}

absl::StatusOr<std::unique_ptr<Connection>> TcpConnector::Result() {
  if (!status_.ok()) return Annotate(status_, absl::StrCat("cannot connect to ", peer_.ToString()));
  Address local = LocalAddress(socket_->fd());
  return std::make_unique<TcpConnection>(std::move(socket_), pool_.OnNode(loop_.memory_node()),
                                         options_.connection, std::move(local), peer_);
}

}  // namespace farcall
