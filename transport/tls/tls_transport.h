// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TLS_TLS_TRANSPORT_H_
#define FARCALL_TRANSPORT_TLS_TLS_TRANSPORT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "transport/transport.h"

namespace farcall {

// A Transport over another one, with TLS 1.2 and 1.3 where the options have a TLS context (which
// LoadTls made), and else with nothing between.
class TlsTransport final : public Transport {
 public:
  // `inner` outlives it, its listeners and connections.
  explicit TlsTransport(Transport& inner) : inner_(inner) {}

  void Connect(EventLoop& loop, const Address& peer, const ConnectOptions& options,
               OnConnect done) override;
  // OnAccept gets connections before their handshake, so that they are counted and limited from
  // the beginning; what is written to them waits for its end.
  absl::StatusOr<std::unique_ptr<Listener>> Listen(LoopGroup& loops, const Address& address,
                                                   const ListenOptions& options,
                                                   OnAccept on_accept) override;

 private:
  Transport& inner_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TLS_TLS_TRANSPORT_H_
