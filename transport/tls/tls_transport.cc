// SPDX-License-Identifier: Apache-2.0

#include "transport/tls/tls_transport.h"

#include <utility>

#include "transport/base/check.h"
#include "transport/loop/event_loop.h"
#include "transport/tls/tls_connection.h"
#include "transport/tls/tls_connector.h"
#include "transport/tls/tls_context.h"

namespace farcall {

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
