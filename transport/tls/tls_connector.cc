// SPDX-License-Identifier: Apache-2.0

#include "transport/tls/tls_connector.h"

#include <arpa/inet.h>

#include <array>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/base/errno_status.h"

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

}  // namespace

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

}  // namespace farcall
