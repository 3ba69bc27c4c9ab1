// SPDX-License-Identifier: Apache-2.0

#include "transport/tls/tls_transport.h"

#include <arpa/inet.h>

#include <array>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/base/errno_status.h"
#include "transport/loop/event_loop.h"
#include "transport/tls/tls_connection.h"
#include "transport/tls/tls_context.h"

namespace farcall {
namespace {

const OpenSslClientContext& ContextOf(const ConnectOptions& options) {
  const auto* const context = dynamic_cast<const OpenSslClientContext*>(options.tls.get());
  Check(context != nullptr, "a TLS context for a client was made by LoadTls");
  return *context;
}

// Without port and scope; "" for what has no IP address.
std::string IpText(const Address& address) {
  const bool ipv4 = address.family() == AddressFamily::kIpv4;
  if (!ipv4 && address.family() != AddressFamily::kIpv6) return "";
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(ipv4 ? AF_INET : AF_INET6, address.ip().data(), text.data(), text.size());
  return text.data();
}

// One attempt to connect by TLS: the connection below, then the handshake, all within
// ConnectOptions::timeout. It owns itself until it has called `done`. With the loop held.
//
// Errors beside those below: kUnauthenticated for a certificate that is refused here,
// kDeadlineExceeded, kInvalidArgument for a peer that speaks no TLS or has no name, else
// kUnavailable.
class TlsConnector {
 public:
  // options.tls is not null. `inner` outlives the attempt.
  static void Start(EventLoop& loop, Transport& inner, const Address& peer,
                    const ConnectOptions& options, Transport::OnConnect done);

 private:
  TlsConnector(EventLoop& loop, const Address& peer, const ConnectOptions& options,
               Transport::OnConnect done);

  void OnConnected(absl::StatusOr<std::unique_ptr<Connection>> connection);
  void OnReady(const absl::Status& status);
  void Finish(absl::StatusOr<std::unique_ptr<Connection>> result);
  std::string Name() const;

  EventLoop& loop_;
  const Address peer_;
  const ConnectOptions options_;
  const OpenSslClientContext& context_;  // of options_.tls
  const TimePoint deadline_;
  Transport::OnConnect done_;
  std::unique_ptr<TlsConnection> connection_;
  std::shared_ptr<TlsConnector> self_;  // until Finish
};

void TlsConnector::Start(EventLoop& loop, Transport& inner, const Address& peer,
                         const ConnectOptions& options, Transport::OnConnect done) {
  const std::shared_ptr<TlsConnector> connector(
      new TlsConnector(loop, peer, options, std::move(done)));
  connector->self_ = connector;
  ConnectOptions below = options;
  below.tls = nullptr;
  below.connection = TlsConnection::InnerOptions(options.connection);
  inner.Connect(loop, peer, below,
                [connector](absl::StatusOr<std::unique_ptr<Connection>> connection) {
                  connector->OnConnected(std::move(connection));
                });
}

TlsConnector::TlsConnector(EventLoop& loop, const Address& peer, const ConnectOptions& options,
                           Transport::OnConnect done)
    : loop_(loop),
      peer_(peer),
      options_(options),
      context_(ContextOf(options_)),
      deadline_(loop.now() + options.timeout),
      done_(std::move(done)) {}

void TlsConnector::OnConnected(absl::StatusOr<std::unique_ptr<Connection>> connection) {
  if (!connection.ok()) return Finish(connection.status());
  auto engine =
      TlsEngine::Client(context_.context().Current(loop_.now()), Name(), (*connection)->pool());
  if (!engine.ok()) return Finish(engine.status());
  connection_ = TlsConnection::Connect({.loop = loop_,
                                        .inner = *std::move(connection),
                                        .engine = *std::move(engine),
                                        .options = options_.connection,
                                        .handshake_deadline = deadline_,
                                        .handshake_timeout = options_.timeout,
                                        .forbids_rdma = options_.tls_forbids_rdma},
                                       [this](const absl::Status& status) { OnReady(status); });
}

void TlsConnector::OnReady(const absl::Status& status) {
  if (!status.ok()) return Finish(status);
  Finish(std::move(connection_));
}

void TlsConnector::Finish(absl::StatusOr<std::unique_ptr<Connection>> result) {
  const std::shared_ptr<TlsConnector> self = std::move(self_);
  connection_.reset();
  if (!result.ok() && !absl::StartsWith(result.status().message(), "cannot connect to ")) {
    result = Annotate(result.status(), absl::StrCat("cannot connect to ", peer_.ToString()));
  }
  done_(std::move(result));
}

// Whom the certificate must name.
std::string TlsConnector::Name() const {
  if (!context_.options().server_name.empty()) return context_.options().server_name;
  if (!options_.tls_name.empty()) return options_.tls_name;
  return IpText(peer_);
}

}  // namespace

void TlsTransport::Connect(EventLoop& loop, const Address& peer, const ConnectOptions& options,
                           OnConnect done) {
  if (options.tls == nullptr) return inner_.Connect(loop, peer, options, std::move(done));
  TlsConnector::Start(loop, inner_, peer, options, std::move(done));
}

absl::StatusOr<std::unique_ptr<Listener>> TlsTransport::Listen(LoopGroup& loops,
                                                               const Address& address,
                                                               const ListenOptions& options,
                                                               OnAccept on_accept) {
  if (options.tls == nullptr) {
    return inner_.Listen(loops, address, options, std::move(on_accept));
  }
  auto context = std::dynamic_pointer_cast<OpenSslServerContext>(options.tls);
  Check(context != nullptr, "a TLS context for a server was made by LoadTls");
  ListenOptions below = options;
  below.tls = nullptr;
  below.connection = TlsConnection::InnerOptions(options.connection);
  return inner_.Listen(
      loops, address, below,
      [context = std::move(context), connection_options = options.connection,
       forbids_rdma = options.tls_forbids_rdma,
       on_accept = std::move(on_accept)](EventLoop& loop, std::unique_ptr<Connection> connection) {
        auto engine = TlsEngine::Server(context->context().Current(loop.now()), connection->pool());
        // Out of memory, like a connection that the kernel could not give.
        if (!engine.ok()) return;
        const Duration timeout = context->options().handshake_timeout;
        on_accept(loop, TlsConnection::Accept({.loop = loop,
                                               .inner = std::move(connection),
                                               .engine = *std::move(engine),
                                               .options = connection_options,
                                               .handshake_deadline = loop.now() + timeout,
                                               .handshake_timeout = timeout,
                                               .forbids_rdma = forbids_rdma}));
      });
}

}  // namespace farcall
