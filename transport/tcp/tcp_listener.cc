// SPDX-License-Identifier: Apache-2.0

#include "transport/tcp/tcp_listener.h"

#include <sys/socket.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "transport/base/errno_status.h"
#include "transport/base/unique_fd.h"
#include "transport/sockaddr.h"
#include "transport/tcp/socket_options.h"

namespace farcall {
namespace {

absl::Status Validate(const ListenOptions& options) {
  if (options.backlog < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("the backlog of a listener must be above 0, not ", options.backlog));
  }
  return options.connection.Validate();
}

absl::string_view CureFor(int error) {
  switch (error) {
    case EADDRINUSE:
      return "; `ss -ltnp` tells by whom: stop that, or take another port";
    case EADDRNOTAVAIL:
      return "; it is none of this host's, which `ip addr` lists";
    case EACCES:
      return "; a port below net.ipv4.ip_unprivileged_port_start takes CAP_NET_BIND_SERVICE, a "
             "unix socket the right to write to its directory";
    default:
      return "";
  }
}

absl::Status ListenError(int error) {
  const absl::Status status = ErrnoStatus(error);
  return absl::Status(status.code(), absl::StrCat(status.message(), CureFor(error)));
}

absl::StatusOr<UniqueFd> BindAndListen(const Address& address, const ListenOptions& options) {
  const absl::Status valid = Validate(options);
  if (!valid.ok()) return valid;
  auto where = ToSocketAddress(address);
  if (!where.ok()) return where.status();
  auto fd = OpenStreamSocket(where->family());
  if (!fd.ok()) return fd;
  const absl::Status configured =
      ConfigureListener(fd->get(), where->family(), options.connection.traffic_class);
  if (!configured.ok()) return configured;
  if (address.family() == AddressFamily::kUnix) {
    const absl::Status free = UnixSocketFile::RemoveStale(address);
    if (!free.ok()) return free;
  }
  if (::bind(fd->get(), where->get(), where->length) != 0) return ListenError(errno);
  if (::listen(fd->get(), options.backlog) != 0) return ListenError(errno);
  return fd;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Listener>> TcpListener::Open(
    LoopGroup& loops, const Address& address, const ListenOptions& options, BlockPool& pool,
    const EpisodeLog::Sink& log, Transport::OnAccept on_accept) {
  auto fd = BindAndListen(address, options);
  if (!fd.ok()) {
    return Annotate(fd.status(), absl::StrCat("cannot listen on ", address.ToString()));
  }
  // With the port that the kernel chose.
  const Address bound =
      address.family() == AddressFamily::kUnix ? address : LocalAddress(fd->get());
  auto acceptor = std::make_shared<Acceptor>(
      Acceptor::Parts{loops, pool, log, options.connection, bound, *std::move(fd)},
      std::move(on_accept));
  std::unique_ptr<TcpListener> listener(new TcpListener(bound, acceptor));
  acceptor->Open();
  return listener;
}

TcpListener::TcpListener(Address address, std::shared_ptr<Acceptor> acceptor)
    : address_(std::move(address)), file_(address_), acceptor_(std::move(acceptor)) {}

void TcpListener::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (acceptor_ == nullptr) return;
  file_.Remove();
  std::exchange(acceptor_, nullptr)->Close();
}

}  // namespace farcall
