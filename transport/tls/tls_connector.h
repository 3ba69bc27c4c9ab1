// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TLS_TLS_CONNECTOR_H_
#define FARCALL_TRANSPORT_TLS_TLS_CONNECTOR_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/loop/event_loop.h"
#include "transport/tls/tls_connection.h"
#include "transport/tls/tls_context.h"
#include "transport/transport.h"

namespace farcall {

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

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TLS_TLS_CONNECTOR_H_
