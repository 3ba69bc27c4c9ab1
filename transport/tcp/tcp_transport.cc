// SPDX-License-Identifier: Apache-2.0

#include "transport/tcp/tcp_transport.h"

#include "transport/tcp/tcp_connector.h"
#include "transport/tcp/tcp_listener.h"

namespace farcall {

void TcpTransport::Connect(EventLoop& loop, const Address& peer, const ConnectOptions& options,
                           OnConnect done) {
  TcpConnector::Start(loop, pool_, peer, options, std::move(done));
}

absl::StatusOr<std::unique_ptr<Listener>> TcpTransport::Listen(LoopGroup& loops,
                                                               const Address& address,
                                                               const ListenOptions& options,
                                                               OnAccept on_accept) {
  return TcpListener::Open(loops, address, options, pool_, log_, std::move(on_accept));
}

}  // namespace farcall
